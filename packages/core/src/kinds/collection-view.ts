/**
 * Read-only faces of collections, for rules and programs: no copy, O(log n) look-up, iteration in ascending key order.
 */
import { canonical } from '../json.ts';
import type { Json } from '../json.ts';
import type { Trie } from '../trie.ts';
import { trieAt, trieSorted } from '../trie.ts';

export interface SetView<T> extends Iterable<T> {
  readonly size: number;
  has(value: T): boolean;
}

export interface MapView<V> extends Iterable<readonly [string, V]> {
  readonly size: number;
  has(key: string): boolean;
  get(key: string): V | undefined;
  keys(): readonly string[];
}

/** A face of a trie whose keys are the canonical texts of its values. */
export function setView<E, T>(trie: Trie<E>, valueOf: (element: E) => Json): SetView<T> {
  return {
    size: trie.size,
    has: (value) => trieAt(trie, canonical(value as Json)) !== undefined,
    *[Symbol.iterator]() {
      for (const [, element] of trieSorted(trie)) yield valueOf(element) as T;
    },
  };
}

/** A face of a trie of cells. Values are made when they are read. */
export function mapView<C, V>(trie: Trie<C>, viewOf: (cell: C) => V): MapView<V> {
  return {
    size: trie.size,
    has: (key) => trieAt(trie, key) !== undefined,
    get: (key) => {
      const cell = trieAt(trie, key);
      return cell === undefined ? undefined : viewOf(cell);
    },
    keys: () => trieSorted(trie).map(([key]) => key),
    *[Symbol.iterator]() {
      for (const [key, cell] of trieSorted(trie)) yield [key, viewOf(cell)] as const;
    },
  };
}
