/**
 * The ledger of a run: takes every answer that a writer got, and says at the end which of them the final board broke.
 *
 * It needs no order from the engine. Each check is sound for any order of commits that agrees with real time (a patch that
 * was answered before another was sent comes first), so an engine that keeps its promises has no anomaly whatever its
 * speed. It keeps sums and open ends rather than patches: its memory does not grow with the number of counter increments.
 */
import type { Board, BoardView, Operation, Patch } from './board.ts';
import {
  BUDGET_MAX,
  CAS_REGISTERS,
  COUNTERS,
  JOURNAL_MAX,
  NOTE_REGISTERS,
  PAIR_REGISTERS,
  STATUSES,
  TAGS_MAX,
  TASKS,
  taskOf,
} from './board.ts';

/** How often each promise was broken. All zero for an engine that keeps what it acknowledged. */
export type Anomalies = {
  /** Increments missing from, or doubled in, a counter. */
  readonly lostIncrements: number;
  /** Two acknowledged compare-and-sets on one value, or the newest one missing. */
  readonly lostUpdates: number;
  /** A claim acknowledged while another one surely held the row, or a holder that is not on the board. */
  readonly doubleClaims: number;
  /** The budget seen or left outside its bounds, or not the sum of its changes. */
  readonly budgetBroken: number;
  /** Tags or journal seen or left above their caps. */
  readonly capsBroken: number;
  /** Journal entries that should be among the newest and are not, or that nobody was told are committed. */
  readonly journalBroken: number;
  /** Tags lost or come back. */
  readonly tagsBroken: number;
  /** Statuses that the acknowledged moves do not lead to. */
  readonly movesBroken: number;
  /** Registers or titles that no writer's last acknowledged value explains. */
  readonly registersBroken: number;
  /** Half a patch seen, or a refused patch of which something stands. */
  readonly tornPatches: number;
  /** Writers whose view did not arrive at the final board. */
  readonly staleViews: number;
};

export interface Ledger {
  /** The times are milliseconds of one clock: when the patch was handed over, and when its answer came. Call in order of answers. */
  acknowledge(patch: Patch, times: { readonly sentMs: number; readonly answeredMs: number }): void;
  refuse(patch: Patch): void;
  /** Looks at what a writer reads. Call before each patch; bounds are judged on the first writer's reading, halves on everybody's. */
  observe(writer: number, view: BoardView): void;
  audit(final: Board, staleViewCount: number): Anomalies;
}

/** `initial` is the board of the run's beginning. */
export function createLedger(initial: Board): Ledger {
  const sums = new Map<string, number>();
  const tags = createLiveSet(initial.tags);
  const registers = new Map(CAS_REGISTERS.map((name) => [name, createLiveSet([initial.registers[name] ?? ''])]));
  const newest = new Map<string, Map<number, string>>();
  const entries: Append[] = [];
  const claims = new Map<string, Hold[]>();
  const moves = new Map<string, Map<string, number>>();
  const refused = new Set<string>();
  const sightings = { budget: 0, caps: 0, torn: 0 };
  let wasBudgetOut = false;
  let wasCapOut = false;
  let appendCount = 0;

  const take = (operation: Operation, patch: Patch, sentMs: number, answeredMs: number): void => {
    switch (operation.verb) {
      case 'inc':
      case 'spend':
        addTo(sums, operation.field, operation.verb === 'inc' ? operation.value : -operation.value);
        break;
      case 'add':
        tags.enter(operation.value);
        break;
      case 'remove':
        tags.leave(operation.value);
        break;
      case 'append':
        appendCount += 1;
        entries.push({ value: operation.value, sentMs, answeredMs });
        if (entries.length > 2 * APPENDS_KEPT) entries.splice(0, APPENDS_KEPT);
        break;
      case 'set':
        if (operation.expected === undefined) {
          const cell = operation.key ?? operation.field;
          newest.set(cell, (newest.get(cell) ?? new Map<number, string>()).set(patch.writer, operation.value));
        } else {
          registers.get(operation.field)?.leave(operation.expected);
          registers.get(operation.field)?.enter(operation.value);
        }
        break;
      case 'claim':
        listOf(claims, operation.key).push({ value: operation.value, fromMs: answeredMs, untilMs: Infinity });
        break;
      case 'release': {
        const hold = listOf(claims, operation.key).findLast((candidate) => candidate.value === operation.value);
        if (hold !== undefined) hold.untilMs = sentMs;
        break;
      }
      case 'move': {
        const balance = moves.get(operation.key) ?? new Map<string, number>();
        addTo(balance, operation.expected, -1);
        addTo(balance, operation.value, 1);
        moves.set(operation.key, balance);
        break;
      }
    }
  };

  return {
    acknowledge(patch, { sentMs, answeredMs }) {
      for (const operation of patch.operations) take(operation, patch, sentMs, answeredMs);
    },
    refuse(patch) {
      refused.add(patch.id);
    },
    observe(writer, view) {
      if (view.register(PAIR_REGISTERS[0]) !== view.register(PAIR_REGISTERS[1])) sightings.torn += 1;
      if (writer !== 0) return;
      const isBudgetOut = view.budget() < 0 || view.budget() > BUDGET_MAX;
      const isCapOut = view.tags().length > TAGS_MAX || view.journalLength() > JOURNAL_MAX;
      if (isBudgetOut && !wasBudgetOut) sightings.budget += 1;
      if (isCapOut && !wasCapOut) sightings.caps += 1;
      wasBudgetOut = isBudgetOut;
      wasCapOut = isCapOut;
    },
    audit(final, staleViewCount) {
      const isBudgetOut = final.budget < 0 || final.budget > BUDGET_MAX;
      const capsLeft = Number(final.tags.length > TAGS_MAX) + Number(final.journal.length > JOURNAL_MAX);
      return {
        lostIncrements: total(COUNTERS, (name) =>
          Math.abs((final.counters[name] ?? 0) - (initial.counters[name] ?? 0) - (sums.get(name) ?? 0)),
        ),
        lostUpdates: total(CAS_REGISTERS, (name) => registers.get(name)?.strays([final.registers[name] ?? '']) ?? 0),
        doubleClaims: total(TASKS, (key) => wrongHolds(claims.get(key) ?? [], taskOf(final, key).owner)),
        budgetBroken:
          sightings.budget + Number(isBudgetOut) + Number(final.budget !== initial.budget + (sums.get('budget') ?? 0)),
        capsBroken: sightings.caps + capsLeft,
        journalBroken: wrongEntries(entries, appendCount, initial, final),
        tagsBroken: tags.strays(final.tags),
        movesBroken: total(TASKS, (key) => wrongMoves(moves.get(key), taskOf(initial, key).status, taskOf(final, key).status)),
        registersBroken:
          total([...NOTE_REGISTERS, ...PAIR_REGISTERS], (name) =>
            wrongValue(newest.get(name), initial.registers[name], final.registers[name]),
          ) + total(TASKS, (key) => wrongValue(newest.get(key), taskOf(initial, key).title, taskOf(final, key).title)),
        tornPatches: sightings.torn + total(valuesOf(final), (value) => Number(refused.has(patchIdOf(value)))),
        staleViews: staleViewCount,
      };
    },
  };
}

