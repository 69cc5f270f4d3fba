import type { JsonObject, Space, Verdict } from '@oplus/core';
import { viewsOfSpace } from '@oplus/core';
import { expect, test } from 'vitest';
import type { WarehouseAction } from './action.ts';
import { patchOf } from './action.ts';
import { SHELF_COUNT, SHELVES } from './inventory.ts';
import type { WarehouseViews } from './state.ts';
import { inventoryFaults, inventoryOf, warehouseState } from './state.ts';
import { attempt, bornSpace, schema } from './testing/team.ts';

const start = bornSpace(['a', 'b']);
const stocked = commit(commit(start, store(1, 1)), store(2, 2));

function store(item: number, shelf: number): WarehouseAction {
  return { name: 'Store', item: `item-000${item}`, shelf: `S00${shelf}` };
}

function ship(item: number, shelf: number): WarehouseAction {
  return { name: 'Ship', item: `item-000${item}`, shelf: `S00${shelf}` };
}

function move(item: number, from: number, to: number): WarehouseAction {
  return { name: 'Move', item: `item-000${item}`, from: `S00${from}`, to: `S00${to}` };
}

function commit(space: Space, action: WarehouseAction, agent: string = 'a', base: Space = space): Space {
  const after = attempt(space, base, agent, patchOf(action));
  expect(after.verdict.kind).toBe('committed');
  return after.space;
}

/** Path and rule of every issue, with the hints. */
function issues(verdict: Verdict): readonly string[] {
  return verdict.kind === 'committed' ? ['committed'] : verdict.issues.map(({ path, code, rule }) => `${path} ${code} ${rule}`);
}

function refuse(patch: JsonObject, space: Space = stocked, base: Space = space): readonly string[] {
  return issues(attempt(space, base, 'b', patch).verdict);
}

function inventory(space: Space): { readonly shelves: object; readonly received: number; readonly shipped: number } {
  const { shelves, received, shipped } = inventoryOf(viewsOfSpace(space) as WarehouseViews);
  return { shelves: Object.fromEntries(shelves), received, shipped };
}

test('[WHS10] there are 500 shelves, and no other key is taken', () => {
  expect([SHELF_COUNT, SHELVES.length, SHELVES[0], SHELVES[499]]).toEqual([500, 500, 'S001', 'S500']);
  for (const shelf of ['S000', 'S501', 'S599', 's001', 'S01', 'S0001', 'S 01']) {
    expect(refuse({ shelves: { at: { [shelf]: { set: 'item-0003' } } }, received: { inc: 1 } })).toEqual([
      `/shelves/${shelf} schema map key`,
    ]);
  }
  for (const item of ['item-3', 'item-00003', 'Item-0003', 3]) {
    const [issue] = refuse({ shelves: { at: { S003: { set: item } } }, received: { inc: 1 } });
    expect(issue).toMatch(/^\/shelves\/S003 (?:schema|bound) cas$/);
  }
  expect(commit(start, { name: 'Store', item: 'item-0001', shelf: 'S500' }).revision).toBe(1);
});

test('[WHS10] a shelf holds one item: a second one is refused with the first', () => {
  const space = commit(start, store(1, 1));
  const late = attempt(space, start, 'b', patchOf(store(2, 1))).verdict;
  expect(issues(late)).toEqual(['/shelves/S001 conflict cas']);
  expect(late.kind === 'rejected' && late.issues[0]).toMatchObject({
    have: 'item-0001',
    want: 'item-0002',
    by: 'a',
    recovery: 're-read',
  });
});

test('[WHS1] a patch leads where its action says', () => {
  const moved = commit(stocked, move(1, 1, 3));
  expect(inventory(moved)).toEqual({ shelves: { S002: 'item-0002', S003: 'item-0001' }, received: 2, shipped: 0 });
  expect(inventory(commit(moved, ship(1, 3)))).toEqual({ shelves: { S002: 'item-0002' }, received: 2, shipped: 1 });
});

test('[WHS11] an item stands on at most one shelf', () => {
  expect(refuse(patchOf(store(1, 3)))).toEqual(['/shelves/S003 invariant item-on-one-shelf']);
  expect(refuse({ shelves: { at: { S003: { set: 'item-0005' }, S004: { set: 'item-0005' } } }, received: { inc: 2 } })).toEqual([
    '/shelves/S003 invariant item-on-one-shelf',
    '/shelves/S004 invariant item-on-one-shelf',
  ]);
  expect(refuse({ shelves: { at: { S002: { set: 'item-0001' }, S001: { set: 'item-0002' } } } })).toEqual(['committed']);
});

