/**
 * T2, cut freedom, at the level of one field kind: a causal history of proposals is folded in two causally valid orders, each
 * cut into rounds in its own way, and the values at the end are compared.
 *
 * A kind of grade A must never differ. A kind of grade B does, and a history that shows it is stored for each
 * (corpus.ts). The fold is that of the seal without anything else around it: the proposals of a round in admit order, one
 * that is refused without effect, then settled once. Views are anything causally closed, not only sealed revisions, so that
 * drafts with vectors of their own are among them.
 */
import fc from 'fast-check';
import type { Mark } from '../dot.ts';
import type { Attempt, Field } from '../field-kind.ts';
import type { Json } from '../json.ts';
import { canonical } from '../json.ts';
import type { Stamp } from '../stamp.ts';
import { compareAdmit, stampOf } from '../stamp.ts';
import { choiceOf } from './choice.ts';
import type { Choice } from './choice.ts';
import { AGENTS } from './histories.ts';
import { intentFrom } from './samples/registry.ts';
import { QUIET_SETTLING } from './settling.ts';
import type { FieldSpec } from './spec.ts';

/** One proposal to be made: whose, which earlier ones it has read (bits, by place), and what (see `choiceOf`). */
export type CausalStep = readonly [agent: number, reads: number, what: number];

/**
 * How a run orders and cuts: for each place which of the proposals that may come next, and whether a round ends before it.
 * `isForgetful`: kinds are told a horizon, the latest that all views to come allow; else none.
 */
export type Cutting = { readonly places: readonly (readonly [pick: number, isCut: boolean])[]; readonly isForgetful: boolean };

export type CausalHistory = { readonly steps: readonly CausalStep[]; readonly cuttings: readonly [Cutting, Cutting] };

/** A proposal of one field. `past` names by place all that it had seen: closed, its agent's own earlier ones included. */
export type CausalProposal = {
  readonly agent: string;
  readonly role: string;
  readonly n: number;
  readonly past: readonly number[];
  readonly intent: Json;
};

/** The rounds of one run, by place of the proposals. */
export type CutRun = { readonly rounds: readonly (readonly number[])[]; readonly isForgetful: boolean };

/** A history as plain data, with nothing left to draw: it means the same when samples change. */
export type CutCase = {
  readonly spec: FieldSpec;
  readonly proposals: readonly CausalProposal[];
  readonly runs: readonly [CutRun, CutRun];
};

/** What a proposal asks for, by its place. */
export type IntentAt = (choice: Choice, place: number) => Json;

/** Histories of 1 to 7 proposals of four agents. */
export function causalHistories(): fc.Arbitrary<CausalHistory> {
  const reads = fc.oneof(fc.nat(127), fc.constant(0), fc.constant(127));
  const steps = fc.array(fc.tuple(fc.nat(AGENTS.length - 1), reads, fc.nat(0x7fffffff)), { minLength: 1, maxLength: 7 });
  const places = fc.array(fc.tuple(fc.nat(6), fc.boolean()), { maxLength: 7 });
  const cutting = fc.record({ places, isForgetful: fc.boolean() }, { noNullPrototype: true });
  return fc.record({ steps, cuttings: fc.tuple(cutting, cutting) }, { noNullPrototype: true });
}

/** The history for a field. `intentAt` replaces what the field's sample would ask for. */
export function cutCase(
  spec: FieldSpec,
  history: CausalHistory,
  intentAt: IntentAt = (choice) => intentFrom(spec, choice),
): CutCase {
  const proposals: CausalProposal[] = [];
  for (const [place, [who, reads, what]] of history.steps.entries()) {
    const agent = AGENTS[who] as string;
    const choice = choiceOf(what);
    const past = new Set<number>();
    for (const [i, earlier] of proposals.entries())
      if (earlier.agent === agent || (reads >> i) % 2 === 1) for (const seen of [...earlier.past, i]) past.add(seen);
    const n = 1 + proposals.filter((earlier) => earlier.agent === agent).length;
    const intent = intentAt(choice, place);
    // An agent may come back in another role.
    const isUsual = choice.upTo(8) < 7;
    const role = (agent === 'ada') === isUsual ? 'lead' : 'worker';
    proposals.push({ agent, role, n, past: [...past].toSorted((a, b) => a - b), intent });
  }
  const [one, other] = history.cuttings;
  return { spec, proposals, runs: [runOf(proposals, one), runOf(proposals, other)] };
}

/** How the two runs of a history end differently, in words; `undefined` when they do not. */
export function cutDependence(field: Field, { proposals, runs }: CutCase): string | undefined {
  const [one, other] = runs.map((run) => canonical(foldRun(field, proposals, run)));
  return one === other ? undefined : `one order and cut gives ${one}, another ${other}`;
}

/** A smallest history on which the value depends on the cut, if `count` tries from this seed find one. */
export function cutDependentCase(
  field: Field,
  spec: FieldSpec,
  { seed, count }: { seed: number; count: number },
): CutCase | undefined {
  const found = fc.check(
    fc.property(causalHistories(), (history) => cutDependence(field, cutCase(spec, history)) === undefined),
    { seed, numRuns: count },
  );
  return found.counterexample === null ? undefined : cutCase(spec, found.counterexample[0]);
}