/** Sum over all kinds of anomaly. */
export function anomalyCount(anomalies: Anomalies): number {
  return Object.values(anomalies).reduce((sum, count) => sum + count, 0);
}

type Append = { readonly value: string; readonly sentMs: number; readonly answeredMs: number };
type Hold = { readonly value: string; readonly fromMs: number; untilMs: number };

/** Enough to hold every append that can still be on the board or in flight: more than cap plus writers. */
const APPENDS_KEPT = 512;

/** A set whose members enter and leave once, in answers that may come in either order. */
type LiveSet = {
  readonly enter: (member: string) => void;
  readonly leave: (member: string) => void;
  /** Members that are in only one of the set and `found`. */
  readonly strays: (found: readonly string[]) => number;
};

function createLiveSet(members: readonly string[]): LiveSet {
  const live = new Set(members);
  const early = new Set<string>();
  return {
    enter: (member) => {
      if (!early.delete(member)) live.add(member);
    },
    leave: (member) => {
      if (!live.delete(member)) early.add(member);
    },
    strays: (found) => {
      const distinct = new Set(found);
      const sharedCount = [...distinct].filter((member) => live.has(member)).length;
      return live.size - sharedCount + found.length - sharedCount;
    },
  };
}

/**
 * An acknowledged entry must stand unless enough others may have come after it, that is, were answered after it was sent.
 * Whatever else stands must be acknowledged or initial, once, and the journal must be exactly as long as it can be.
 */
function wrongEntries(entries: readonly Append[], appendCount: number, initial: Board, final: Board): number {
  const standing = new Set(final.journal);
  const known = new Set([...initial.journal, ...entries.map((entry) => entry.value)]);
  const lengthRight = Math.min(JOURNAL_MAX, initial.journal.length + appendCount);
  const missing = entries.filter((entry) => {
    if (standing.has(entry.value)) return false;
    const laterCount = entries.filter((other) => other !== entry && other.answeredMs > entry.sentMs).length;
    return laterCount < JOURNAL_MAX;
  });
  const unknown = final.journal.filter((value) => !known.has(value));
  const doubled = final.journal.length - standing.size;
  return missing.length + unknown.length + doubled + Math.max(0, lengthRight - final.journal.length - missing.length);
}

/** A claim surely holds from its answer until its release is sent; two that overlap are a double claim. */
function wrongHolds(holds: readonly Hold[], owner: string): number {
  let wrongCount = 0;
  let heldUntilMs = -Infinity;
  for (const hold of holds.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (hold.fromMs < heldUntilMs) wrongCount += 1;
    heldUntilMs = Math.max(heldUntilMs, hold.untilMs);
  }
  const open = holds.filter((hold) => hold.untilMs === Infinity).map((hold) => hold.value);
  const isOwnerRight = open.length === 0 ? owner === '' : open.includes(owner);
  return wrongCount + Number(!isOwnerRight);
}

/** Every move leaves one status and enters another: the balance must lead from the first status to the last. */
function wrongMoves(balance: ReadonlyMap<string, number> | undefined, first: string, last: string): number {
  const distance = total(STATUSES, (status) =>
    Math.abs((balance?.get(status) ?? 0) + Number(status === first) - Number(status === last)),
  );
  return Math.ceil(distance / 2);
}

function wrongValue(
  byWriter: ReadonlyMap<number, string> | undefined,
  first: string | undefined,
  last: string | undefined,
): number {
  if (byWriter === undefined) return Number(last !== first);
  return Number(last === undefined || ![...byWriter.values()].includes(last));
}

function valuesOf(board: Board): string[] {
  const tasks = Object.values(board.tasks).flatMap((task) => [task.title, task.owner]);
  return [...board.tags, ...board.journal, ...Object.values(board.registers), ...tasks];
}

/** The strings that a patch writes are its id, or begin with it. */
function patchIdOf(value: string): string {
  return value.split(/[ @]/, 1)[0] ?? '';
}

function listOf<T>(lists: Map<string, T[]>, name: string): T[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

function addTo(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}

function total<T>(items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((sum, item) => sum + measure(item), 0);
}
