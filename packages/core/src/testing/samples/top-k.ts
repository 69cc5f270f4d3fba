/**
 * What the tests know of `top-k`. A naive cell lists every value that was ever added, and what was asked for since the seal.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { canonical } from '../../json.ts';
import { topK } from '../../kinds/top-k.ts';
import { valueFrom } from '../intents.ts';
import { isAmong, isToldOfAll, listed } from '../leaf.ts';
import { isEqual, textOf } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';

/** Values are pairs, ranked by their digit. */
type TopKSpec = { readonly kind: 'top-k'; readonly k: number };
type Added = { readonly all: Json[]; asked: { readonly value: Json; readonly at: number; readonly dot: string }[] };

export const topKSample: SampleKind<TopKSpec, Added> = {
  kind: 'top-k',
  simple: [{ kind: 'top-k', k: 2 }],
  random: (choice) => ({ kind: 'top-k', k: 1 + choice.upTo(3) }),
  field: (spec) => topK(typeOf('pair'), { k: spec.k, by: 'id' }) as Field,
  intent: (_, choice) => ({
    add: choice.upTo(3) === 2 ? [valueFrom('pair', choice), valueFrom('pair', choice)] : [valueFrom('pair', choice)],
  }),
  own: () => ({ all: [], asked: [] }),
  fold: (trial, spec, cell, verbs, path) => {
    const add = verbs['add'] as readonly Json[];
    if (new Set(add.map(textOf)).size < add.length || !add.every((value) => isOf('pair', value))) return trial.refuse();
    for (const [at, value] of add.entries()) {
      const before = greatest(spec, cell.own.all);
      if (isHere(before, value)) trial.note(`${path}/add/${at}`, 'unchanged');
      if (!isHere(cell.own.all, value)) cell.own.all.push(value);
      if (!isEqual(before, greatest(spec, cell.own.all))) trial.change(cell);
      cell.own.asked.push({ value, at, dot: trial.dot });
    }
  },
  json: (spec, cell) => greatest(spec, cell.own.all),
  settle: (spec, cell, path, evict) => {
    const stands = greatest(spec, cell.own.all);
    for (const { value, at, dot } of cell.own.asked) if (!isHere(stands, value)) evict(`${path}/add/${at}`, dot);
    cell.own.asked = [];
  },
  outside: (spec, json) => {
    const items = json as readonly Json[];
    const isSound = items.length <= spec.k && items.every((item) => isOf('pair', item)) && isEqual(items, greatest(spec, items));
    return isSound ? undefined : `holds ${canonical(json)}`;
  },
  replacedUnseen: (_, leaf, writers) => {
    for (const [at, value] of listed(leaf, 'add').entries()) {
      if (leaf.outcomes[`${leaf.path}/add/${at}`] === undefined) writers.set(`${leaf.path}/${canonical(value)}`, leaf);
    }
    return undefined;
  },
  invisible: (_, leaf, __, json) => {
    for (const [at, value] of listed(leaf, 'add').entries()) {
      if (leaf.outcomes[`${leaf.path}/add/${at}`]?.kind === 'evicted') continue;
      if (!isAmong(json, value)) return 'an added value is not there, and nobody was told';
    }
    return undefined;
  },
  isQuiet: (_, leaf) => isToldOfAll(leaf, 'add'),
};

function greatest(spec: TopKSpec, values: readonly Json[]): readonly Json[] {
  const rank = (value: Json): number => (value as JsonObject)['id'] as number;
  return values.toSorted((a, b) => rank(b) - rank(a) || (textOf(a) < textOf(b) ? 1 : -1)).slice(0, spec.k);
}

function isHere(values: readonly Json[], value: Json): boolean {
  return values.some((one) => isEqual(one, value));
}
