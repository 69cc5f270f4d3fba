/**
 * What the tests know of `text`. A naive cell lists every character there ever was, with who put it in and who took it out.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { text } from '../../kinds/text.ts';
import { admitOrder } from '../naive-cell.ts';
import type { NaiveStamp, NaiveTrial } from '../naive-cell.ts';
import { saw } from '../leaf.ts';
import type { Leaf } from '../leaf.ts';
import type { SampleKind } from '../sample-kind.ts';

type TextSpec = { readonly kind: 'text'; readonly charsMax: number; readonly start?: string };
/** `edit` tells the replaces of one proposal apart. `group` is the stamp of the append that the character stands in. */
type By = { readonly dot: string; readonly edit: string };
type Character = { readonly text: string; born: By | null; died: By | null; group: NaiveStamp | null };
type Own = { characters: Character[]; floor: string[] };
type Replace = { readonly find: string; readonly with: string };

export const textSample: SampleKind<TextSpec, Own> = {
  kind: 'text',
  simple: [
    { kind: 'text', charsMax: 12, start: 'abcdef' },
    { kind: 'text', charsMax: 40, start: 'abcdef' },
  ],
  random: (choice) => ({ kind: 'text', charsMax: 6 + 4 * choice.upTo(3), start: choice.of(['abcdef', 'abc', 'a']) }),
  field: (spec) => text(spec) as Field,
  intent: (_, choice) => {
    const replace = (): Json => ({ find: choice.of(FINDS), with: choice.of(['', 'x', 'yz', 'b']) });
    switch (choice.upTo(8)) {
      case 0:
      case 1:
        return { append: choice.of(['g', 'hi', 'jk', 'l']) };
      case 2:
        return { rewrite: choice.of(['abc', 'gh', 'abcdef']) };
      case 3:
        return { replace: [replace(), replace()] };
      case 4:
        return choice.upTo(3) === 2
          ? { append: choice.of(['', 'too long for any of these texts, by far']) }
          : { replace: replace() };
      default:
        return { replace: replace() };
    }
  },
  own: (spec) => ({ characters: plain(spec.start ?? ''), floor: [] }),
  fold: (trial, spec, cell, verbs, path) => {
    const { own } = cell;
    const before = textOf(own.characters);
    const { append, rewrite } = verbs as { readonly append?: string; readonly rewrite?: string };
    if ((append ?? rewrite ?? '').length > spec.charsMax) return trial.refuse();
    if (append === '' || rewrite === before) return trial.note(path, 'unchanged');
    if (rewrite !== undefined) {
      if (!trial.sawAll(cell.dots)) trial.refuse();
      trial.change(cell);
      cell.own = { characters: plain(rewrite), floor: [...cell.dots] };
      return undefined;
    }
    const isChanged = append === undefined ? replaceAll(trial, own, verbs, path) : appendTo(trial, own, append);
    if (textOf(own.characters).length > spec.charsMax) trial.refuse();
    if (isChanged) trial.change(cell);
    return undefined;
  },
  json: (_, cell) => textOf(cell.own.characters),
  outside: (spec, json) => (typeof json === 'string' && json.length <= spec.charsMax ? undefined : `is ${JSON.stringify(json)}`),
  replacedUnseen: (_, leaf, writers) => {
    const all = replacesOf(leaf.intent);
    const isQuiet = all.length === 0 ? leaf.outcomes[leaf.path] !== undefined : isToldOf(all, leaf);
    if (isQuiet) return undefined;
    for (const [key, writer] of leaf.intent['rewrite'] === undefined ? [] : writers) {
      if (!key.startsWith(`${leaf.path} `)) continue;
      if (!saw(leaf, writer)) return `rewrites what ${writer.proposal.agent} ${writer.proposal.n} wrote unseen`;
      writers.delete(key);
    }
    writers.set(`${leaf.path} ${leaf.proposal.agent} ${leaf.proposal.n}`, leaf);
    return undefined;
  },
  invisible: (_, { intent, proposal, outcomes, path }, rivals, json) => {
    if (rivals.some((rival) => rival.proposal.agent === proposal.agent)) return undefined;
    const now = String(json);
    const { append, rewrite } = intent as { readonly append?: string; readonly rewrite?: string };
    if (append !== undefined) return now.includes(append) ? undefined : 'what was appended is not there';
    if (rewrite !== undefined) return now.startsWith(rewrite) ? undefined : 'what was written is not there';
    const missing = replacesOf(intent).filter(
      (one, i, all) => outcomes[nameOf(path, i, all)] === undefined && !now.includes(one.with),
    );
    return missing.length === 0 ? undefined : 'what was put in is not there';
  },
  isQuiet: (_, leaf) => leaf.intent['replace'] !== undefined && isToldOf(replacesOf(leaf.intent), leaf),
};

