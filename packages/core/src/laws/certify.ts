/**
 * Certificates of reducers: which laws hold, shown by cases, and the grade that follows.
 *
 * A certificate is evidence, not a proof: about 2,000 cases a law, the smallest first, the same on every platform. A reducer that is
 * not pure or not closed cannot carry a field; one whose updates commute merges as a grade A field, any other as grade B.
 * SPEC: LAW1-LAW7.
 */
import { z } from 'zod';
import { all } from '../fault.ts';
import type { Grade } from '../field-kind.ts';
import { checkOptions } from '../field-options.ts';
import type { Json } from '../json.ts';
import { clipped, frozen } from '../json.ts';
import { samplesOf } from '../value-samples.ts';
import { startValue, valueType } from '../value-type.ts';
import type { ValueType } from '../value-type.ts';
import { lawsOf } from './law.ts';
import type { LawName, LawResult } from './law.ts';
import { readReduced, textOf } from './reduced-state.ts';
import { UPDATES_MAX } from './reducer-trial.ts';
import type { Values } from './reducer-trial.ts';

/** A pure function from a state and an update to the next state, with the types of both and the first state. */
export type ReducerOptions<S, U> = {
  readonly state: z.ZodType<S>;
  readonly update: z.ZodType<U>;
  readonly start: S;
  readonly reduce: (state: S, update: U) => S;
};

/** `batch` takes several updates at once, where a reducer has such a form. */
export type CertifyOptions<S, U> = ReducerOptions<S, U> & { readonly batch?: (state: S, updates: readonly U[]) => S };

/** `why` says what the grade rests on: the cases in which updates commute, or the case in which they do not. */
export type Certificate = { readonly laws: readonly LawResult[]; readonly grade: Grade['letter']; readonly why: string };

/**
 * Tries the laws on a reducer. About 20,000 calls of it: some tens of milliseconds for a small state. Throws `SCHEMA_INVALID`
 * for a type without a cap and for a start value that is not of its type; never for what the reducer does.
 */
export function certify<S extends Json, U extends Json>(options: CertifyOptions<S, U>): Certificate {
  const { state, update, start } = reducerParts(options);
  return certificateOf(options, state, update, start);
}

/** The types and the start of a reducer, compiled. Throws the faults of all three. */
export function reducerParts<S extends Json, U extends Json>(
  options: CertifyOptions<S, U>,
): { readonly state: ValueType; readonly update: ValueType; readonly start: Json } {
  checkOptions('reduce', 'Use reduce({ state: type, update: type, start, reduce: (state, update) => state }).', OPTIONS, options);
  const [state, update] = all(
    (): ValueType => valueType(options.state, 'reduce: state'),
    (): ValueType => valueType(options.update, 'reduce: update'),
  );
  return { state, update, start: startValue(state, options.start, 'reduce') as Json };
}

const FUNCTION = z.custom((value) => typeof value === 'function', 'must be a function');
const OPTIONS = z.object({
  state: z.unknown(),
  update: z.unknown(),
  start: z.custom((value) => value !== undefined, 'must be given'),
  reduce: FUNCTION,
  batch: FUNCTION.optional(),
});

/** As `certify`, for types that are compiled already. `start` is of its type. */
export function certificateOf<S, U>(
  { reduce, batch }: Pick<CertifyOptions<S, U>, 'reduce' | 'batch'>,
  state: ValueType,
  update: ValueType,
  start: Json,
): Certificate {
  const laws = lawsOf({
    reduce: (from, given) => reduce(from as S, given as U),
    ...(batch === undefined ? {} : { batch: (from, given) => batch(from as S, given as readonly U[]) }),
    starts: [start],
    updates: samplesOf(update.jsonSchema, UPDATES_MAX),
    values: plainValues(),
    fault: faultsOf(state),
  });
  return { laws, ...gradeOf(laws) };
}

/** The law of that name that does not hold. */
export function brokenLaw(certificate: Certificate, names: readonly LawName[]): LawResult | undefined {
  return certificate.laws.find(({ law, holds }) => !holds && names.includes(law));
}

/** The first law that fails decides, and the laws that a field cannot do without come first. */
function gradeOf(laws: readonly LawResult[]): { readonly grade: Grade['letter']; readonly why: string } {
  const [broken] = MERGE_LAWS.flatMap((name) => laws.filter(({ law, holds }) => law === name && !holds));
  const { law, counterexample } = broken ?? {};
  if (law === undefined || counterexample === undefined) {
    const checks = laws.find((one) => one.law === 'commutation')?.checks ?? 0;
    return { grade: 'A', why: `updates commute in all ${checks} cases that were tried, and none leaves the type` };
  }
  const from = clipped(textOf(counterexample.state) ?? '', WHY_CHARS_MAX);
  const [above, below] = counterexample.lines.map((line) => clipped(line, WHY_CHARS_MAX));
  return {
    grade: 'B',
    why: `${law === 'commutation' ? 'the order of updates decides' : `${law} fails`}: from ${from}, ${above}, but ${below}`,
  };
}

const MERGE_LAWS: readonly LawName[] = ['purity', 'closure', 'commutation'];

const WHY_CHARS_MAX = 80;

/** What is wrong with what a reducer gave; asked once for each text. */
function faultsOf(type: ValueType): (given: unknown) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (given) => {
    const text = textOf(given);
    if (text !== undefined && known.has(text)) return known.get(text);
    const read = readReduced(type, given);
    const fault = read.ok ? undefined : `the state ${read.fault.message}`;
    if (text !== undefined) known.set(text, fault);
    return fault;
  };
}

/** JSON values. Frozen ones are shared: nothing can write into them. */
function plainValues(): Values {
  const known = new WeakSet<object>();
  return {
    text: (value) => textOf(value) ?? `no JSON (${typeof value})`,
    copy: (value, isFrozen) => {
      if (typeof value !== 'object' || value === null || (isFrozen && known.has(value))) return value;
      const text = textOf(value);
      if (text === undefined) return value;
      const copy = JSON.parse(text) as Json;
      if (isFrozen && typeof copy === 'object' && copy !== null) known.add(frozen(copy));
      return copy;
    },
  };
}