test('[WHS12] received minus shipped equals what is stored', () => {
  const rule = 'invariant received-minus-shipped-equals-stored';
  expect(refuse({ received: { inc: 1 } })).toEqual([`/received ${rule}`]);
  expect(refuse({ shipped: { inc: 1 } })).toEqual([`/shipped ${rule}`]);
  expect(refuse({ shelves: { at: { S001: { unset: true } } } })).toEqual([`/shelves/S001 ${rule}`]);
  expect(refuse({ shelves: { at: { S003: { set: 'item-0003' } } } })).toEqual([`/shelves/S003 ${rule}`]);
  expect(refuse({ shelves: { at: { S003: { set: 'item-0003' } } }, received: { inc: 2 } })).toEqual([`/received ${rule}`]);
  expect(refuse({ shelves: { drop: ['S001'] } })).toEqual([`/shelves/S001 ${rule}`]);
});

test('[WHS13] received and shipped only rise', () => {
  const shipped = commit(stocked, ship(1, 1));
  const back = { shelves: { at: { S001: { set: 'item-0001' } } }, shipped: { inc: -1 } };
  expect(refuse(back, shipped)).toContain('/shipped transition received-and-shipped-only-rise');
  const undone = { shelves: { at: { S002: { unset: true } } }, received: { inc: -1 } };
  expect(refuse(undone, shipped)).toContain('/received transition received-and-shipped-only-rise');
});

test('[WHS14] no item changes into another', () => {
  const rule = 'transition no-item-changes-into-another';
  expect(refuse({ shelves: { at: { S001: { set: 'item-0003' } } } })).toEqual([`/shelves/S001 ${rule}`, `/shelves/S001 ${rule}`]);
  expect(refuse({ shelves: { at: { S001: { unset: true }, S003: { set: 'item-0003' } } } })).toEqual([
    `/shelves/S003 ${rule}`,
    `/shelves/S001 ${rule}`,
  ]);
  expect(refuse({ received: { inc: 1 }, shipped: { inc: 1 } })).toEqual([`/received ${rule}`, `/shipped ${rule}`]);
  expect(refuse({ shelves: { at: { S001: { set: 'item-0003' } } }, received: { inc: 1 }, shipped: { inc: 1 } })).toEqual([
    'committed',
  ]);
});

test('[WHS14] a move may drop its old shelf instead of emptying it', () => {
  expect(refuse({ shelves: { at: { S003: { set: 'item-0001' } }, drop: ['S001'] } })).toEqual(['committed']);
  expect(refuse({ shelves: { at: { S003: { set: 'item-0003' } }, drop: ['S001'] } })).toHaveLength(2);
});

test('[WHS16] of two who empty one shelf at once, one commits and the other is told where it went wrong', () => {
  const both: readonly (readonly [WarehouseAction, WarehouseAction, readonly string[]])[] = [
    [ship(1, 1), ship(1, 1), ['/shipped invariant received-minus-shipped-equals-stored']],
    [ship(1, 1), move(1, 1, 3), ['/shelves/S003 invariant received-minus-shipped-equals-stored']],
    [move(1, 1, 3), ship(1, 1), ['/shipped invariant received-minus-shipped-equals-stored']],
    [
      move(1, 1, 3),
      move(1, 1, 4),
      ['/shelves/S004 invariant item-on-one-shelf', '/shelves/S004 invariant received-minus-shipped-equals-stored'],
    ],
  ];
  for (const [first, second, said] of both) {
    const space = commit(stocked, first);
    const late = attempt(space, stocked, 'b', patchOf(second));
    expect(issues(late.verdict)).toEqual(said);
    expect(late.verdict.kind === 'rejected' && late.verdict.retry).toEqual({ after: late.space.revision });
    expect(inventory(late.space)).toEqual(inventory(space));
  }
});

test('[WHS16] a shelf that was emptied and filled again meanwhile is a conflict', () => {
  const space = commit(commit(stocked, ship(1, 1)), store(3, 1));
  expect(refuse(patchOf(ship(1, 1)), space, stocked)).toEqual(['/shelves/S001 conflict cas']);
  expect(refuse(patchOf(move(1, 1, 4)), space, stocked)).toEqual(['/shelves/S001 conflict cas']);
});

test('[WHS12] the faults of a whole inventory are named', () => {
  const shelves = new Map([
    ['S001', 'item-0001'],
    ['S002', 'item-0001'],
  ]);
  expect(inventoryFaults({ shelves, received: 2, shipped: 0 })).toEqual(['item-on-one-shelf']);
  expect(inventoryFaults({ shelves: new Map(), received: 2, shipped: 1 })).toEqual(['received-minus-shipped-equals-stored']);
  expect(inventoryFaults({ shelves: new Map(), received: 1, shipped: 1 })).toEqual([]);
});

test('[WHS10] the state has a bound', () => {
  expect(schema.names).toEqual(['received', 'shelves', 'shipped']);
  expect(schema.bytesMax).toBeLessThan(32_768);
  expect(Object.keys(warehouseState.invariants ?? {})).toEqual(['item-on-one-shelf', 'received-minus-shipped-equals-stored']);
});
