/**
 * The laws of reducers, each looked at in about 2,000 cases, the smallest first.
 *
 * Purity: a call writes nothing into what it is given, and the same values give the same state, then and later. Closure: what
 * comes out is a state again. Commutation: two updates give the same state in either order. Idempotence: an update twice is as good
 * as once. Batching: several updates at once give what they give one by one. Reload: a state that was stored and read back goes on
 * as the live one. SPEC: LAW1-LAW7.
 */
import { clipped } from '../json.ts';
import { called, calledAtOnce, calledInTurn, CHECKS, groundOf, PAIRED, writtenBy } from './reducer-trial.ts';
import type { Called, Ground, ReducerTrial } from './reducer-trial.ts';

export type LawName = 'purity' | 'closure' | 'commutation' | 'idempotence' | 'batching' | 'reload';

/** A case in which a law fails: from `state`, with `updates` in this order. `lines` say what stands on both sides, each in about 200 characters. */
export type Counterexample = {
  readonly state: unknown;
  readonly updates: readonly unknown[];
  readonly lines: readonly [string, string];
};

/** `checks` counts the cases in which there was something to compare. A law without cases is not shown to hold. */
export type LawResult = {
  readonly law: LawName;
  readonly holds: boolean;
  readonly checks: number;
  readonly counterexample?: Counterexample;
};

/** Looks at every law that the trial has the means for. About 20,000 calls of the reducer. */
export function lawsOf(trial: ReducerTrial): readonly LawResult[] {
  // Before all other calls: what they leave behind in a reducer that remembers shows against these.
  const opening = trial.starts.flatMap((state) => trial.updates.map((update) => firstRun(trial, state, update)));
  const ground = groundOf(trial);
  return [
    purity(trial, ground, opening),
    ...(trial.fault === undefined ? [] : [closure(trial, ground)]),
    commutation(trial, ground),
    idempotence(trial, ground),
    ...(trial.batch === undefined ? [] : [batching(trial, ground)]),
    ...(trial.reload === undefined ? [] : [reload(trial, ground)]),
  ];
}

const LINE_CHARS_MAX = 200;

type Case = { readonly state: unknown; readonly updates: readonly unknown[] };
/** A case of one update, and what came of it the first time. */
type FirstRun = Case & { readonly answer: Called };
type Lines = readonly [string, string];

/** `undefined` where there was nothing to compare, `true` where the law holds. */
type Look<C> = (state: unknown, updates: readonly unknown[], one: C) => Lines | true | undefined;

function judged<C extends Case>(law: LawName, cases: Iterable<C>, look: Look<C>): LawResult {
  let checks = 0;
  for (const one of cases) {
    const { state, updates } = one;
    const found = look(state, updates, one);
    if (found === undefined) continue;
    checks += 1;
    if (found === true) continue;
    const [above, below] = found;
    const lines: Lines = [clipped(above, LINE_CHARS_MAX), clipped(below, LINE_CHARS_MAX)];
    return { law, holds: false, checks, counterexample: { state, updates, lines } };
  }
  return { law, holds: true, checks };
}

function purity(trial: ReducerTrial, ground: Ground, opening: readonly FirstRun[]): LawResult {
  const firstRuns = [...opening];
  const atOnce = judged('purity', singles(trial, ground), (state, [update]) => {
    const wrote = writtenBy(trial, state, update);
    if (wrote !== undefined) return wrote;
    const first = firstRun(trial, state, update);
    firstRuns.push(first);
    return compared(first.answer, called(trial, state, update), 'first run', 'second run');
  });
  if (!atOnce.holds) return atOnce;
  const later = judged('purity', firstRuns, (state, [update], { answer }) =>
    compared(answer, called(trial, state, update), 'first run', 'later'),
  );
  return later.holds ? atOnce : later;
}

function firstRun(trial: ReducerTrial, state: unknown, update: unknown): FirstRun {
  return { state, updates: [update], answer: called(trial, state, update) };
}

function closure(trial: ReducerTrial, ground: Ground): LawResult {
  return judged('closure', singles(trial, ground), (state, [update]) => {
    const { text, fault } = called(trial, state, update);
    return fault === undefined ? true : [`it gives: ${text}`, `what is wrong: ${fault}`];
  });
}

