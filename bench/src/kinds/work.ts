/**
 * The rows of the speed table: one kind of change each, in the words of oplus, of Yjs and of Automerge.
 *
 * Step `i` means the same to all of them, and after the same steps all hold the same value: a test compares them.
 */
import type { Counter, Doc } from '@automerge/automerge';
import * as Automerge from '@automerge/automerge';
import { cas, counter, log, lww, map, set, text } from '@oplus/core';
import type { Field, Json, JsonObject } from '@oplus/core';
import type * as Y from 'yjs';
import { z } from 'zod';

/** A document that is changed step by step, each step a transaction of its own. */
export interface Peer {
  /** Makes what stands before the first step, where there is something. */
  open?(): void;
  step(i: number): void;
  json(): Json;
}

export type Work = {
  readonly name: string;
  /** What the state holds before the first step and after the last; `N` is the number of steps. */
  readonly state: string;
  /** The field `f`. */
  field(steps: number): Field;
  /** The verbs of step `i` on `f`. */
  intent(i: number): JsonObject;
  /** What stands before the first step, in patches of at most 64 operations. */
  opening?(steps: number): readonly JsonObject[];
  /** The same in Yjs. */
  yjs(document: Y.Doc, steps: number): Peer;
  /** The same in Automerge, with `done` of the steps behind it, made in one change: it is measured from there. */
  automerge(steps: number, done: number): Peer;
};

/** A short text, as agents write them. */
const TEXT = z.string().max(32);

/** Keys or entries before the first step of `overwrite`. */
const KEYS_BEFORE = (steps: number): number => steps;

const mapSet: Work = {
  name: 'map set, distinct keys',
  state: 'from 0 to N keys',
  field: (steps) => map(cas(TEXT), { cap: steps }),
  intent: (i) => ({ at: { [keyOf(i)]: { set: valueOf(i) } } }),
  yjs: (document) => yjsMap(document, (items, i) => items.set(keyOf(i), valueOf(i))),
  automerge: (_, done) => automergeMap(upTo(done), (items, i) => (items[keyOf(i)] = valueOf(i))),
};

const overwrite: Work = {
  name: 'overwrite one key',
  state: 'N keys throughout',
  field: (steps) => map(lww(TEXT), { cap: KEYS_BEFORE(steps) }),
  intent: (i) => ({ at: { [keyOf(0)]: { set: valueOf(i) } } }),
  opening: (steps) =>
    chunks(upTo(KEYS_BEFORE(steps))).map((chunk) => ({
      at: Object.fromEntries(chunk.map((i) => [keyOf(i), { set: valueOf(i) }])),
    })),
  yjs: (document, steps) => ({
    ...yjsMap(document, (items, i) => items.set(keyOf(0), valueOf(i))),
    open: () =>
      document.transact(() => {
        for (const i of upTo(KEYS_BEFORE(steps))) document.getMap('f').set(keyOf(i), valueOf(i));
      }),
  }),
  automerge: (steps) => {
    const items = Object.fromEntries(upTo(KEYS_BEFORE(steps)).map((i) => [keyOf(i), valueOf(i)]));
    return automergePeer<Items>({ f: items }, (state, i) => (state.f[keyOf(0)] = valueOf(i)));
  },
};

const increment: Work = {
  name: 'counter +1',
  state: 'one number',
  field: () => counter(),
  intent: () => ({ inc: 1 }),
  // Yjs has no counter: each client counts in a slot of its own, so that no increment is lost.
  yjs: (document) => {
    const slots = document.getMap<number>('f');
    return {
      step: () => document.transact(() => slots.set('w0', (slots.get('w0') ?? 0) + 1)),
      json: () => [...slots.values()].reduce((sum, slot) => sum + slot, 0),
    };
  },
  automerge: (_, done) =>
    automergePeer<{ f: Counter }>({ f: new Automerge.Counter(done) }, (state) => state.f.increment(1), Number),
};

const setAdd: Work = {
  name: 'set add',
  state: 'from 0 to N values',
  field: (steps) => set(TEXT, { cap: steps }),
  intent: (i) => ({ add: [valueOf(i)] }),
  yjs: (document) => {
    const items = document.getMap<boolean>('f');
    return { step: (i) => document.transact(() => items.set(valueOf(i), true)), json: () => [...items.keys()].sort() };
  },
  automerge: (_, done) =>
    automergePeer<{ f: Record<string, boolean> }>(
      { f: Object.fromEntries(upTo(done).map((i) => [valueOf(i), true])) },
      (state, i) => (state.f[valueOf(i)] = true),
      (items) => Object.keys(items as object).sort(),
    ),
};

