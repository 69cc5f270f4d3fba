/**
 * What the tests know of `set`. A naive cell lists for each element, as text, the dots that added it.
 */
import type { Field } from '../../field-kind.ts';
import type { Json } from '../../json.ts';
import { canonical } from '../../json.ts';
import { set } from '../../kinds/set.ts';
import { listsFrom, valueFrom } from '../intents.ts';
import { isAmong, isToldOfAll, listed, saw } from '../leaf.ts';
import { textOf } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

type SetSpec = { readonly kind: 'set'; readonly of: ValueSpec; readonly cap: number };

export const setSample: SampleKind<SetSpec, { [text: string]: readonly string[] }> = {
  kind: 'set',
  simple: [{ kind: 'set', of: 'text', cap: 3 }],
  random: (choice) => ({ kind: 'set', of: choice.of<ValueSpec>(['text', 'digit', 'pair']), cap: 2 + choice.upTo(3) }),
  field: (spec) => set(typeOf(spec.of), spec) as Field,
  intent: (spec, choice) => listsFrom(['add', 'remove'], () => valueFrom(spec.of, choice), choice),
  own: () => ({}),
  fold: (trial, spec, cell, verbs, path) => {
    const add = (verbs['add'] ?? []) as readonly Json[];
    const remove = (verbs['remove'] ?? []) as readonly Json[];
    const all = [...add, ...remove].map((value) => textOf(value));
    if (new Set(all).size < all.length || ![...add, ...remove].every((value) => isOf(spec.of, value))) return trial.refuse();
    const before = Object.keys(cell.own).length;
    let isChanged = false;
    for (const [at, value] of remove.entries()) {
      const dots = cell.own[textOf(value)];
      if (dots === undefined) {
        trial.note(`${path}/remove/${at}`, 'unchanged');
        continue;
      }
      const kept = dots.filter((dot) => !trial.saw(dot));
      if (kept.length > 0) trial.note(`${path}/remove/${at}`, 'superseded');
      if (kept.length < dots.length) isChanged = true;
      if (kept.length > 0) cell.own[textOf(value)] = kept;
      else delete cell.own[textOf(value)];
    }
    for (const [at, value] of add.entries()) {
      const dots = cell.own[textOf(value)] ?? [];
      if (dots.length > 0) trial.note(`${path}/add/${at}`, 'unchanged');
      cell.own[textOf(value)] = [...dots.filter((dot) => !trial.saw(dot)), trial.dot];
      isChanged = true;
    }
    const after = Object.keys(cell.own).length;
    if (after > spec.cap && after > before) return trial.refuse();
    if (isChanged) trial.change(cell);
  },
  child: (_, cell, token) => {
    const dots = cell.own[JSON.stringify(token)] ?? (Object.hasOwn(cell.own, token) ? cell.own[token] : undefined);
    return dots === undefined ? undefined : { dots: dots.slice(-1), below: () => undefined };
  },
  json: (_, cell) =>
    Object.keys(cell.own)
      .sort((a, b) => (a < b ? -1 : 1))
      .map((text) => JSON.parse(text) as Json),
  outside: (spec, json) => {
    const items = json as readonly Json[];
    return items.length <= spec.cap && items.every((item) => isOf(spec.of, item)) ? undefined : `holds ${canonical(json)}`;
  },
  replacedUnseen: (_, leaf, writers) => {
    for (const value of listed(leaf, 'add')) writers.set(`${leaf.path}/${canonical(value)}/${leaf.proposal.agent}`, leaf);
    for (const [at, value] of listed(leaf, 'remove').entries()) {
      const isTold = leaf.outcomes[`${leaf.path}/remove/${at}`] !== undefined;
      for (const [key, writer] of writers) {
        if (!key.startsWith(`${leaf.path}/${canonical(value)}/`)) continue;
        if (saw(leaf, writer)) writers.delete(key);
        else if (!isTold) return `removes what ${writer.proposal.agent} ${writer.proposal.n} added unseen`;
      }
    }
    return undefined;
  },
  invisible: (_, leaf, rivals, json) => {
    const isUndone = (verb: string, value: Json): boolean => rivals.some((rival) => isAmong(rival.intent[verb], value));
    for (const value of listed(leaf, 'add'))
      if (!isAmong(json, value) && !isUndone('remove', value)) return 'an added value is not there';
    for (const [i, value] of listed(leaf, 'remove').entries()) {
      const isTold = leaf.outcomes[`${leaf.path}/remove/${i}`] !== undefined;
      if (isAmong(json, value) && !isTold && !isUndone('add', value)) return 'a removed value is there';
    }
    return undefined;
  },
  isQuiet: (_, leaf) => leaf.intent['add'] === undefined && isToldOfAll(leaf, 'remove'),
};