/** A round ends before a proposal that has read another agent's: only what is sealed can be read. */
function runOf(proposals: readonly CausalProposal[], { places, isForgetful }: Cutting): CutRun {
  const rounds: number[][] = [[]];
  const done = new Set<number>();
  for (let i = 0; i < proposals.length; i += 1) {
    const [pick, isCut] = places[i] ?? [0, false];
    const ready = [...proposals.keys()].filter((place) => !done.has(place) && pastOf(proposals, place).every((p) => done.has(p)));
    const next = ready[pick % ready.length] as number;
    const open = rounds.at(-1) as number[];
    const hasRead = pastOf(proposals, next).some((p) => open.includes(p) && proposals[p]?.agent !== proposals[next]?.agent);
    if (open.length > 0 && (isCut || hasRead)) rounds.push([next]);
    else open.push(next);
    done.add(next);
  }
  return { rounds, isForgetful };
}

function pastOf(proposals: readonly CausalProposal[], place: number): readonly number[] {
  return (proposals[place] as CausalProposal).past;
}

function foldRun(field: Field, proposals: readonly CausalProposal[], run: CutRun): Json {
  const stamps = stampsOf(proposals);
  const bases = proposals.map(({ past }) => baseOf(past, run.rounds));
  let cell = field.empty(undefined);
  for (const [i, round] of run.rounds.entries()) {
    const toCome = run.rounds.slice(i).flat();
    const horizon = run.isForgetful ? Math.min(...toCome.map((place) => bases[place] as number)) : 0;
    const before = cell;
    const inOrder = round.toSorted((a, b) => compareAdmit(stamps[a] as Stamp, stamps[b] as Stamp));
    for (const [turn, place] of inOrder.entries()) {
      const given = {
        proposals,
        place,
        turn,
        stamp: stamps[place] as Stamp,
        revision: i + 1,
        base: bases[place] as number,
        horizon,
      };
      const attempt = new CutAttempt(given);
      const op = field.read((proposals[place] as CausalProposal).intent, '/f', () => attempt.refuse());
      const after = op === undefined ? cell : field.fold(cell, op, '/f', attempt);
      if (!attempt.isRefused) cell = after;
    }
    if (cell !== before) cell = field.settle?.(cell, '/f', QUIET_SETTLING) ?? cell;
  }
  return field.json(cell);
}

/** Depth is one more than the greatest in the past, as if each proposal had read just what it has seen. */
function stampsOf(proposals: readonly CausalProposal[]): readonly Stamp[] {
  const stamps: Stamp[] = [];
  for (const { agent, role, n, past } of proposals) {
    const revision = Math.max(0, ...past.map((place) => (stamps[place] as Stamp).depth));
    stamps.push(stampOf({ revision, priority: role === 'lead' ? 1 : 0, agent, n }));
  }
  return stamps;
}

/** The latest revision of a run of which the past holds everything. */
function baseOf(past: readonly number[], rounds: readonly (readonly number[])[]): number {
  const unread = rounds.findIndex((round) => !round.every((place) => past.includes(place)));
  return unread < 0 ? rounds.length : unread;
}

type Given = {
  readonly proposals: readonly CausalProposal[];
  readonly place: number;
  readonly turn: number;
  readonly stamp: Stamp;
  readonly revision: number;
  readonly base: number;
  readonly horizon: number;
};

/** One proposal at work, seeing what its past says. */
class CutAttempt implements Attempt {
  isRefused = false;
  readonly agent: string;
  readonly role: string;
  readonly mark: Mark;
  readonly stamp: Stamp;
  readonly turn: number;
  readonly base: number;
  readonly horizon: number;
  readonly past: ReadonlySet<string>;

  constructor({ proposals, place, turn, stamp, revision, base, horizon }: Given) {
    const { agent, role, n, past } = proposals[place] as CausalProposal;
    this.agent = agent;
    this.role = role;
    this.mark = { agent, n, revision };
    this.stamp = stamp;
    this.turn = turn;
    this.base = base;
    this.horizon = horizon;
    this.past = new Set(past.map((seen) => `${proposals[seen]?.agent ?? ''} ${proposals[seen]?.n ?? 0}`));
  }

  sees(mark: Mark | undefined): boolean {
    return mark === undefined || this.past.has(`${mark.agent} ${mark.n}`);
  }

  sawAll(mark: Mark | undefined): boolean {
    if (mark === undefined || mark.revision <= this.base) return true;
    return mark.agent === this.agent && mark.n < this.mark.n && (mark.foreign?.revision ?? 0) <= this.base;
  }

  mayWrite(_path: string, meta: { readonly writers?: readonly string[] } | undefined): boolean {
    if (meta?.writers?.includes(this.role) !== false) return true;
    this.refuse();
    return false;
  }

  touch(): void {}

  refuse(): void {
    this.isRefused = true;
  }

  note(): void {}
}