const logAppend: Work = {
  name: 'log append',
  state: 'from 0 to N entries',
  field: (steps) => log(TEXT, { keep: steps }),
  intent: (i) => ({ append: [valueOf(i)] }),
  yjs: (document) => {
    const items = document.getArray<string>('f');
    return { step: (i) => document.transact(() => items.push([valueOf(i)])), json: () => items.toArray() };
  },
  automerge: (_, done) => automergePeer<{ f: string[] }>({ f: upTo(done).map(valueOf) }, (state, i) => state.f.push(valueOf(i))),
};

const textAppend: Work = {
  name: 'text append',
  state: 'from 0 to N characters',
  field: (steps) => text({ charsMax: steps }),
  intent: (i) => ({ append: letterOf(i) }),
  yjs: (document) => {
    const letters = document.getText('f');
    return { step: (i) => document.transact(() => letters.insert(letters.length, letterOf(i))), json: () => letters.toString() };
  },
  automerge: (_, done) =>
    automergePeer<{ f: string }>({ f: upTo(done).map(letterOf).join('') }, (state, i) =>
      Automerge.splice(state, ['f'], state.f.length, 0, letterOf(i)),
    ),
};

/** Agents cannot count characters: they quote the word behind which they put another. The peers are told the place. */
const textInsert: Work = {
  name: 'text insert, random place',
  state: 'from 64 to 64 + N short words',
  field: (steps) => text({ charsMax: 8 * (steps + WINDOW) }),
  intent: (i) => ({ replace: { find: wordOf(anchorOf(i)), with: wordOf(anchorOf(i)) + wordOf(i + WINDOW) } }),
  opening: () => [{ append: OPENING }],
  yjs: (document, steps) => {
    const { places } = insertedUpTo(steps);
    const letters = document.getText('f');
    return {
      open: () => letters.insert(0, OPENING),
      step: (i) => document.transact(() => letters.insert(places[i] as number, wordOf(i + WINDOW))),
      json: () => letters.toString(),
    };
  },
  automerge: (steps, done) => {
    const { places } = insertedUpTo(steps);
    return automergePeer<{ f: string }>({ f: insertedUpTo(done).text }, (state, i) =>
      Automerge.splice(state, ['f'], places[i] as number, 0, wordOf(i + WINDOW)),
    );
  },
};

export const WORKS: readonly Work[] = [mapSet, overwrite, increment, setAdd, logAppend, textAppend, textInsert];

/** So many inserts may be of one round: each stands behind another word, and all these words are of earlier rounds. */
const WINDOW = 64;

/** The number of the word behind which step `i` puts the word `i + WINDOW`. */
function anchorOf(i: number): number {
  const window = i - (i % WINDOW);
  // A step that shares no factor with the number of words there are, so that no word is taken twice.
  return ((i % WINDOW) * 7919 + window * 31) % (window + WINDOW);
}

function wordOf(number: number): string {
  return `(${number})`;
}

const OPENING = upTo(WINDOW).map(wordOf).join('');

/** The text after so many steps, and the place of each. O(steps x length). */
function insertedUpTo(steps: number): { readonly text: string; readonly places: readonly number[] } {
  let inserted = OPENING;
  const places = upTo(steps).map((i) => {
    const anchor = wordOf(anchorOf(i));
    const place = inserted.indexOf(anchor) + anchor.length;
    inserted = inserted.slice(0, place) + wordOf(i + WINDOW) + inserted.slice(place);
    return place;
  });
  return { text: inserted, places };
}

function letterOf(i: number): string {
  return String.fromCharCode(0x61 + (i % 26));
}

type Items = { f: Record<string, string> };

function keyOf(i: number): string {
  return `key-${i}`;
}

function valueOf(i: number): string {
  return `value ${i}`;
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i);
}

function chunks(all: readonly number[]): readonly (readonly number[])[] {
  return upTo(Math.ceil(all.length / 64)).map((chunk) => all.slice(chunk * 64, chunk * 64 + 64));
}

function yjsMap(document: Y.Doc, change: (items: Y.Map<string>, i: number) => void): Peer {
  const items = document.getMap<string>('f');
  return { step: (i) => document.transact(() => change(items, i)), json: () => items.toJSON() };
}

function automergeMap(done: readonly number[], change: (items: Items['f'], i: number) => void): Peer {
  const items = Object.fromEntries(done.map((i) => [keyOf(i), valueOf(i)]));
  return automergePeer<Items>({ f: items }, (state, i) => change(state.f, i));
}

function automergePeer<T extends { f: unknown }>(
  start: T,
  change: (state: T, i: number) => void,
  jsonOf: (value: unknown) => Json = (value) => value as Json,
): Peer {
  let document: Doc<T> = Automerge.from(start as Record<string, unknown>) as Doc<T>;
  return {
    step: (i) => {
      document = Automerge.change(document, (state) => {
        change(state as T, i);
      });
    },
    json: () => jsonOf(document.f),
  };
}
