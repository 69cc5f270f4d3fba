/**
 * Tombstones of dropped keys, kept until no base can predate them, and never more than a fixed number.
 *
 * Two generations instead of one queue: when everything in the older one lies at or below the horizon, or the younger one
 * is full, the older is forgotten whole. `floor` is the newest revision of what was forgotten while a base could still
 * predate it: a view older than that is treated as if it had missed a drop of any key that is not there. So memory is
 * bounded whatever agents drop, and what is given up is a few refusals of old views, never of the newest, never a wrong answer.
 */
import type { Mark } from '../dot.ts';
import { decodeMark, encodeMark } from '../dot.ts';
import type { Json, Sha256 } from '../json.ts';
import { isJsonObject } from '../json.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieSorted, trieWith, trieWithout } from '../trie.ts';

/** What one tombstone holds: the mark of a drop, or those of removes by several agents, the newest last. */
type Grave = Mark | readonly Mark[];

/** `turned` is the revision at which the younger generation began. */
export type Graves<G extends Grave = Mark> = {
  readonly young: Trie<G>;
  readonly old: Trie<G>;
  readonly turned: number;
  readonly floor: number;
};

export const NO_GRAVES: Graves<never> = { young: emptyTrie(), old: emptyTrie(), turned: 0, floor: 0 };

/** Most tombstones in one generation, beside those that come in the very round that fills it. */
export const GRAVES_MAX = 1024;

/** The tombstone of this key, or the mark of what may have been one; `undefined` when no base can predate a drop of it. */
export function graveOf<G extends Grave>(graves: Graves<G>, key: string): G | Mark | undefined {
  const known = trieAt(graves.young, key) ?? trieAt(graves.old, key);
  if (known !== undefined || graves.floor === 0) return known;
  return { agent: '', n: 0, revision: graves.floor };
}

/** The tombstones with one more, or another one of this key. */
export function withGrave<G extends Grave>(graves: Graves<G>, key: string, grave: G, horizon: number): Graves<G> {
  const { revision } = isList(grave) ? (grave.at(-1) as Mark) : grave;
  const isOldSpent = graves.turned <= horizon && revision > graves.turned;
  // Not twice in one round, or the floor would rise above the newest view, and one agent could keep all others out.
  const isFull = graves.young.size >= GRAVES_MAX && revision > graves.turned;
  if (!isOldSpent && !isFull) return { ...graves, young: trieWith(graves.young, key, grave) };
  const floor = isOldSpent || graves.old.size === 0 ? graves.floor : graves.turned;
  return { young: trieWith(emptyTrie<G>(), key, grave), old: graves.young, turned: revision, floor };
}

/** The tombstones without that of a key that stands again. */
export function withoutGrave<G extends Grave>(graves: Graves<G>, key: string): Graves<G> {
  const young = trieWithout(graves.young, key);
  const old = trieWithout(graves.old, key);
  return young === graves.young && old === graves.old ? graves : { ...graves, young, old };
}

/** Canonical JSON. O(n). */
export function encodeGraves(graves: Graves<Grave>): string {
  return `{"floor":${graves.floor},"old":${encodeMarks(graves.old)},"turned":${graves.turned},"young":${encodeMarks(graves.young)}}`;
}

/** Inverse of `encodeGraves`. */
export function decodeGraves<G extends Grave = Mark>(stored: Json | undefined): Graves<G> {
  if (stored === undefined || !isJsonObject(stored)) return NO_GRAVES;
  return {
    young: decodeMarks(stored['young']),
    old: decodeMarks(stored['old']),
    turned: stored['turned'] as number,
    floor: stored['floor'] as number,
  };
}

/** Digest of all that `encodeGraves` writes. Cost: that of what changed. */
export function gravesDigest(graves: Graves<Grave>, sha256: Sha256): string {
  return `"${trieDigest(graves.young, encodeGrave, sha256)}","${trieDigest(graves.old, encodeGrave, sha256)}",${graves.turned},${graves.floor}`;
}

/** Canonical JSON of tombstones by key. O(n log n). */
export function encodeMarks(trie: Trie<Grave>): string {
  return `{${trieSorted(trie)
    .map(([key, grave]) => `${JSON.stringify(key)}:${encodeGrave(grave)}`)
    .join()}}`;
}

/** Inverse of `encodeMarks`. */
export function decodeMarks<G extends Grave = Mark>(stored: Json | undefined): Trie<G> {
  let trie = emptyTrie<G>();
  if (stored === undefined || !isJsonObject(stored)) return trie;
  for (const [key, value] of Object.entries(stored)) {
    const grave = decodeGrave(value);
    if (grave !== undefined) trie = trieWith(trie, key, grave as G);
  }
  return trie;
}

function isList(grave: Grave): grave is readonly Mark[] {
  return Array.isArray(grave);
}

function encodeGrave(grave: Grave): string {
  return isList(grave) ? `[${grave.map(encodeMark).join()}]` : encodeMark(grave);
}

/** A list of marks holds lists, a mark begins with a name. */
function decodeGrave(stored: Json): Grave | undefined {
  if (!Array.isArray(stored) || !Array.isArray(stored[0])) return decodeMark(stored);
  return (stored as readonly Json[]).flatMap((mark) => decodeMark(mark) ?? []);
}