function commutation(trial: ReducerTrial, ground: Ground): LawResult {
  return judged('commutation', pairs(trial, ground), (state, [one, two]) =>
    compared(
      calledInTurn(trial, state, [one, two]),
      calledInTurn(trial, state, [two, one]),
      `${named(trial, one)} then ${named(trial, two)}`,
      `${named(trial, two)} then ${named(trial, one)}`,
    ),
  );
}

function idempotence(trial: ReducerTrial, ground: Ground): LawResult {
  return judged('idempotence', singles(trial, ground), (state, [update]) =>
    compared(called(trial, state, update), calledInTurn(trial, state, [update, update]), 'once', 'twice'),
  );
}

function batching(trial: ReducerTrial, ground: Ground): LawResult {
  return judged('batching', batches(trial, ground), (state, updates) =>
    compared(calledInTurn(trial, state, updates), calledAtOnce(trial, state, updates), 'one by one', 'at once'),
  );
}

/** Nothing after the reload, then one update: what a reader sees, and what the next write makes of it. */
function reload(trial: ReducerTrial, ground: Ground): LawResult {
  const { values } = trial;
  const reloaded = (state: unknown): unknown => trial.reload?.(values.copy(state, false));
  return judged('reload', reloads(trial, ground), (state, updates) => {
    const [update] = updates;
    if (updates.length > 0)
      return compared(called(trial, state, update), called(trial, reloaded(state), update), 'live', 'after reload');
    const [live, read] = [values.text(state), values.text(reloaded(state))];
    return live === read ? true : [`live: ${live}`, `after reload: ${read}`];
  });
}

function compared(one: Called, two: Called, nameOne: string, nameTwo: string): Lines | true | undefined {
  if (one.fault !== undefined && two.fault !== undefined) return undefined;
  if (one.fault === two.fault && one.text === two.text) return true;
  return [`${nameOne}: ${one.fault ?? one.text}`, `${nameTwo}: ${two.fault ?? two.text}`];
}

function named(trial: ReducerTrial, update: unknown): string {
  return clipped(trial.values.text(update), 40);
}

/** Near the start every state with every update, then the walk. */
function* singles(trial: ReducerTrial, { states, walk }: Ground): Generator<Case> {
  yield* upTo(CHECKS, states, () => trial.updates.map((update) => [update]));
  for (const { state, next } of walk) yield { state, updates: [next] };
}

/** Two different updates, in one order. */
function* pairs(trial: ReducerTrial, { states, walk }: Ground): Generator<Case> {
  const [first] = trial.updates;
  const simple = trial.updates.slice(0, PAIRED);
  const couples = simple.flatMap((two, i) => simple.slice(0, i).map((one) => [one, two]));
  yield* upTo(CHECKS, states, () => couples);
  for (const { state, next, afterNext } of walk) {
    yield { state, updates: [next, afterNext] };
    yield { state, updates: [first, next] };
  }
}

/** Two and three updates in every order, repeated ones too. */
function* batches(trial: ReducerTrial, { states, walk }: Ground): Generator<Case> {
  const simple = trial.updates.slice(0, BATCHED);
  const couples = simple.flatMap((one) => simple.map((two) => [one, two]));
  const triples = couples.slice(0, BATCHED * BATCHED).map(([one, two], i) => [one, two, simple[i % simple.length]]);
  yield* upTo(CHECKS, states, () => [...couples, ...triples]);
  for (const { state, next, afterNext } of walk) yield { state, updates: [next, afterNext, next] };
}

function* reloads(trial: ReducerTrial, ground: Ground): Generator<Case> {
  for (const { state } of ground.states) yield { state, updates: [] };
  yield* singles(trial, ground);
}

function* upTo(count: number, states: Ground['states'], updatesOf: () => readonly (readonly unknown[])[]): Generator<Case> {
  const lists = updatesOf();
  let left = count;
  for (const { state } of states) {
    for (const updates of lists) {
      if (left === 0) return;
      left -= 1;
      yield { state, updates };
    }
  }
}

/** How many updates are tried in batches: 25 pairs and as many triples, from 40 states. */
const BATCHED = 5;
