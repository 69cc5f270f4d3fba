/**
 * What one operation costs as its field grows: microseconds a seal of one proposal with one operation, by size of the state.
 *
 * The field is filled to the size first, and the operations keep it there. A kind whose seals cost O(log n) takes a few times
 * as long at a thousand times the size; one that walks its field takes hundreds of times as long.
 */
import { canonical, cas, invariant, loadState, log, lww, map, records, set, stateJson, text } from '@oplus/core';
import type { Field, Json, JsonObject } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { z } from 'zod';

import { openDrive } from '../drive.ts';
import type { Drive } from '../drive.ts';
import { createRandom } from '../random.ts';
import { ratiosOf, spreadOf } from './spread.ts';
import type { Spread } from './spread.ts';

export const SIZES: readonly number[] = [1_000, 10_000, 100_000, 1_000_000];

/** A kind that holds many things. `count` is how many of them the field holds. */
export type Collection = {
  readonly name: string;
  /** What the measured operation does. */
  readonly operation: string;
  /** JSON bytes that one thing adds to the state. */
  readonly bytesEach: number;
  field(count: number): Field;
  /** Puts the things from `from` on, at most 64. */
  fill(from: number, count: number): JsonObject;
  /** The `i`-th measured operation; `pick` is the number of a thing that is there. */
  step(i: number, pick: number, count: number): JsonObject;
};

const TEXT = z.string().max(32);

export const COLLECTIONS: readonly Collection[] = [
  {
    name: 'map of cas',
    operation: 'set a random key',
    bytesEach: 26,
    field: (count) => map(cas(TEXT), { cap: count }),
    fill: (from, count) => ({ at: keyed(from, count, (i) => ({ set: textOf(i) })) }),
    step: (i, pick) => ({ at: { [keyOf(pick)]: { set: textOf(i) } } }),
  },
  {
    name: 'records',
    operation: 'patch one of two cells of a random row',
    bytesEach: 59,
    field: (count) => records({ title: lww(TEXT), note: cas(TEXT) }, { cap: count }),
    fill: (from, count) => ({ put: keyed(from, count, (i) => ({ title: { set: textOf(i) }, note: { set: textOf(i) } })) }),
    step: (i, pick) => ({ patch: { [keyOf(pick)]: { note: { set: textOf(i) } } } }),
  },
  {
    name: 'set',
    operation: 'add a value, or remove it again',
    bytesEach: 16,
    field: (count) => set(TEXT, { cap: count + 1 }),
    fill: (from, count) => ({ add: numbers(from, count).map(textOf) }),
    step: (i, _, count) => ({ [i % 2 === 0 ? 'add' : 'remove']: [textOf(count + (i >> 1))] }),
  },
  {
    name: 'log',
    operation: 'append to a full log: the oldest entry falls off',
    bytesEach: 16,
    field: (count) => log(TEXT, { keep: count }),
    fill: (from, count) => ({ append: numbers(from, count).map(textOf) }),
    step: (i) => ({ append: [textOf(i)] }),
  },
  {
    name: 'text',
    operation: 'replace a random word, or put it back',
    bytesEach: 9,
    field: (count) => text({ charsMax: 9 * count }),
    fill: (from, count) => ({ append: numbers(from, count).map(wordOf).join('') }),
    step: (i, _, count) => {
      const word = wordOf(((i >> 1) * 7919) % count);
      const marked = word.replace('(', '[');
      return { replace: i % 2 === 0 ? { find: word, with: marked } : { find: marked, with: word } };
    },
  },
];

export type SizeRow = {
  readonly kind: string;
  readonly operation: string;
  /** Canonical JSON of the state, by size. */
  readonly bytes: readonly number[];
  /** The same after the measured operations. */
  readonly bytesAfter: readonly number[];
  readonly micros: readonly Spread[];
  /** Of the largest size over the smallest, by repetition. */
  readonly growth: Spread;
};

/** Measures `seals` seals of each collection at each size, sizes in turn, `repeats` times. `collect` is called before each. */
export function measureSizes(
  collections: readonly Collection[],
  {
    sizes,
    seals,
    repeats,
    collect,
  }: { readonly sizes: readonly number[]; readonly seals: number; readonly repeats: number; readonly collect: () => void },
): readonly SizeRow[] {
  return collections.map((collection) => {
    const grounds = sizes.map((size) => openGround(collection, size));
    const bytes = grounds.map((ground) => ground.bytes());
    for (const ground of grounds) ground.microsOf(seals);
    const micros = grounds.map((): number[] => []);
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      for (const [at, ground] of grounds.entries()) {
        collect();
        micros[at]?.push(ground.microsOf(seals));
      }
    }
    return {
      kind: collection.name,
      operation: collection.operation,
      bytes,
      bytesAfter: grounds.map((ground) => ground.bytes()),
      micros: micros.map(spreadOf),
      growth: spreadOf(ratiosOf(micros.at(-1) ?? [], micros[0] ?? [])),
    };
  });
}

interface Ground {
  bytes(): number;
  microsOf(seals: number): number;
}

/** A state of about so many bytes, and the measured operations on it. */
function openGround(collection: Collection, size: number): Ground {
  const count = Math.max(1, Math.round(size / collection.bytesEach));
  const schema = loadState({ name: 'size', version: 1, fields: { f: collection.field(count) } }, sha256);
  const drive = openDrive(schema, 1);
  for (let from = 0; from < count; from += FILL_MAX) sealOne(drive, collection.fill(from, Math.min(FILL_MAX, count - from)));
  const random = createRandom(1, count);
  let i = 0;
  return {
    bytes: () => canonical(stateJson(drive.space) as Json).length,
    microsOf: (seals) => {
      let ms = 0;
      for (let done = 0; done < seals; done += 1) {
        ms += sealOne(drive, collection.step(i, random.below(count), count));
        i += 1;
      }
      return (ms * 1000) / seals;
    },
  };
}

/** Operations of one patch: half of what a patch may hold, as a row may count for two. */
const FILL_MAX = 32;

function sealOne(drive: Drive, intent: JsonObject): number {
  const { sealMs, sealed } = drive.round([{ agent: 0, patch: { f: intent } }]);
  invariant(sealed.decided[0]?.verdict.kind === 'committed', 'the operations fit');
  return sealMs;
}

function numbers(from: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

function keyed(from: number, count: number, change: (i: number) => Json): JsonObject {
  return Object.fromEntries(numbers(from, count).map((i) => [keyOf(i), change(i)]));
}

function keyOf(i: number): string {
  return `k${String(i).padStart(6, '0')}`;
}

function wordOf(i: number): string {
  return `(${String(i).padStart(7, '0')})`;
}

function textOf(i: number): string {
  return `value ${String(i).padStart(7, '0')}`;
}
