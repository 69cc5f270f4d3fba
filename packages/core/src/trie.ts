/**
 * A persistent map from text to values: a 16-way hash trie with buckets, whose shape depends on its content alone.
 *
 * A subtree of at most `BUCKET_MAX` entries is one sorted bucket, a larger one a branch; so equal contents have equal
 * shapes, whatever the order of changes, and the digest of each node can be kept with it. Changing one of n entries copies
 * O(log n) nodes and leaves the old map as it was; its digest costs O(log n) hashes.
 *
 * Source: Bagwell 2001, "Ideal Hash Trees"; Merkle 1987 for the digests.
 */
import type { Sha256 } from './json.ts';
import { hashText } from './stamp.ts';

const BUCKET_MAX = 16;
const BITS = 4;
const DEPTH_MAX = 32 / BITS;

export type Trie<V> = { readonly size: number; readonly root: Node<V> };

type Node<V> = Bucket<V> | Branch<V>;
/** `texts`, of keys with their values, and `digest` are memos: a node is never changed otherwise. */
type Bucket<V> = {
  readonly keys: readonly string[];
  readonly values: readonly V[];
  readonly texts: (string | undefined)[];
  digest: string | undefined;
};
type Branch<V> = { readonly children: readonly Node<V>[]; readonly size: number; digest: string | undefined };

const EMPTY: Trie<never> = { size: 0, root: bucketOf([], [], []) };

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
  if (node === EMPTY.root) return emptyDigest(sha256);
  if (node.digest !== undefined) return node.digest;
  let text: string;
  if ('children' in node) {
    const { children } = node;
    text = `["${digestOf(children[0] as Node<V>, textOf, sha256)}`;
    for (let i = 1; i < children.length; i += 1) text += `","${digestOf(children[i] as Node<V>, textOf, sha256)}`;
    text += '"]';
  } else {
    const { keys, values, texts } = node;
    text = '{';
    for (let i = 0; i < keys.length; i += 1) {
      const entryText = texts[i] ?? `${JSON.stringify(keys[i])}:${textOf(values[i] as V)}`;
      texts[i] = entryText;
      text += i === 0 ? entryText : `,${entryText}`;
    }
    text += '}';
  }
  node.digest = sha256(text);
  return node.digest;
}

/** All empty maps share one node, so its digest is kept by the function that made it. */
let emptyMemo: { readonly of: Sha256; readonly digest: string } | undefined;

function emptyDigest(sha256: Sha256): string {
  if (emptyMemo?.of !== sha256) emptyMemo = { of: sha256, digest: sha256('{}') };
  return emptyMemo.digest;
}

function bucketOf<V>(keys: readonly string[], values: readonly V[], texts: (string | undefined)[]): Bucket<V> {
  return { keys, values, texts, digest: undefined };
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
    const texts = node.texts.slice();
    texts[index] = undefined;
    return bucketOf(node.keys, values, texts);
  }
  let at = node.keys.length;
  while (at > 0 && (node.keys[at - 1] as string) > key) at -= 1;
  const grown = bucketOf(inserted(node.keys, at, key), inserted(node.values, at, value), inserted(node.texts, at, undefined));
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
  return bucketOf(deleted(node.keys, index), deleted(node.values, index), deleted(node.texts, index));
}

function branchWith<V>(branch: Branch<V>, slot: number, child: Node<V>, size: number): Branch<V> {
  const children = branch.children.slice();
  children[slot] = child;
  return { children, size, digest: undefined };
}

function split<V>(bucket: Bucket<V>, depth: number): Node<V> {
  const children: Bucket<V>[] = [];
  for (let slot = 0; slot < 16; slot += 1) children.push(bucketOf<V>([], [], []));
  for (let i = 0; i < bucket.keys.length; i += 1) {
    const key = bucket.keys[i] as string;
    const child = children[(hashText(key) >>> (depth * BITS)) & 15] as Bucket<V>;
    (child.keys as string[]).push(key);
    (child.values as V[]).push(bucket.values[i] as V);
    child.texts.push(bucket.texts[i]);
  }
  return {
    children: children.map((child) =>
      child.keys.length > BUCKET_MAX && depth + 1 < DEPTH_MAX ? split(child, depth + 1) : child,
    ),
    size: bucket.keys.length,
    digest: undefined,
  };
}

function gather<V>(branch: Branch<V>): Bucket<V> {
  const entries = [...entriesOf(branch)].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return bucketOf(
    entries.map(([key]) => key),
    entries.map(([, value]) => value),
    entries.map(() => undefined),
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
