/**
 * What the tests know of `grow-set`. A naive cell lists its values, as texts.
 */
import type { Field } from '../../field-kind.ts';
import type { Json } from '../../json.ts';
import { canonical } from '../../json.ts';
import { growSet } from '../../kinds/grow-set.ts';
import { valueFrom } from '../intents.ts';
import { isAmong, isToldOfAll, listed } from '../leaf.ts';
import { textOf } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

type GrowSetSpec = { readonly kind: 'grow-set'; readonly of: ValueSpec; readonly cap: number };

export const growSetSample: SampleKind<GrowSetSpec, string[]> = {
  kind: 'grow-set',
  simple: [{ kind: 'grow-set', of: 'text or null', cap: 2 }],
  random: (choice) => ({
    kind: 'grow-set',
    of: choice.of<ValueSpec>(['text or null', 'text', 'digit', 'pair']),
    cap: 2 + choice.upTo(3),
  }),
  field: (spec) => growSet(typeOf(spec.of), spec) as Field,
  intent: (spec, choice) => ({
    add: choice.upTo(3) === 2 ? [valueFrom(spec.of, choice), valueFrom(spec.of, choice)] : [valueFrom(spec.of, choice)],
  }),
  own: () => [],
  fold: (trial, spec, cell, verbs, path) => {
    const add = verbs['add'] as readonly Json[];
    const texts = add.map(textOf);
    if (new Set(texts).size < add.length || !add.every((value) => isOf(spec.of, value))) return trial.refuse();
    const fresh = texts.filter((text) => !cell.own.includes(text));
    for (const [at, text] of texts.entries()) if (!fresh.includes(text)) trial.note(`${path}/add/${at}`, 'unchanged');
    if (fresh.length === 0) return;
    cell.own.push(...fresh);
    if (cell.own.length > spec.cap) return trial.refuse();
    trial.change(cell);
  },
  json: (_, cell) => cell.own.toSorted((a, b) => (a < b ? -1 : 1)).map((text) => JSON.parse(text) as Json),
  outside: (spec, json) => {
    const items = json as readonly Json[];
    return items.length <= spec.cap && items.every((item) => isOf(spec.of, item)) ? undefined : `holds ${canonical(json)}`;
  },
  replacedUnseen: (_, leaf, writers) => {
    for (const [at, value] of listed(leaf, 'add').entries()) {
      if (leaf.outcomes[`${leaf.path}/add/${at}`] === undefined) writers.set(`${leaf.path}/${canonical(value)}`, leaf);
    }
    return undefined;
  },
  invisible: (_, leaf, __, json) =>
    listed(leaf, 'add').every((value) => isAmong(json, value)) ? undefined : 'an added value is not there',
  isQuiet: (_, leaf) => isToldOfAll(leaf, 'add'),
};
