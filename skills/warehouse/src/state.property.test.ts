import type { JsonObject, Space } from '@oplus/core';
import { viewsOfSpace } from '@oplus/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Inventory, WarehouseViews } from './state.ts';
import { inventoryFaults, inventoryOf } from './state.ts';
import { attempt, bornSpace } from './testing/team.ts';

const SHELVES = ['S001', 'S002', 'S003', 'S004'];

/** A patch as anybody might write it, right or wrong. */
type Wild = {
  readonly at: { readonly [shelf: string]: string | null };
  readonly drop: readonly string[];
  readonly received: number;
  readonly shipped: number;
};

const wild: fc.Arbitrary<Wild> = fc.record({
  at: fc.dictionary(fc.constantFrom(...SHELVES), fc.constantFrom('item-0001', 'item-0002', 'item-0003', null), { maxKeys: 3 }),
  drop: fc.uniqueArray(fc.constantFrom(...SHELVES), { maxLength: 2 }),
  received: fc.constantFrom(0, 0, 1, 1, 2, -1),
  shipped: fc.constantFrom(0, 0, 1, 1, 2, -1),
});

function patchOfWild({ at, drop, received, shipped }: Wild): JsonObject {
  const cells = Object.fromEntries(
    Object.entries(at).map(([shelf, item]) => [shelf, item === null ? { unset: true } : { set: item }]),
  );
  const dropped = drop.filter((shelf) => !Object.hasOwn(at, shelf));
  return {
    received: { inc: received },
    shipped: { inc: shipped },
    ...(Object.keys(cells).length + dropped.length === 0
      ? {}
      : {
          shelves: {
            ...(Object.keys(cells).length === 0 ? {} : { at: cells }),
            ...(dropped.length === 0 ? {} : { drop: dropped }),
          },
        }),
  };
}

/** The inventory after the patch, whatever the rules say of it. */
function after(before: Inventory, { at, drop, received, shipped }: Wild): Inventory {
  const shelves = new Map(before.shelves);
  for (const shelf of drop) if (!Object.hasOwn(at, shelf)) shelves.delete(shelf);
  for (const [shelf, item] of Object.entries(at)) {
    if (item === null) shelves.delete(shelf);
    else shelves.set(shelf, item);
  }
  return { shelves, received: before.received + received, shipped: before.shipped + shipped };
}

/** Every rule, by looking at everything. */
function isAllowed(before: Inventory, next: Inventory): boolean {
  const had = new Set(before.shelves.values());
  const has = new Set(next.shelves.values());
  return (
    inventoryFaults(next).length === 0 &&
    next.received >= before.received &&
    next.shipped >= before.shipped &&
    [...has].filter((item) => !had.has(item)).length === next.received - before.received &&
    [...had].filter((item) => !has.has(item)).length === next.shipped - before.shipped
  );
}

test('[WHS15] the rules, which look only at what is touched, decide as a look at everything does', () => {
  let committed = 0;
  let rejected = 0;
  fc.assert(
    fc.property(fc.array(wild, { maxLength: 12 }), (patches) => {
      let space: Space = bornSpace(['a']);
      let inventory = inventoryOf(viewsOfSpace(space) as WarehouseViews);
      for (const patch of patches) {
        const next = after(inventory, patch);
        const sealed = attempt(space, space, 'a', patchOfWild(patch));
        const isCommitted = sealed.verdict.kind === 'committed';
        expect(isCommitted).toBe(isAllowed(inventory, next));
        space = sealed.space;
        if (isCommitted) inventory = next;
        committed += Number(isCommitted);
        rejected += Number(!isCommitted);
        expect(inventoryOf(viewsOfSpace(space) as WarehouseViews)).toEqual(inventory);
      }
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(committed, rejected)).toBeGreaterThan(500);
});
