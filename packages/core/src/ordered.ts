/**
 * A persistent map from text to values, kept in the order of its keys: a treap whose priorities are hashes of the keys.
 *
 * The key of greatest hash stands on top and what is below is split by it, so the shape depends on the content alone,
 * whatever the order of changes, and the digest of each node can be kept with it. Changing one of n entries copies O(log n)
 * nodes and leaves the old map as it was; its digest costs O(log n) hashes. All is expected over the hashes of the keys:
 * whoever picks keys for their hashes can make a chain of them, which is slow and never wrong, so nothing here recurs.
 * SPEC: ORD1-ORD6.
 *
 * Source: Seidel and Aragon 1996, "Randomized Search Trees"; Merkle 1987 for the digests.
 */
import { invariant } from './error.ts';
import type { Sha256 } from './json.ts';
import { hashText } from './stamp.ts';

/** Keys compare by code unit. The empty map is `undefined`. */
export type Ordered<V> = Node<V> | undefined;

/** How many entries there are. O(1). */
export function orderedSize<V>(map: Ordered<V>): number {
  return map?.size ?? 0;
}

/** The value at the key, or `undefined`. O(log n). */
export function orderedAt<V>(map: Ordered<V>, key: string): V | undefined {
  let node = map;
  while (node !== undefined && node.item.key !== key) node = key < node.item.key ? node.left : node.right;
  return node?.item.value;
}

/** The map with `value` at `key`. The same map when the value is identical. */
export function orderedWith<V>(map: Ordered<V>, key: string, value: V): Ordered<V> {
  const item: Item<V> = { key, rank: hashText(key), value, text: undefined };
  const above: Node<V>[] = [];
  let node = map;
  while (node !== undefined && isAbove(node.item, item)) {
    above.push(node);
    node = key < node.item.key ? node.left : node.right;
  }
  if (node === undefined || node.item.key !== key) {
    const [left, right] = split(node, key);
    return under(above, key, nodeOf(left, item, right));
  }
  return node.item.value === value ? map : under(above, key, nodeOf(node.left, item, node.right));
}

/** The map without `key`. The same map when it was absent. */
export function orderedWithout<V>(map: Ordered<V>, key: string): Ordered<V> {
  const above: Node<V>[] = [];
  let node = map;
  while (node !== undefined && node.item.key !== key) {
    above.push(node);
    node = key < node.item.key ? node.left : node.right;
  }
  return node === undefined ? map : under(above, key, merged(node.left, node.right));
}

/** The entry of the least key. O(log n). */
export function orderedFirst<V>(map: Ordered<V>): readonly [string, V] | undefined {
  let node = map;
  while (node?.left !== undefined) node = node.left;
  return node === undefined ? undefined : [node.item.key, node.item.value];
}

/** The entry of the greatest key. O(log n). */
export function orderedLast<V>(map: Ordered<V>): readonly [string, V] | undefined {
  let node = map;
  while (node?.right !== undefined) node = node.right;
  return node === undefined ? undefined : [node.item.key, node.item.value];
}

/** The entries, keys ascending, from the first key that is at least `from`. O(log n) to the first, then O(1) each. */
export function* orderedEntries<V>(map: Ordered<V>, from: string = ''): Generator<readonly [string, V]> {
  const due: Node<V>[] = [];
  let node = map;
  while (node !== undefined || due.length > 0) {
    for (; node !== undefined; node = node.item.key < from ? node.right : node.left) if (node.item.key >= from) due.push(node);
    const next = due.pop();
    if (next === undefined) return;
    yield [next.item.key, next.item.value];
    node = next.right;
  }
}

