/**
 * Tombstones of dropped keys, kept until no base can predate them.
 *
 * Two generations instead of one queue: when everything in the older one lies at or below the horizon it is forgotten
 * whole. So at most the drops of two horizons are kept, and forgetting costs nothing per key.
 */
import type { Mark } from '../dot.ts';
import { decodeMark, encodeMark } from '../dot.ts';
import type { Json } from '../json.ts';
import { isJsonObject } from '../json.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieSorted, trieWith, trieWithout } from '../trie.ts';

/** `turned` is the revision at which the younger generation began. */
export type Graves = { readonly young: Trie<Mark>; readonly old: Trie<Mark>; readonly turned: number };

export const NO_GRAVES: Graves = { young: emptyTrie(), old: emptyTrie(), turned: 0 };

/** The mark of the drop of this key, `undefined` when there was none above the horizon. */
export function graveOf(graves: Graves, key: string): Mark | undefined {
  return trieAt(graves.young, key) ?? trieAt(graves.old, key);
}

export function withGrave(graves: Graves, key: string, mark: Mark, horizon: number): Graves {
  const isOldSpent = graves.turned <= horizon && mark.revision > graves.turned;
  if (isOldSpent) return { young: trieWith(emptyTrie<Mark>(), key, mark), old: graves.young, turned: mark.revision };
  return { ...graves, young: trieWith(graves.young, key, mark) };
}

export function withoutGrave(graves: Graves, key: string): Graves {
  const young = trieWithout(graves.young, key);
  const old = trieWithout(graves.old, key);
  return young === graves.young && old === graves.old ? graves : { ...graves, young, old };
}

/** Canonical JSON. O(n). */
export function encodeGraves(graves: Graves): string {
  return `{"old":${encodeTrie(graves.old)},"turned":${graves.turned},"young":${encodeTrie(graves.young)}}`;
}

export function decodeGraves(stored: Json | undefined): Graves {
  if (stored === undefined || !isJsonObject(stored)) return NO_GRAVES;
  return { young: decodeTrie(stored['young']), old: decodeTrie(stored['old']), turned: stored['turned'] as number };
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
