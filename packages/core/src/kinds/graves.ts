/**
 * Tombstones of dropped keys, kept until no base can predate them, and never more than a fixed number.
 *
 * Two generations instead of one queue: when everything in the older one lies at or below the horizon, or the younger one
 * is full, the older is forgotten whole. `floor` is the newest revision of what was forgotten while a base could still
 * predate it: a view older than that is treated as if it had missed a drop of any key that is not there. So memory is
 * bounded whatever agents drop, and what is given up is a few refusals of old views, never a wrong answer.
 */
import type { Mark } from '../dot.ts';
import { decodeMark, encodeMark } from '../dot.ts';
import type { Json, Sha256 } from '../json.ts';
import { isJsonObject } from '../json.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieSorted, trieWith, trieWithout } from '../trie.ts';

/** `turned` is the revision at which the younger generation began. */
export type Graves = { readonly young: Trie<Mark>; readonly old: Trie<Mark>; readonly turned: number; readonly floor: number };

export const NO_GRAVES: Graves = { young: emptyTrie(), old: emptyTrie(), turned: 0, floor: 0 };

/** Most tombstones in one generation. */
export const GRAVES_MAX = 1024;

/** The mark of the drop of this absent key, or of what may have been one; `undefined` when no base can predate a drop of it. */
export function graveOf(graves: Graves, key: string): Mark | undefined {
  const known = trieAt(graves.young, key) ?? trieAt(graves.old, key);
  if (known !== undefined || graves.floor === 0) return known;
  return { agent: '', n: 0, revision: graves.floor };
}

/** The tombstones with one more. */
export function withGrave(graves: Graves, key: string, mark: Mark, horizon: number): Graves {
  const isOldSpent = graves.turned <= horizon && mark.revision > graves.turned;
  const isFull = graves.young.size >= GRAVES_MAX;
  if (!isOldSpent && !isFull) return { ...graves, young: trieWith(graves.young, key, mark) };
  const floor = isOldSpent || graves.old.size === 0 ? graves.floor : graves.turned;
  return { young: trieWith(emptyTrie<Mark>(), key, mark), old: graves.young, turned: mark.revision, floor };
}

/** The tombstones without that of a key that stands again. */
export function withoutGrave(graves: Graves, key: string): Graves {
  const young = trieWithout(graves.young, key);
  const old = trieWithout(graves.old, key);
  return young === graves.young && old === graves.old ? graves : { ...graves, young, old };
}

/** Canonical JSON. O(n). */
export function encodeGraves(graves: Graves): string {
  return `{"floor":${graves.floor},"old":${encodeTrie(graves.old)},"turned":${graves.turned},"young":${encodeTrie(graves.young)}}`;
}

/** Inverse of `encodeGraves`. */
export function decodeGraves(stored: Json | undefined): Graves {
  if (stored === undefined || !isJsonObject(stored)) return NO_GRAVES;
  return {
    young: decodeTrie(stored['young']),
    old: decodeTrie(stored['old']),
    turned: stored['turned'] as number,
    floor: stored['floor'] as number,
  };
}

/** Digest of all that `encodeGraves` writes. Cost: that of what changed. */
export function gravesDigest(graves: Graves, sha256: Sha256): string {
  return `"${trieDigest(graves.young, encodeMark, sha256)}","${trieDigest(graves.old, encodeMark, sha256)}",${graves.turned},${graves.floor}`;
}

function encodeTrie(trie: Trie<Mark>): string {
  return `{${trieSorted(trie)
    .map(([key, mark]) => `${JSON.stringify(key)}:${encodeMark(mark)}`)
    .join()}}`;
}

function decodeTrie(stored: Json | undefined): Trie<Mark> {
  let trie = emptyTrie<Mark>();
  if (stored === undefined || !isJsonObject(stored)) return trie;
  for (const [key, value] of Object.entries(stored)) {
    const mark = decodeMark(value);
    if (mark !== undefined) trie = trieWith(trie, key, mark);
  }
  return trie;
}