const FINDS: readonly [string, ...string[]] = ['a', 'b', 'c', 'd', 'ab', 'bc', 'cd', 'ef', 'f', 'g', 'hi', 'h', 'x', 'y', 'fg'];

function plain(start: string): Character[] {
  return Array.from(start, (character) => ({ text: character, born: null, died: null, group: null }));
}

function textOf(characters: readonly Character[]): string {
  return characters
    .filter((character) => character.died === null)
    .map((character) => character.text)
    .join('');
}

function replacesOf(verbs: JsonObject): readonly Replace[] {
  const value = verbs['replace'] ?? [];
  return (Array.isArray(value) ? value : [value]) as readonly Replace[];
}

function nameOf(path: string, at: number, all: readonly unknown[]): string {
  return all.length === 1 ? path : `${path}/replace/${at}`;
}

function isToldOf(all: readonly Replace[], { outcomes, path }: Leaf): boolean {
  return all.every((_, i) => outcomes[nameOf(path, i, all)] !== undefined);
}

function appendTo(trial: NaiveTrial, { characters }: Own, more: string): boolean {
  let place = characters.length;
  while (place > 0) {
    const group = characters[place - 1]?.group ?? null;
    if (group === null || admitOrder(group, trial.stamp) < 0) break;
    place -= 1;
  }
  const born = { dot: trial.dot, edit: trial.dot };
  characters.splice(place, 0, ...plain(more).map((character) => ({ ...character, born, group: trial.stamp })));
  return true;
}

function replaceAll(trial: NaiveTrial, own: Own, verbs: JsonObject, path: string): boolean {
  if (!trial.sawAll(own.floor)) trial.refuse();
  const isSeen = (one: Character): boolean =>
    (one.born === null || trial.saw(one.born.dot)) && (one.died === null || !trial.saw(one.died.dot));
  const seen = own.characters.filter(isSeen);
  const seenText = seen.map((one) => one.text).join('');
  const all = replacesOf(verbs);
  const spans: Character[][] = [];
  for (const { find } of all) {
    const places = Array.from(seenText).flatMap((_, i) => (seenText.startsWith(find, i) ? [i] : []));
    if (places.length !== 1) trial.refuse();
    spans.push(seen.slice(places[0] ?? 0, (places[0] ?? 0) + find.length));
  }
  const taken = spans.flat();
  if (new Set(taken).size < taken.length) trial.refuse();
  if (trial.isRefused) return false;
  let isChanged = false;
  for (const [i, one] of all.entries()) {
    const span = spans[i] as Character[];
    const edit = { dot: trial.dot, edit: `${trial.dot} ${i}` };
    const first = own.characters.indexOf(span[0] as Character);
    const last = own.characters.indexOf(span.at(-1) as Character);
    const range = own.characters.slice(first, last + 1);
    const isFree =
      span.every((character) => character.died === null) &&
      range.every((character) => span.includes(character) || character.died !== null);
    if (isFree && one.find !== one.with) {
      const group = range[0]?.group ?? null;
      for (const character of range) character.died ??= edit;
      own.characters.splice(last + 1, 0, ...plain(one.with).map((character) => ({ ...character, born: edit, group })));
      isChanged = true;
    } else if (isFree || isSaid(own.characters, span, one.with)) trial.note(nameOf(path, i, all), 'unchanged');
    else trial.refuse();
  }
  return isChanged;
}

/** True when one other edit took out exactly these characters and put in this text, all of which stands. */
function isSaid(characters: readonly Character[], span: readonly Character[], put: string): boolean {
  const edit = span[0]?.died?.edit;
  if (edit === undefined || !span.every((character) => character.died?.edit === edit)) return false;
  const cut = characters.filter((character) => character.died?.edit === edit);
  const born = characters.filter((character) => character.born?.edit === edit);
  return cut.length === span.length && born.every((one) => one.died === null) && born.map((one) => one.text).join('') === put;
}
