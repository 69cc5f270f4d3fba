/**
 * The patches that a writer proposes: a pure stream per writer, determined by its seed and by what the writer reads.
 *
 * The mix is that of a team at work: counters and journal entries that commute, and claims, a budget, compare-and-set
 * registers and a status machine that do not. Writers are careful (they read before they write), so whatever is refused or
 * broken comes from concurrency, not from careless writers.
 */
import type { BoardView, Operation, Patch } from './board.ts';
import {
  BUDGET_MAX,
  CAS_REGISTERS,
  COUNTERS,
  NOTE_REGISTERS,
  PAIR_REGISTERS,
  TAGS_MAX,
  TASKS,
  cellOf,
  nextStatus,
} from './board.ts';
import type { Random } from './random.ts';
import { createRandom } from './random.ts';

/** Most operations of one patch. */
export const OPERATIONS_MAX = 4;

export interface PatchStream {
  /** The next patch on the state that the writer reads now. */
  next(view: BoardView): Patch;
  /** Tells the stream how its newest patch ended, so that it knows which rows it holds. */
  settle(patch: Patch, isCommitted: boolean): void;
}

/** `writer` counts from 0. */
export function createPatchStream(options: { readonly seed: number; readonly writer: number }): PatchStream {
  const { seed, writer } = options;
  const random = createRandom(seed, writer);
  let held: Claim[] = [];
  let patchCount = 0;

  return {
    next(view) {
      patchCount += 1;
      const id = `w${writer}-${patchCount}`;
      held = held.filter((claim) => claim.missedCount < MISSED_MAX);
      const size = 1 + random.below(OPERATIONS_MAX);
      const byCell = new Map<string, Operation>();
      while (byCell.size < size) {
        const picked = pick({ id, random, view, held });
        if (byCell.size + picked.length > size || picked.some((operation) => byCell.has(cellOf(operation)))) continue;
        for (const operation of picked) byCell.set(cellOf(operation), operation);
      }
      const cells = [...byCell.keys()].toSorted();
      return { id, writer, operations: cells.flatMap((cell) => byCell.get(cell) ?? []) };
    },
    settle(patch, isCommitted) {
      if (!isCommitted) return;
      for (const operation of patch.operations) {
        if (operation.verb === 'claim') held.push({ key: operation.key, value: operation.value, missedCount: 0 });
        if (operation.verb === 'release') held = held.filter((claim) => claim.value !== operation.value);
      }
    },
  };
}

/** A row that the writer was told it holds; `missedCount` counts the tries in which its view said otherwise. */
type Claim = { readonly key: string; readonly value: string; missedCount: number };

type Situation = { readonly id: string; readonly random: Random; readonly view: BoardView; readonly held: readonly Claim[] };

/** Rows held at once by one writer. */
const HELD_MAX = 2;
/** After so many tries the writer believes its view that the claim is lost, and forgets it. */
const MISSED_MAX = 32;
const AMOUNT_MAX = 9;

/** Shares in percent, in the order of `pick`. */
const SHARES: readonly (readonly [number, (situation: Situation) => readonly Operation[]])[] = [
  [30, pickCounter],
  [10, pickBudget],
  [12, pickTag],
  [12, pickEntry],
  [6, pickNote],
  [3, pickPair],
  [3, pickCas],
  [10, pickClaim],
  [8, pickMove],
  [6, pickTitle],
];

function pick(situation: Situation): readonly Operation[] {
  let roll = situation.random.below(100);
  for (const [share, choose] of SHARES) {
    if (roll < share) return choose(situation);
    roll -= share;
  }
  return pickCounter(situation);
}

/** Always by one, so that the distance of a counter from its sum is the number of lost or doubled increments. */
function pickCounter({ random }: Situation): readonly Operation[] {
  return [{ field: oneOf(random, COUNTERS), verb: 'inc', value: 1 }];
}

function pickBudget({ random, view }: Situation): readonly Operation[] {
  const value = 1 + random.below(AMOUNT_MAX);
  const budget = view.budget();
  const isSpent = budget < value ? false : budget + value > BUDGET_MAX ? true : random.chance(0.5);
  return [{ field: 'budget', verb: isSpent ? 'spend' : 'inc', value }];
}

function pickTag({ id, random, view }: Situation): readonly Operation[] {
  const tags = view.tags();
  const isRemoval = tags.length >= TAGS_MAX || (tags.length > 0 && random.chance(0.45));
  return [isRemoval ? { field: 'tags', verb: 'remove', value: oneOf(random, tags) } : { field: 'tags', verb: 'add', value: id }];
}

function pickEntry({ id }: Situation): readonly Operation[] {
  return [{ field: 'journal', verb: 'append', value: `${id} finished a step and says what came out` }];
}

function pickNote({ id, random }: Situation): readonly Operation[] {
  return [{ field: oneOf(random, NOTE_REGISTERS), verb: 'set', value: id }];
}

function pickPair({ id }: Situation): readonly Operation[] {
  return PAIR_REGISTERS.map((field) => ({ field, verb: 'set', value: id }));
}

function pickCas({ id, random, view }: Situation): readonly Operation[] {
  const field = oneOf(random, CAS_REGISTERS);
  return [{ field, verb: 'set', value: id, expected: view.register(field) }];
}

/** Gives a held row back, or claims one that looks free. Nothing when all rows that it tried are taken. */
function pickClaim({ id, random, view, held }: Situation): readonly Operation[] {
  if (held.length >= HELD_MAX || (held.length > 0 && random.chance(0.5))) {
    const claim = oneOf(random, held);
    if (view.task(claim.key).owner === claim.value)
      return [{ field: 'tasks', key: claim.key, verb: 'release', value: claim.value }];
    claim.missedCount += 1;
    return [];
  }
  for (let tryCount = 0; tryCount < 8; tryCount += 1) {
    const key = oneOf(random, TASKS);
    if (view.task(key).owner === '') return [{ field: 'tasks', key, verb: 'claim', value: `${id}@${key}` }];
  }
  return [];
}

function pickMove({ random, view }: Situation): readonly Operation[] {
  const key = oneOf(random, TASKS);
  const { status } = view.task(key);
  const value = status === 'review' && random.chance(0.3) ? 'doing' : nextStatus(status);
  return [{ field: 'tasks', key, verb: 'move', value, expected: status }];
}

function pickTitle({ id, random }: Situation): readonly Operation[] {
  return [{ field: 'tasks', key: oneOf(random, TASKS), verb: 'set', value: `${id} a title that says what the row is about` }];
}

function oneOf<T>(random: Random, values: readonly T[]): T {
  const value = values[random.below(values.length)];
  if (value === undefined) throw new RangeError('nothing to pick from');
  return value;
}
