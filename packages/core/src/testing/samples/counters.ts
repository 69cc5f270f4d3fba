/**
 * What the tests know of `counter` and `quota`.
 */
import type { Field } from '../../field-kind.ts';
import type { JsonObject } from '../../json.ts';
import { counter, quota } from '../../kinds/counter.ts';
import type { Choice } from '../choice.ts';
import type { NaiveCell, NaiveTrial } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';

type CounterSpec = { readonly kind: 'counter'; readonly start: number };
type QuotaSpec = { readonly kind: 'quota'; readonly lo: number; readonly hi: number; readonly start: number };

export const counterSample: SampleKind<CounterSpec> = {
  kind: 'counter',
  simple: [{ kind: 'counter', start: 0 }],
  random: (choice) => ({ kind: 'counter', start: choice.upTo(2) }),
  field: (spec) => counter(spec) as Field,
  intent: (_, choice) => intent(choice),
  fold: (trial, _, cell, verbs, path) =>
    add(trial, { lo: Number.MIN_SAFE_INTEGER, hi: Number.MAX_SAFE_INTEGER }, cell, verbs, path),
  json: (_, cell) => cell.value ?? null,
  outside: (_, json) => (Number.isSafeInteger(json) ? undefined : `is ${String(json)}`),
  count: (spec, verbs) => ({ start: spec.start, by: verbs['inc'] as number }),
};

export const quotaSample: SampleKind<QuotaSpec> = {
  kind: 'quota',
  simple: [{ kind: 'quota', lo: 0, hi: 4, start: 2 }],
  random: () => ({ kind: 'quota', lo: 0, hi: 4, start: 2 }),
  field: (spec) => quota(spec) as Field,
  intent: (_, choice) => intent(choice),
  fold: (trial, spec, cell, verbs, path) => add(trial, spec, cell, verbs, path),
  json: (_, cell) => cell.value ?? null,
  outside: (spec, json) => ((json as number) >= spec.lo && (json as number) <= spec.hi ? undefined : `is ${String(json)}`),
  count: (spec, verbs) => ({ start: spec.start, by: verbs['inc'] as number }),
};

function intent(choice: Choice): JsonObject {
  return { inc: choice.of([1, -1, 2, 0, -3]) };
}

function add(
  trial: NaiveTrial,
  { lo, hi }: { readonly lo: number; readonly hi: number },
  cell: NaiveCell,
  verbs: JsonObject,
  path: string,
): void {
  const by = verbs['inc'] as number;
  if (by === 0) return trial.note(path, 'unchanged');
  const sum = (cell.value as number) + by;
  if (sum < lo || sum > hi) return trial.refuse();
  cell.value = sum;
  trial.change(cell);
}
