/**
 * A reducer on trial: what it gives for which values, from which states, and what it does to what it is given.
 *
 * Nothing is drawn by chance. Values are tried simplest first, states are reached breadth-first from the start, and one long walk
 * shows what happens when a state is full: the first case in which a law fails is the smallest of those looked at. Calls get
 * copies, so a reducer that writes into its arguments spoils no other case. What a value is, `values` says.
 *
 * Source: Runciman et al. 2008, "SmallCheck and Lazy SmallCheck".
 */

/** A reducer and what it is tried on. */
export type ReducerTrial = {
  readonly reduce: (state: unknown, update: unknown) => unknown;
  /** The form that takes several updates at once, where there is one. */
  readonly batch?: (state: unknown, updates: readonly unknown[]) => unknown;
  /** First states, at least one. */
  readonly starts: readonly unknown[];
  /** Simplest first. */
  readonly updates: readonly unknown[];
  readonly values: Values;
  /** What is wrong with a state, where states have a type. */
  readonly fault?: (state: unknown) => string | undefined;
  /** A state after it was stored and read back, where that may change it. */
  readonly reload?: (state: unknown) => unknown;
};

/** How values are compared and copied. Neither throws. */
export type Values = {
  /** Equal values have equal texts. */
  text(value: unknown): string;
  /** A value that nobody else holds; frozen as deep as that goes, or loose. A frozen one may be shared where nothing can write into it. */
  copy(value: unknown, isFrozen: boolean): unknown;
};

/** What one call came to. Where `fault` says what is wrong, there is no new state. */
export type Called = { readonly state: unknown; readonly text: string; readonly fault: string | undefined };

/** A state that was reached, frozen, and the updates that come next where it lies on the walk. */
export type Reached = { readonly state: unknown; readonly text: string };
export type Step = Reached & { readonly next: unknown; readonly afterNext: unknown };

/** Where a trial leads: `states` near the start, breadth-first; `walk` far from it. */
export type Ground = { readonly states: readonly Reached[]; readonly walk: readonly Step[] };

/** About how many cases are looked at for each law. */
export const CHECKS = 2_000;

/** How many different updates are of use: from 45 states they make 2,025 cases. */
export const UPDATES_MAX = 45;

/** How many of them are tried in pairs: 45 pairs. */
export const PAIRED = 10;

/** One call. One that fails on frozen values is made again on loose ones: to write into them is a fault of its own (`writtenBy`). */
export function called(trial: ReducerTrial, state: unknown, update: unknown): Called {
  return calledTwice(trial, (isFrozen) => trial.reduce(trial.values.copy(state, isFrozen), trial.values.copy(update, isFrozen)));
}

/** One call of the form that takes several updates. */
export function calledAtOnce(trial: ReducerTrial, state: unknown, updates: readonly unknown[]): Called {
  const { batch, values } = trial;
  return calledTwice(trial, (isFrozen) =>
    batch?.(values.copy(state, isFrozen), values.copy(updates, isFrozen) as readonly unknown[]),
  );
}

/** Several updates one by one. Ends where there is no state. */
export function calledInTurn(trial: ReducerTrial, state: unknown, updates: readonly unknown[]): Called {
  const [first, ...rest] = updates;
  let answer = called(trial, state, first);
  for (const update of rest) {
    if (answer.fault !== undefined) return answer;
    answer = called(trial, answer.state, update);
  }
  return answer;
}

/** What one call writes into its arguments, as two lines: before and after. */
export function writtenBy(trial: ReducerTrial, state: unknown, update: unknown): readonly [string, string] | undefined {
  const { values } = trial;
  const frozen = written(trial, values.copy(state, true), values.copy(update, true));
  if (frozen.lines !== undefined || frozen.answer.fault !== THROWS) return frozen.lines;
  // Writing into a frozen value throws: a loose one shows whether that was it.
  const loose = written(trial, values.copy(state, false), values.copy(update, false));
  if (loose.lines !== undefined || loose.answer.fault === THROWS) return loose.lines;
  return [`given a frozen state: ${THROWS}`, `given a loose one: ${loose.answer.text}`];
}

/** The states that the trial looks at. */
export function groundOf(trial: ReducerTrial): Ground {
  return { states: statesNear(trial), walk: walkFrom(trial) };
}

const THROWS = 'it throws';
const PROMISES = 'it gives a promise';

/** How many updates lead on from each state: the states two steps away are all reached. */
const BRANCHES = 6;
const STATES_MAX = 400;

/** Longer than the cap of 64 that most lists have, so that what happens at a cap is seen. */
const WALK_STEPS = 72;

function calledTwice(trial: ReducerTrial, run: (isFrozen: boolean) => unknown): Called {
  const answer = calledWith(trial, () => run(true));
  return answer.fault === THROWS ? calledWith(trial, () => run(false)) : answer;
}

/** The words of what is thrown differ between platforms, so they are not kept. */
function calledWith({ values, fault }: ReducerTrial, run: () => unknown): Called {
  try {
    const state = run();
    const text = values.text(state);
    if (!(state instanceof Promise)) return { state, text, fault: fault?.(state) };
    state.catch(() => undefined);
    return { state: undefined, text, fault: PROMISES };
  } catch {
    return { state: undefined, text: 'nothing', fault: THROWS };
  }
}

function written(
  trial: ReducerTrial,
  state: unknown,
  update: unknown,
): { readonly answer: Called; readonly lines: readonly [string, string] | undefined } {
  const { values } = trial;
  const before = [values.text(state), values.text(update)];
  const answer = calledWith(trial, () => trial.reduce(state, update));
  const after = [values.text(state), values.text(update)];
  const at = before.findIndex((text, i) => text !== after[i]);
  const what = at === 0 ? 'state' : 'update';
  return { answer, lines: at < 0 ? undefined : [`${what} before: ${before[at]}`, `${what} after: ${after[at]}`] };
}

function statesNear(trial: ReducerTrial): readonly Reached[] {
  const { values, updates } = trial;
  const paired = Math.min(PAIRED, updates.length);
  const statesMax = Math.min(STATES_MAX, Math.ceil(CHECKS / Math.max(1, (paired * (paired - 1)) / 2)));
  const reached = new Map<string, Reached>();
  const add = (state: unknown, text: string): void => {
    if (!reached.has(text)) reached.set(text, { state: values.copy(state, true), text });
  };
  for (const state of trial.starts) add(state, values.text(state));
  // A map is walked in the order of its making and on through what is added meanwhile: breadth-first.
  for (const { state } of reached.values()) {
    for (const update of updates.slice(0, BRANCHES)) {
      if (reached.size >= statesMax) return [...reached.values()];
      const answer = called(trial, state, update);
      if (answer.fault === undefined) add(answer.state, answer.text);
    }
  }
  return [...reached.values()];
}

/** From the first start through all updates, again and again. Ends where there is no state. */
function walkFrom(trial: ReducerTrial): readonly Step[] {
  const { starts, updates, values } = trial;
  const steps: Step[] = [];
  let state = values.copy(starts[0], true);
  let text = values.text(state);
  for (let i = 0; i < WALK_STEPS && updates.length > 0; i += 1) {
    const next = updates[i % updates.length];
    steps.push({ state, text, next, afterNext: updates[(i + 1) % updates.length] });
    const answer = called(trial, state, next);
    if (answer.fault !== undefined) break;
    state = values.copy(answer.state, true);
    text = answer.text;
  }
  return steps;
}
