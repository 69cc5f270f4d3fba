/**
 * What the tests know of `log`. A naive cell holds its entries, oldest first.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { canonical } from '../../json.ts';
import { log } from '../../kinds/log.ts';
import { valueFrom } from '../intents.ts';
import { isAmong, isToldOfAll, listed } from '../leaf.ts';
import { isEqual, winOrder } from '../naive-cell.ts';
import type { NaiveStamp } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

type LogSpec = {
  readonly kind: 'log';
  readonly of: ValueSpec;
  readonly keep: number;
  readonly order: 'commit' | 'stamp';
  readonly id?: string;
  readonly overflow?: 'keep-last' | 'reject';
};
type Entry = { readonly value: Json; readonly stamp: NaiveStamp; readonly at: number };

export const logSample: SampleKind<LogSpec, Entry[]> = {
  kind: 'log',
  simple: [
    { kind: 'log', of: 'text', keep: 3, order: 'commit' },
    { kind: 'log', of: 'text', keep: 3, order: 'stamp' },
  ],
  random: (choice) => {
    const order = choice.of<'commit' | 'stamp'>(['commit', 'stamp']);
    const keep = 2 + choice.upTo(3);
    return choice.upTo(3) === 0 ? { kind: 'log', of: 'pair', keep, order, id: 'id' } : { kind: 'log', of: 'text', keep, order };
  },
  field: (spec) => log(typeOf(spec.of), spec) as Field,
  intent: (spec, choice) => ({
    append: choice.upTo(3) === 2 ? [valueFrom(spec.of, choice), valueFrom(spec.of, choice)] : [valueFrom(spec.of, choice)],
  }),
  own: () => [],
  fold: (trial, spec, cell, verbs, path) => {
    const values = verbs['append'] as readonly Json[];
    if (!values.every((value) => isOf(spec.of, value))) return trial.refuse();
    let isChanged = false;
    for (const [at, value] of values.entries()) {
      const id = spec.id;
      const known =
        id === undefined
          ? undefined
          : cell.own.find((entry) => isEqual((entry.value as JsonObject)[id], (value as JsonObject)[id]));
      if (known !== undefined) {
        trial.note(`${path}/append/${at}`, isEqual(known.value, value) ? 'unchanged' : 'superseded');
        continue;
      }
      cell.own.push({ value, stamp: trial.stamp, at });
      isChanged = true;
    }
    if (spec.order === 'stamp') cell.own.sort((a, b) => winOrder(a.stamp, b.stamp) || a.at - b.at);
    if (spec.overflow === 'reject' && cell.own.length > spec.keep) return trial.refuse();
    if (isChanged) trial.change(cell);
  },
  json: (_, cell) => cell.own.map((entry) => entry.value),
  settle: (spec, cell, path, evict) => {
    while (cell.own.length > spec.keep) {
      const gone = cell.own.shift();
      if (gone !== undefined) evict(`${path}/append/${gone.at}`, `${gone.stamp.agent} ${gone.stamp.n}`);
    }
  },
  outside: (spec, json) => {
    const items = json as readonly Json[];
    return items.length <= spec.keep && items.every((item) => isOf(spec.of, item)) ? undefined : `holds ${canonical(json)}`;
  },
  invisible: (_, leaf, __, json) => {
    for (const [i, value] of listed(leaf, 'append').entries()) {
      if (leaf.outcomes[`${leaf.path}/append/${i}`] !== undefined) continue;
      if (!isAmong(json, value)) return 'an entry is not there, and nobody was told';
    }
    return undefined;
  },
  isQuiet: (_, leaf) => isToldOfAll(leaf, 'append'),
};
