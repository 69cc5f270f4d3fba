import type { Field, FieldKind } from '@oplus/core';
import { invariant } from '@oplus/core';
import { expect, test } from 'vitest';

import { sizesPage } from './pages.ts';
import { COLLECTIONS, measureSizes } from './sizes.ts';
import type { Collection } from './sizes.ts';

const COLLECT = (): void => undefined;

test.each(COLLECTIONS)('[BEN18] $name has the size, before and after', (collection) => {
  const sizes = [1_000, 20_000];
  const [row] = measureSizes([collection], { sizes, seals: 150, repeats: 1, collect: COLLECT });
  invariant(row !== undefined, 'one row a collection');
  for (const bytes of [row.bytes, row.bytesAfter])
    for (const [at, size] of sizes.entries()) expect(Math.abs((bytes[at] ?? 0) / size - 1)).toBeLessThan(0.1);
  expect(row.micros).toHaveLength(2);
  expect(sizesPage([row]).split('\n')).toHaveLength(5);
});

test('[BEN18] a kind that walks its field is found out', () => {
  const [map] = COLLECTIONS;
  invariant(map !== undefined, 'there are collections');
  const walking: Collection = { ...map, name: 'walking', field: (count) => walk(map.field(count)) };
  const [quick, slow] = measureSizes([map, walking], { sizes: [1_000, 100_000], seals: 10, repeats: 3, collect: COLLECT });
  expect(slow?.growth.min).toBeGreaterThan(4 * (quick?.growth.min ?? Infinity));
});

/** The same kind, but its digest is that of the whole text. */
function walk(field: Field): Field {
  const kind: FieldKind = field;
  return { ...kind, digest: (cell, sha256) => `"${sha256(kind.encode(cell))}"` };
}
