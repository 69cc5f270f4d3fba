/**
 * What the laws say of a reducer that was found: the values it is tried on, and a verdict that never calls sound what was not tried.
 */
import { lawsOf, samplesOf } from '@oplus/core';
import type { Json, LawResult, ReducerTrial } from '@oplus/core';
import type { FoundReducer } from './found-reducer.ts';
import { fieldName, jsonSchemaOf, readBy } from './found-reducer.ts';
import { LIVE_VALUES } from './live-value.ts';
import { viaCheckpoint, viaJson } from './storage.ts';

/** Where the updates came from. */
export type ValueSource = 'schema' | 'examples' | 'default';

/**
 * One law, required ones first; `isRequired` where a failure is a fault. `order` failing means that whoever comes first decides, `json` that only
 * checkpoints of LangGraph keep the state, `total` that some update makes it throw.
 */
export type LintLaw = {
  readonly law: 'purity' | 'batching' | 'reload' | 'order' | 'json' | 'total';
  readonly isRequired: boolean;
  readonly holds: boolean;
  readonly checks: number;
  /** Values as texts. */
  readonly counterexample?: {
    readonly state: string;
    readonly updates: readonly string[];
    readonly lines: readonly [string, string];
  };
};

export type LintFinding = Pick<FoundReducer, 'name' | 'shape'> &
  (
    | { readonly verdict: 'ok' | 'fail'; readonly values: ValueSource; readonly laws: readonly LintLaw[] }
    | { readonly verdict: 'not measured'; readonly why: string }
  );

/** Tries the laws on a reducer. About 20,000 calls of it. */
export function findingOf(found: FoundReducer): LintFinding {
  const { name, shape } = found;
  const unmeasured = (why: string): LintFinding => ({ name, shape, verdict: 'not measured', why });
  const chosen = updatesOf(found);
  if (typeof chosen === 'string') return unmeasured(chosen);
  const { updates, values } = chosen;
  const trial = trialOf(found, updates);
  if (trial === undefined) return unmeasured('its default cannot be made');
  const results = lawsOf(trial);
  const checksOf = (name: LawResult['law']): number => results.find(({ law }) => law === name)?.checks ?? 0;
  if (checksOf('purity') === 0) {
    const total = results.find(({ law }) => law === 'closure');
    return unmeasured(`${total?.counterexample?.lines[1] ?? 'it gives no state'}, for every update that was tried`);
  }
  const laws = results.flatMap((result) => lintLaw(result));
  const all = [...laws, ...jsonLaw(found, trial, laws)].toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
  return { name, shape, verdict: all.some(({ isRequired, holds }) => isRequired && !holds) ? 'fail' : 'ok', values, laws: all };
}

/** How many updates a schema is asked for. */
const SAMPLES = 12;

/** Fewer do not show whether anything depends on their order or number. */
const UPDATES_MIN = 2;

/** The updates to try, or why there are none. */
function updatesOf(found: FoundReducer): { readonly updates: readonly unknown[]; readonly values: ValueSource } | string {
  if (found.shape === 'function') return `a function alone has no start and no updates; give ${DECLARATION}`;
  const hint = `give export const examples = { ${fieldName(found.name)}: [update, update] }`;
  if (found.updates !== undefined) {
    const { updates } = found;
    return areEnough(updates) ? { updates, values: 'examples' } : `it has fewer than ${UPDATES_MIN} different examples`;
  }
  if (found.updateSchema !== undefined) {
    const schema = jsonSchemaOf(found.updateSchema);
    if (schema === undefined) return `its schema has no JSON Schema; ${hint}`;
    const samples = samplesOf(schema as { readonly [key: string]: Json }, SAMPLES);
    const updates = samples.flatMap((sample) => readBy(found.updateSchema, sample) ?? []).map(({ value }) => value);
    return areEnough(updates)
      ? { updates, values: 'schema' }
      : `fewer than ${UPDATES_MIN} updates could be made from its schema; ${hint}`;
  }
  if (found.shape === 'declaration') return `it has no updates; give ${DECLARATION}`;
  const updates = updatesLikeDefault(found);
  return updates === undefined ? `it has no schema and no examples; ${hint}` : { updates, values: 'default' };
}

const DECLARATION = 'export const name = { reduce, start, updates: [update, update] }';

function areEnough(updates: readonly unknown[]): boolean {
  return new Set(updates.map((update) => LIVE_VALUES.text(update))).size >= UPDATES_MIN;
}

/** A default that is one number, text or truth value lets updates be of its type, unless the reducer makes something else of them. */
function updatesLikeDefault({ reduce, start }: FoundReducer): readonly unknown[] | undefined {
  const first = valueOf(start);
  const type = Number.isInteger(first) ? 'integer' : typeof first;
  if (reduce === undefined || !['integer', 'number', 'string', 'boolean'].includes(type)) return undefined;
  const updates = samplesOf({ type }, SAMPLES);
  const isKept = updates.every((update) => {
    const next = valueOf(() => reduce(first, update));
    return typeof next === typeof first && !Number.isNaN(next);
  });
  return isKept ? updates : undefined;
}

function trialOf(found: FoundReducer, updates: readonly unknown[]): ReducerTrial | undefined {
  const { batch, start } = found;
  const reduce = found.reduce ?? ((state: unknown, update: unknown) => batch?.(state, [update]));
  const isLangGraph = found.shape !== 'declaration';
  let starts: readonly unknown[];
  try {
    // A channel without a default takes its first update as its state.
    starts = start === undefined ? (batch === undefined ? updates.slice(0, UPDATES_MIN) : [[]]) : [start()];
  } catch {
    return undefined;
  }
  return {
    reduce,
    ...(batch === undefined ? {} : { batch }),
    starts,
    updates,
    values: LIVE_VALUES,
    // Every state is of its type: only throwing and promising are faults.
    fault: () => undefined,
    reload: isLangGraph ? viaCheckpoint : viaJson,
  };
}

/** Whether LangGraph's own checkpoints alone keep the state: other stores and readers have JSON. */
function jsonLaw(found: FoundReducer, trial: ReducerTrial, laws: readonly LintLaw[]): readonly LintLaw[] {
  if (found.shape === 'declaration' || laws.some(({ law, holds }) => law === 'reload' && !holds)) return [];
  const { batch: _, fault: __, ...rest } = trial;
  const result = lawsOf({ ...rest, reload: viaJson }).find(({ law }) => law === 'reload');
  return result === undefined || result.holds ? [] : [{ ...told(result), law: 'json', isRequired: false }];
}

function lintLaw(result: LawResult): readonly LintLaw[] {
  switch (result.law) {
    case 'purity':
    case 'batching':
    case 'reload':
      return result.checks === 0 ? [] : [{ ...told(result), law: result.law, isRequired: true }];
    case 'commutation':
      return result.checks === 0 ? [] : [{ ...told(result), law: 'order', isRequired: false }];
    case 'closure':
      return result.holds ? [] : [{ ...told(result), law: 'total', isRequired: false }];
    case 'idempotence':
      return [];
  }
}

function told({ holds, checks, counterexample }: LawResult): Pick<LintLaw, 'holds' | 'checks' | 'counterexample'> {
  if (counterexample === undefined) return { holds, checks };
  const { state, updates, lines } = counterexample;
  return { holds, checks, counterexample: { state: LIVE_VALUES.text(state), updates: updates.map(LIVE_VALUES.text), lines } };
}

function valueOf(make: (() => unknown) | undefined): unknown {
  try {
    return make?.();
  } catch {
    return undefined;
  }
}
