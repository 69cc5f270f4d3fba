/**
 * A persistent map from text to values: a 16-way hash trie with buckets, whose shape depends on its content alone.
 *
 * A subtree of at most `BUCKET_MAX` entries is one sorted bucket, a larger one a branch; so equal contents have equal
 * shapes, whatever the order of changes, and the digest of each node can be kept with it. Changing one of n entries copies
 * O(log n) nodes and leaves the old map as it was; its digest costs O(log n) hashes.
 *
 * Source: Bagwell 2001, "Ideal Hash Trees"; Merkle 1987 for the digests.
 */
import { canonical } from './json.ts';
import type { Sha256 } from './json.ts';
import { hashText } from './stamp.ts';

const BUCKET_MAX = 16;
const BITS = 4;
const DEPTH_MAX = 32 / BITS;

export type Trie<V> = { readonly size: number; readonly root: Node<V> };

type Node<V> = Bucket<V> | Branch<V>;
/**
 * Memos, but for which a node is never changed: `digest`, and `text`, of which it is the digest; while there is none, that of
 * the node before the last changes. So what did not change is copied in one piece, not looked up and written again.
 * `lengths` are those of the entries in that text: 0 of one that is not in it, below 0 of one that has changed since.
 */
type Bucket<V> = {
  readonly keys: readonly string[];
  readonly values: readonly V[];
  readonly lengths: number[];
  text: string;
  digest: string | undefined;
};
/** `stale` has a bit for each child that has changed since its digest was written to `text`. */
type Branch<V> = {
  readonly children: readonly Node<V>[];
  readonly size: number;
  stale: number;
  text: string;
  digest: string | undefined;
};

const EMPTY: Trie<never> = { size: 0, root: bucketOf([], [], [], '') };

export function emptyTrie<V>(): Trie<V> {
  return EMPTY;
}

/** The value at the key, or `undefined`. O(log n). */
export function trieAt<V>(trie: Trie<V>, key: string): V | undefined {
  let node = trie.root;
  if ('children' in node) {
    let hash = hashText(key);
    do {
      node = node.children[hash & 15] as Node<V>;
      hash >>>= BITS;
    } while ('children' in node);
  }
  const index = node.keys.indexOf(key);
  return index < 0 ? undefined : node.values[index];
}

/** The map with `value` at `key`. The same map when the value is identical. */
export function trieWith<V>(trie: Trie<V>, key: string, value: V): Trie<V> {
  const root = put(trie.root, key, value, 'children' in trie.root || trie.size >= BUCKET_MAX ? hashText(key) : 0, 0);
  return root === trie.root ? trie : { size: sizeOf(root), root };
}

/** The map without `key`. The same map when it was absent. */
export function trieWithout<V>(trie: Trie<V>, key: string): Trie<V> {
  const root = remove(trie.root, key, hashText(key));
  return root === trie.root ? trie : { size: sizeOf(root), root };
}

/** Every entry, in an order that depends on the content alone but means nothing. */
export function* trieEntries<V>(trie: Trie<V>): Generator<readonly [string, V]> {
  yield* entriesOf(trie.root);
}

