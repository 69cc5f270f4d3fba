/**
 * What the tests know of `remove-wins`. A naive cell lists for each value, as text, every remove and every add there ever
 * was, and what each add had seen: nothing is forgotten, and whether the value is there is asked of the whole list.
 */
import type { Field } from '../../field-kind.ts';
import type { Json } from '../../json.ts';
import { canonical } from '../../json.ts';
import { removeWins } from '../../kinds/remove-wins.ts';
import { listsFrom, valueFrom } from '../intents.ts';
import { isAmong, isToldOfAll, listed, saw } from '../leaf.ts';
import { textOf } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

type RemoveWinsSpec = { readonly kind: 'remove-wins'; readonly of: ValueSpec; readonly cap: number };
type Add = { readonly dot: string; readonly past: readonly string[] };
type Told = { readonly adds: Add[]; readonly removes: string[] };

export const removeWinsSample: SampleKind<RemoveWinsSpec, { [text: string]: Told }> = {
  kind: 'remove-wins',
  simple: [{ kind: 'remove-wins', of: 'text', cap: 2 }],
  random: (choice) => ({ kind: 'remove-wins', of: choice.of<ValueSpec>(['text', 'digit', 'pair']), cap: 2 + choice.upTo(3) }),
  field: (spec) => removeWins(typeOf(spec.of), spec) as Field,
  intent: (spec, choice) => listsFrom(['add', 'remove'], () => valueFrom(spec.of, choice), choice),
  own: () => ({}),
  fold: (trial, spec, cell, verbs, path) => {
    const add = (verbs['add'] ?? []) as readonly Json[];
    const remove = (verbs['remove'] ?? []) as readonly Json[];
    const all = [...add, ...remove].map(textOf);
    if (new Set(all).size < all.length || ![...add, ...remove].every((value) => isOf(spec.of, value))) return trial.refuse();
    if (!trial.sawAll(cell.born)) return trial.refuse();
    const before = present(cell.own).length;
    for (const [at, value] of remove.entries()) {
      const told = (cell.own[textOf(value)] ??= { adds: [], removes: [] });
      const alive = aliveOf(told);
      const newest = alive.filter((one) => !alive.some((other) => other.past.includes(one.dot)));
      if (newest.some((one) => !trial.saw(one.dot))) trial.note(`${path}/remove/${at}`, 'merged');
      told.removes.push(trial.dot);
      trial.change(cell);
    }
    for (const [at, value] of add.entries()) {
      const told = (cell.own[textOf(value)] ??= { adds: [], removes: [] });
      const isThere = aliveOf(told).length > 0;
      const isDead = !trial.sawAll(told.removes);
      if (isThere) trial.note(`${path}/add/${at}`, 'unchanged');
      else if (isDead) trial.note(`${path}/add/${at}`, 'superseded');
      told.adds.push({ dot: trial.dot, past: [...trial.past] });
      if (!isDead) trial.change(cell);
    }
    const after = present(cell.own).length;
    if (after > spec.cap && after > before) return trial.refuse();
  },
  json: (_, cell) => present(cell.own).map((text) => JSON.parse(text) as Json),
  outside: (spec, json) => {
    const items = json as readonly Json[];
    return items.length <= spec.cap && items.every((item) => isOf(spec.of, item)) ? undefined : `holds ${canonical(json)}`;
  },
  replacedUnseen: (_, leaf, writers) => {
    const { agent } = leaf.proposal;
    for (const [at, value] of listed(leaf, 'add').entries()) {
      if (leaf.outcomes[`${leaf.path}/add/${at}`] === undefined) writers.set(`${leaf.path}/${canonical(value)}/${agent}`, leaf);
    }
    for (const [at, value] of listed(leaf, 'remove').entries()) {
      const isTold = leaf.outcomes[`${leaf.path}/remove/${at}`] !== undefined;
      for (const [key, writer] of writers) {
        if (!key.startsWith(`${leaf.path}/${canonical(value)}/`)) continue;
        if (!isTold && !saw(leaf, writer)) return `removes what ${writer.proposal.agent} ${writer.proposal.n} added unseen`;
        writers.delete(key);
      }
      writers.set(`${leaf.path}/-/${canonical(value)}/${agent}`, leaf);
    }
    return undefined;
  },
  invisible: (_, leaf, rivals, json) => {
    const isUndone = (verb: string, value: Json): boolean => rivals.some((rival) => isAmong(rival.intent[verb], value));
    for (const [at, value] of listed(leaf, 'add').entries()) {
      const isTold = leaf.outcomes[`${leaf.path}/add/${at}`] !== undefined;
      if (!isAmong(json, value) && !isTold && !isUndone('remove', value)) return 'an added value is not there';
    }
    for (const value of listed(leaf, 'remove')) {
      const isBack = rivals.some((rival) => saw(rival, leaf) && isAmong(rival.intent['add'], value));
      if (isAmong(json, value) && !isBack) return 'a removed value is there';
    }
    return undefined;
  },
  isQuiet: (_, leaf) => leaf.intent['remove'] === undefined && isToldOfAll(leaf, 'add'),
};

/** The adds that have seen every remove. */
function aliveOf(told: Told): readonly Add[] {
  return told.adds.filter((add) => told.removes.every((remove) => add.past.includes(remove)));
}

function present(own: { readonly [text: string]: Told }): readonly string[] {
  const texts = Object.keys(own).filter((text) => aliveOf(own[text] as Told).length > 0);
  return texts.sort((a, b) => (a < b ? -1 : 1));
}
