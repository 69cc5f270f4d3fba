/**
 * What the tests know of `max` and `min`.
 */
import type { Field } from '../../field-kind.ts';
import { max, min } from '../../kinds/extremum.ts';
import type { NaiveCell, NaiveTrial } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';

type ExtremumSpec = { readonly kind: 'max' | 'min'; readonly lo: number; readonly hi: number; readonly start: number };

export const maxSample: SampleKind<ExtremumSpec> = {
  kind: 'max',
  simple: [{ kind: 'max', lo: 0, hi: 6, start: 0 }],
  random: (choice) => ({ kind: 'max', lo: 0, hi: 6, start: choice.upTo(2) * 3 }),
  field: (spec) => max(spec) as Field,
  intent: (_, choice) => ({ raise: choice.upTo(8) }),
  fold: (trial, spec, cell, verbs, path) => {
    const to = verbs['raise'] as number;
    reach(trial, spec, cell, { to, isBetter: to > (cell.value as number) }, path);
  },
  json: (_, cell) => cell.value ?? null,
  outside,
  invisible: (_, leaf, __, json) => ((json as number) >= (leaf.intent['raise'] as number) ? undefined : 'is not there'),
};

export const minSample: SampleKind<ExtremumSpec> = {
  kind: 'min',
  simple: [{ kind: 'min', lo: 0, hi: 6, start: 6 }],
  random: (choice) => ({ kind: 'min', lo: 0, hi: 6, start: choice.upTo(2) * 3 }),
  field: (spec) => min(spec) as Field,
  intent: (_, choice) => ({ lower: choice.upTo(8) - 1 }),
  fold: (trial, spec, cell, verbs, path) => {
    const to = verbs['lower'] as number;
    reach(trial, spec, cell, { to, isBetter: to < (cell.value as number) }, path);
  },
  json: (_, cell) => cell.value ?? null,
  outside,
  invisible: (_, leaf, __, json) => ((json as number) <= (leaf.intent['lower'] as number) ? undefined : 'is not there'),
};

function reach(
  trial: NaiveTrial,
  range: { readonly lo: number; readonly hi: number },
  cell: NaiveCell,
  { to, isBetter }: { readonly to: number; readonly isBetter: boolean },
  path: string,
): void {
  if (to < range.lo || to > range.hi) return trial.refuse();
  if (!isBetter) return trial.note(path, 'unchanged');
  cell.value = to;
  trial.change(cell);
}

function outside(spec: ExtremumSpec, json: unknown): string | undefined {
  return (json as number) >= spec.lo && (json as number) <= spec.hi ? undefined : `is ${String(json)}`;
}
