import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { canonical } from './json.ts';
import { sha256, shuffled } from './testing/index.ts';
import { emptyTrie, trieAt, trieDigest, trieEntries, trieSorted, trieWith, trieWithout } from './trie.ts';
import type { Trie } from './trie.ts';

const text = (value: number): string => canonical(value);
/** Enough keys that buckets split and gather again. */
const key = fc.oneof(
  fc.nat(60).map((i) => `k${i}`),
  fc.nat(40).map(String),
  fc.constantFrom('__proto__', 'constructor', 'a/b', 'é'),
);
const changes = fc.array(fc.tuple(key, fc.option(fc.nat(3), { nil: undefined })), { maxLength: 160, size: 'max' });

function applied(list: readonly (readonly [string, number | undefined])[], start: Trie<number> = emptyTrie()): Trie<number> {
  return list.reduce<Trie<number>>(
    (trie, [at, value]) => (value === undefined ? trieWithout(trie, at) : trieWith(trie, at, value)),
    start,
  );
}

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('trie', () => {
  test('[TRI1] shape and digest depend on the content alone, not on how it came about', () => {
    fc.assert(
      fc.property(changes, fc.nat(), (list, seed) => {
        const trie = applied(list);
        const fresh = applied(shuffled([...trieEntries(trie)], seed));
        expect(trieDigest(fresh, text, sha256)).toBe(trieDigest(trie, text, sha256));
        expect([...trieEntries(fresh)]).toEqual([...trieEntries(trie)]);
      }),
      { numRuns: 1500 },
    );
  });

  test('[TRI2] it does what a Map does', () => {
    fc.assert(
      fc.property(changes, (list) => {
        const model = new Map<string, number>();
        for (const [at, value] of list) {
          if (value === undefined) model.delete(at);
          else model.set(at, value);
        }
        const trie = applied(list);
        expect(trie.size).toBe(model.size);
        expect(trieSorted(trie)).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)));
        for (const [at] of list) if (trieAt(trie, at) !== model.get(at)) throw new Error(`another value at ${at}`);
      }),
      { numRuns: 1500 },
    );
  });

  test('[TRI3] other contents have other digests, and digests kept along the way are right', () => {
    fc.assert(
      fc.property(changes, changes, (list, more) => {
        const trie = applied(list);
        const before = trieDigest(trie, text, sha256);
        const after = applied(more, trie);
        const isSame = canonical(trieSorted(after)) === canonical(trieSorted(trie));
        expect(trieDigest(after, text, sha256) === before).toBe(isSame);
        expect(trieDigest(applied([...trieEntries(after)]), text, sha256)).toBe(trieDigest(after, text, sha256));
      }),
      { numRuns: 1000 },
    );
  });

  test('[TRI4] a change leaves the old map as it was, and no change is the same map', () => {
    fc.assert(
      fc.property(changes, key, (list, at) => {
        const trie = applied(list);
        const before = canonical(trieSorted(trie));
        trieWithout(trieWith(trie, at, 99), at);
        expect(canonical(trieSorted(trie))).toBe(before);
        const value = trieAt(trie, at);
        expect(value === undefined ? trieWithout(trie, at) : trieWith(trie, at, value)).toBe(trie);
      }),
      { numRuns: 1000 },
    );
  });

  test('[TRI3] the digest of an empty map is that of the function it is asked with', () => {
    const empty = emptyTrie<number>();
    expect(trieDigest(empty, text, () => 'one')).toBe('one');
    expect(trieDigest(empty, text, () => 'two')).toBe('two');
    expect(trieDigest(empty, text, sha256)).toBe(sha256('{}'));
  });
});