/** The map of these entries. Throws `INVARIANT` unless their keys ascend. O(n). */
export function orderedOf<V>(entries: Iterable<readonly [string, V]>): Ordered<V> {
  /** The right edge of what is built, top first; each still waits for what comes to its right. */
  const edge: { readonly left: Ordered<V>; readonly item: Item<V> }[] = [];
  const closed = (item: Item<V> | undefined): Ordered<V> => {
    let right: Ordered<V>;
    for (let last = edge.at(-1); last !== undefined && (item === undefined || isAbove(item, last.item)); last = edge.at(-1)) {
      right = nodeOf(last.left, last.item, right);
      edge.pop();
    }
    return right;
  };
  for (const [key, value] of entries) {
    const last = edge.at(-1);
    invariant(last === undefined || last.item.key < key, 'the keys of an ordered map ascend');
    const item: Item<V> = { key, rank: hashText(key), value, text: undefined };
    edge.push({ left: closed(item), item });
  }
  return closed(undefined);
}

/**
 * Digest of the content, the empty text for an empty map. `textOf` gives JSON, and must be the same function for one map all
 * its life: texts and digests are kept.
 */
export function orderedDigest<V>(map: Ordered<V>, textOf: (value: V) => string, sha256: Sha256): string {
  const due: Ordered<V>[] = [map];
  for (let node = due.at(-1); node !== undefined; node = due.at(-1)) {
    const { left, right, item } = node;
    if (left !== undefined && left.digest === undefined) due.push(left);
    else if (right !== undefined && right.digest === undefined) due.push(right);
    else {
      item.text ??= textOf(item.value);
      node.digest ??= sha256(`["${left?.digest ?? ''}",${JSON.stringify(item.key)},${item.text},"${right?.digest ?? ''}"]`);
      due.pop();
    }
  }
  return map?.digest ?? '';
}

/** `text` is a memo: an item is never changed otherwise. */
type Item<V> = { readonly key: string; readonly rank: number; readonly value: V; text: string | undefined };

/** `digest` is a memo: a node is never changed otherwise. */
type Node<V> = {
  readonly left: Ordered<V>;
  readonly item: Item<V>;
  readonly right: Ordered<V>;
  readonly size: number;
  digest: string | undefined;
};

function nodeOf<V>(left: Ordered<V>, item: Item<V>, right: Ordered<V>): Node<V> {
  return { left, item, right, size: orderedSize(left) + 1 + orderedSize(right), digest: undefined };
}

/** True when `a` stands above `b`: greater hash, of equal ones the lesser key. False for one key. */
function isAbove<V>(a: Item<V>, b: Item<V>): boolean {
  return a.rank > b.rank || (a.rank === b.rank && a.key < b.key);
}

/** The nodes above, top first, copied over what now stands in place of what stood below the last of them at `key`. */
function under<V>(above: readonly Node<V>[], key: string, below: Ordered<V>): Ordered<V> {
  return above.reduceRight<Ordered<V>>(
    (part, { left, item, right }) => (key < item.key ? nodeOf(part, item, right) : nodeOf(left, item, part)),
    below,
  );
}

/** What lies before a key that is not there, and what lies after it. Nodes that keep both sides are shared. */
function split<V>(map: Ordered<V>, key: string): readonly [Ordered<V>, Ordered<V>] {
  const way: Node<V>[] = [];
  for (let node = map; node !== undefined; node = key < node.item.key ? node.left : node.right) way.push(node);
  let before: Ordered<V>;
  let after: Ordered<V>;
  for (const node of way.reverse()) {
    if (key < node.item.key) after = node.left === after ? node : nodeOf(after, node.item, node.right);
    else before = node.right === before ? node : nodeOf(node.left, node.item, before);
  }
  return [before, after];
}

/** One map of two, of which the keys of the first all come before those of the second. */
function merged<V>(first: Ordered<V>, second: Ordered<V>): Ordered<V> {
  const way: (readonly [isFirst: boolean, node: Node<V>])[] = [];
  let [before, after] = [first, second];
  while (before !== undefined && after !== undefined) {
    const isFirst = isAbove(before.item, after.item);
    way.push([isFirst, isFirst ? before : after]);
    if (isFirst) before = before.right;
    else after = after.left;
  }
  return way.reduceRight<Ordered<V>>(
    (part, [isFirst, { left, item, right }]) => (isFirst ? nodeOf(left, item, part) : nodeOf(part, item, right)),
    before ?? after,
  );
}