/** Every entry, keys ascending by code unit. O(n log n). */
export function trieSorted<V>(trie: Trie<V>): readonly (readonly [string, V])[] {
  return [...trieEntries(trie)].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

/** Digest of the content. `textOf` must be the same function for one map all its life: texts and digests are kept. */
export function trieDigest<V>(trie: Trie<V>, textOf: (value: V) => string, sha256: Sha256): string {
  return digestOf(trie.root, textOf, sha256);
}

function digestOf<V>(node: Node<V>, textOf: (value: V) => string, sha256: Sha256): string {
  if (node.digest !== undefined) return node.digest;
  if (node === EMPTY.root) return emptyDigest(sha256);
  node.text = 'children' in node ? branchText(node, textOf, sha256) : bucketText(node, textOf);
  node.digest = sha256(node.text);
  return node.digest;
}

/** The digests of the children, of which those that did not change are taken from the text before. */
function branchText<V>(branch: Branch<V>, textOf: (value: V) => string, sha256: Sha256): string {
  const { children, text: known, stale } = branch;
  let text = '';
  let from = 0;
  for (let slot = 0; slot < children.length; slot += 1) {
    if ((stale & (1 << slot)) === 0) continue;
    const at = slot * DIGEST_STEP + DIGEST_AT;
    text += `${known.slice(from, at)}${digestOf(children[slot] as Node<V>, textOf, sha256)}`;
    from = at + DIGEST_CHARS;
  }
  branch.stale = 0;
  return text + known.slice(from);
}

/** Where the digest of a child stands in the text of a branch. */
const DIGEST_CHARS = 64;
const DIGEST_AT = 2;
const DIGEST_STEP = DIGEST_CHARS + 3;
const ALL_STALE = 0xffff;
const NO_DIGESTS = `["${Array.from({ length: 16 }, () => ' '.repeat(DIGEST_CHARS)).join('","')}"]`;

/** The entries, of which runs that did not change are taken from the text before; each stands there behind one character. */
function bucketText<V>({ keys, values, lengths, text: known }: Bucket<V>, textOf: (value: V) => string): string {
  let text = '{';
  let at = 0;
  for (let i = 0; i < keys.length;) {
    if (i > 0) text += ',';
    const from = at + 1;
    let length = lengths[i] as number;
    if (length > 0) {
      for (; length > 0; length = lengths[i] ?? 0) {
        at += 1 + length;
        i += 1;
      }
      text += known.slice(from, at);
    } else {
      const entry = `${canonical(keys[i] as string)}:${textOf(values[i] as V)}`;
      text += entry;
      at += spanOf(length);
      lengths[i] = entry.length;
      i += 1;
    }
  }
  return `${text}}`;
}

/** How much of a text an entry takes, with the character before it. */
function spanOf(length: number): number {
  return length === 0 ? 0 : 1 + Math.abs(length);
}

/** All empty maps share one node, so its digest is kept by the function that made it. */
let emptyMemo: { readonly of: Sha256; readonly digest: string } | undefined;

function emptyDigest(sha256: Sha256): string {
  if (emptyMemo?.of !== sha256) emptyMemo = { of: sha256, digest: sha256('{}') };
  return emptyMemo.digest;
}

function bucketOf<V>(keys: readonly string[], values: readonly V[], lengths: number[], text: string): Bucket<V> {
  return { keys, values, lengths, text, digest: undefined };
}

function sizeOf<V>(node: Node<V>): number {
  return 'children' in node ? node.size : node.keys.length;
}

function put<V>(node: Node<V>, key: string, value: V, hash: number, depth: number): Node<V> {
  if ('children' in node) {
    const slot = hash & 15;
    const child = node.children[slot] as Node<V>;
    const changed = put(child, key, value, hash >>> BITS, depth + 1);
    if (changed === child) return node;
    return branchWith(node, slot, changed, node.size + sizeOf(changed) - sizeOf(child));
  }
  const index = node.keys.indexOf(key);
  if (index >= 0) {
    if (node.values[index] === value) return node;
    const values = node.values.slice();
    values[index] = value;
    const lengths = node.lengths.slice();
    const length = lengths[index] as number;
    if (length > 0) lengths[index] = -length;
    return bucketOf(node.keys, values, lengths, node.text);
  }
  let at = node.keys.length;
  while (at > 0 && (node.keys[at - 1] as string) > key) at -= 1;
  const keys = inserted(node.keys, at, key);
  const grown = bucketOf(keys, inserted(node.values, at, value), inserted(node.lengths, at, 0), node.text);
  return grown.keys.length > BUCKET_MAX && depth < DEPTH_MAX ? split(grown, depth) : grown;
}

function remove<V>(node: Node<V>, key: string, hash: number): Node<V> {
  if ('children' in node) {
    const slot = hash & 15;
    const child = node.children[slot] as Node<V>;
    const changed = remove(child, key, hash >>> BITS);
    if (changed === child) return node;
    const next = branchWith(node, slot, changed, node.size - 1);
    return next.size <= BUCKET_MAX ? gather(next) : next;
  }
  const index = node.keys.indexOf(key);
  if (index < 0) return node;
  const { keys, values, lengths, text } = node;
  const from = lengths.slice(0, index).reduce((sum, length) => sum + spanOf(length), 0);
  const rest = text.slice(0, from) + text.slice(from + spanOf(lengths[index] as number));
  return bucketOf(deleted(keys, index), deleted(values, index), deleted(lengths, index), rest);
}

function branchWith<V>(branch: Branch<V>, slot: number, child: Node<V>, size: number): Branch<V> {
  const children = branch.children.slice();
  children[slot] = child;
  return { children, size, stale: branch.stale | (1 << slot), text: branch.text, digest: undefined };
}

function split<V>(bucket: Bucket<V>, depth: number): Branch<V> {
  const children: Bucket<V>[] = [];
  for (let slot = 0; slot < 16; slot += 1) children.push(bucketOf<V>([], [], [], ''));
  for (let i = 0; i < bucket.keys.length; i += 1) {
    const key = bucket.keys[i] as string;
    const child = children[(hashText(key) >>> (depth * BITS)) & 15] as Bucket<V>;
    (child.keys as string[]).push(key);
    (child.values as V[]).push(bucket.values[i] as V);
    child.lengths.push(0);
  }
  return {
    children: children.map((child) => {
      if (child.keys.length === 0) return EMPTY.root;
      return child.keys.length > BUCKET_MAX && depth + 1 < DEPTH_MAX ? split(child, depth + 1) : child;
    }),
    size: bucket.keys.length,
    stale: ALL_STALE,
    text: NO_DIGESTS,
    digest: undefined,
  };
}

function gather<V>(branch: Branch<V>): Bucket<V> {
  const entries = [...entriesOf(branch)].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return bucketOf(
    entries.map(([key]) => key),
    entries.map(([, value]) => value),
    entries.map(() => 0),
    '',
  );
}

function* entriesOf<V>(node: Node<V>): Generator<readonly [string, V]> {
  if ('children' in node) {
    for (const child of node.children) yield* entriesOf(child);
    return;
  }
  for (let i = 0; i < node.keys.length; i += 1) yield [node.keys[i] as string, node.values[i] as V];
}

function inserted<T>(items: readonly T[], at: number, item: T): T[] {
  const copy = items.slice(0, at);
  copy.push(item);
  for (let i = at; i < items.length; i += 1) copy.push(items[i] as T);
  return copy;
}

function deleted<T>(items: readonly T[], at: number): T[] {
  const copy = items.slice(0, at);
  for (let i = at + 1; i < items.length; i += 1) copy.push(items[i] as T);
  return copy;
}
