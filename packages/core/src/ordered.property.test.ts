import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { canonical } from './json.ts';
import type { Ordered } from './ordered.ts';
import {
  orderedAt,
  orderedDigest,
  orderedEntries,
  orderedFirst,
  orderedLast,
  orderedOf,
  orderedSize,
  orderedWith,
  orderedWithout,
} from './ordered.ts';
import { sha256, shuffled } from './testing/index.ts';

const text = (value: number): string => canonical(value);
const key = fc.oneof(
  fc.nat(60).map((i) => `k${i}`),
  fc.nat(40).map(String),
  fc.constantFrom('', '__proto__', 'constructor', 'a/b', 'é', '\ud83d\ude00', '\uffee'),
);
const changes = fc.array(fc.tuple(key, fc.option(fc.nat(3), { nil: undefined })), { maxLength: 120, size: 'max' });

type Change = readonly [string, number | undefined];

function applied(list: readonly Change[], start?: Ordered<number>): Ordered<number> {
  return list.reduce<Ordered<number>>(
    (map, [at, value]) => (value === undefined ? orderedWithout(map, at) : orderedWith(map, at, value)),
    start,
  );
}

function modelOf(list: readonly Change[]): [string, number][] {
  const model = new Map<string, number>();
  for (const [at, value] of list) {
    if (value === undefined) model.delete(at);
    else model.set(at, value);
  }
  return [...model].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Generated maps take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('ordered map', () => {
  test('[ORD1] it holds what a Map holds, in the order of the keys, from any key on', () => {
    fc.assert(
      fc.property(changes, key, (list, from) => {
        const model = modelOf(list);
        const map = applied(list);
        expect([...orderedEntries(map)]).toEqual(model);
        expect([...orderedEntries(map, from)]).toEqual(model.filter(([at]) => at >= from));
        expect(orderedSize(map)).toBe(model.length);
        expect(orderedFirst(map)).toEqual(model[0]);
        expect(orderedLast(map)).toEqual(model.at(-1));
        const plain = new Map(model);
        for (const at of [from, ...list.map(([one]) => one)]) if (orderedAt(map, at) !== plain.get(at)) throw new Error(at);
      }),
      { numRuns: 1500 },
    );
  });

  test('[ORD2] shape and digest depend on the content alone, not on how it came about', () => {
    fc.assert(
      fc.property(changes, fc.nat(), (list, seed) => {
        const map = applied(list);
        const model = modelOf(list);
        const [fresh, bulk] = [applied(shuffled(model, seed)), orderedOf(model)];
        for (const other of [fresh, bulk]) {
          expect(orderedDigest(other, text, sha256)).toBe(orderedDigest(map, text, sha256));
          expect(other).toEqual(map);
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('[ORD3] other contents have other digests, and digests kept along the way are right', () => {
    fc.assert(
      fc.property(changes, changes, (list, more) => {
        const map = applied(list);
        const before = orderedDigest(map, text, sha256);
        const after = applied(more, map);
        const isSame = canonical(modelOf([...list, ...more])) === canonical(modelOf(list));
        expect(orderedDigest(after, text, sha256) === before).toBe(isSame);
        expect(orderedDigest(after, text, sha256)).toBe(orderedDigest(orderedOf([...orderedEntries(after)]), text, sha256));
      }),
      { numRuns: 1000 },
    );
  });

  test('[ORD4] a change leaves the old map as it was, and no change is the same map', () => {
    fc.assert(
      fc.property(changes, key, (list, at) => {
        const map = applied(list);
        const before = canonical([...orderedEntries(map)]);
        orderedWithout(orderedWith(map, at, 99), at);
        expect(canonical([...orderedEntries(map)])).toBe(before);
        const value = orderedAt(map, at);
        expect(value === undefined ? orderedWithout(map, at) : orderedWith(map, at, value)).toBe(map);
      }),
      { numRuns: 1000 },
    );
  });

  test('[ORD5] a change copies few nodes: its digest costs few hashes, at the ends and in the middle', () => {
    const keys = Array.from({ length: 4096 }, (_, i) => String(i).padStart(16, '0'));
    const map = orderedOf(keys.map((at, i): [string, number] => [at, i]));
    orderedDigest(map, text, sha256);
    let hashes = 0;
    const counted = (given: string): string => {
      hashes += 1;
      return sha256(given);
    };
    for (const at of [...keys.filter((_, i) => i % 64 === 0), '9']) {
      orderedDigest(orderedWith(map, at, -1), text, counted);
      orderedDigest(orderedWithout(map, at), text, counted);
    }
    expect(hashes / 130).toBeLessThan(3 * Math.log2(4096));
  });

  test('[ORD2] entries out of order make no map', () => {
    for (const keys of [
      ['b', 'a'],
      ['a', 'a'],
      ['a', 'c', 'b'],
    ]) {
      expect(() => orderedOf(keys.map((at): [string, number] => [at, 0]))).toThrow(
        expect.objectContaining({ code: 'INVARIANT' }),
      );
    }
  });
});
