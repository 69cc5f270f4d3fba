/**
 * What the tests know of `reduce`, by three functions: the three greatest digits (grade A), the last three texts (grade B), and a sum.
 * A naive cell holds all updates since it was made, in the order in which they were folded.
 */
import { z } from 'zod';
import type { Field } from '../../field-kind.ts';
import type { Json } from '../../json.ts';
import { reduce } from '../../kinds/reduce.ts';
import { valueFrom } from '../intents.ts';
import type { Leaf } from '../leaf.ts';
import { isEqual } from '../naive-cell.ts';
import type { NaiveCell } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

type ReduceSpec = { readonly kind: 'reduce'; readonly by: 'top' | 'tail' | 'sum' };

export const reduceSample: SampleKind<ReduceSpec, Json[]> = {
  kind: 'reduce',
  simple: [
    { kind: 'reduce', by: 'top' },
    { kind: 'reduce', by: 'tail' },
    { kind: 'reduce', by: 'sum' },
  ],
  random: (choice) => ({ kind: 'reduce', by: choice.of(['top', 'tail', 'sum']) }),
  field: ({ by }) => {
    const made = FIELDS.get(by) ?? REDUCERS[by]();
    FIELDS.set(by, made);
    return made;
  },
  intent: ({ by }, choice) => {
    const one = valueFrom(updateOf(by), choice);
    return { apply: choice.upTo(3) === 2 ? [one, valueFrom(updateOf(by), choice)] : one };
  },
  own: () => [],
  fold: (trial, spec, cell, verbs, path) => {
    const updates = updatesIn(verbs['apply'] as Json);
    if (!updates.every((update) => isOf(updateOf(spec.by), update))) return trial.refuse();
    const before = valueOf(spec, cell);
    cell.own.push(...updates);
    if (isEqual(before, valueOf(spec, cell))) trial.note(path, 'unchanged');
    else trial.change(cell);
  },
  json: valueOf,
  outside: ({ by }, json) => {
    if (by === 'sum') return Number.isInteger(json) ? undefined : `is ${JSON.stringify(json)}`;
    const items = json as readonly Json[];
    return items.length <= 3 && items.every((item) => isOf(updateOf(by), item)) ? undefined : `holds ${JSON.stringify(json)}`;
  },
  invisible: ({ by }, leaf, rivals, json) => {
    const items = json as readonly Json[];
    const mine = updatesIn(leaf.intent['apply'] as Json);
    if (by === 'tail') {
      const newest = [...mine, ...rivals.flatMap((rival: Leaf) => updatesIn(rival.intent['apply'] as Json))].slice(-3);
      return isEqual(items.slice(-newest.length), newest) ? undefined : 'is not at the end';
    }
    const isBeaten = (update: Json): boolean => items.filter((item) => (item as number) > (update as number)).length === 3;
    if (by === 'top' && mine.some((update) => !items.includes(update) && !isBeaten(update))) return 'is not there';
    return undefined;
  },
};

/** Made once: each is tried on thousands of cases when it is made. */
const FIELDS = new Map<ReduceSpec['by'], Field>();

const REDUCERS: { readonly [by in ReduceSpec['by']]: () => Field } = {
  top: () =>
    reduce({
      state: z.array(typeOf('digit')).max(3),
      update: typeOf('digit'),
      start: [],
      reduce: (state, update) => [...new Set([...state, update])].sort((a, b) => (b as number) - (a as number)).slice(0, 3),
    }) as Field,
  tail: () =>
    reduce({
      state: z.array(typeOf('text')).max(3),
      update: typeOf('text'),
      start: [],
      reduce: (state, update) => [...state, update].slice(-3),
    }) as Field,
  sum: () =>
    reduce({
      state: z.int().min(0).max(1_000_000),
      update: z.int().min(0).max(9),
      start: 0,
      reduce: (state, update) => state + update,
    }) as Field,
};

function updateOf(by: ReduceSpec['by']): ValueSpec {
  return by === 'tail' ? 'text' : 'digit';
}

function updatesIn(apply: Json): readonly Json[] {
  return Array.isArray(apply) ? (apply as readonly Json[]) : [apply];
}

/** From all updates at once, not step by step. */
function valueOf({ by }: ReduceSpec, { own }: NaiveCell<Json[]>): Json {
  if (by === 'tail') return own.slice(-3);
  const digits = own as number[];
  if (by === 'sum') return digits.reduce((sum, digit) => sum + digit, 0);
  return [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].filter((digit) => digits.includes(digit)).slice(0, 3);
}
