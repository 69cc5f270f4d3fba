import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WarehouseAction } from './action.ts';
import { meets, observationOf, readObservation } from './goal.ts';
import type { Goal } from './goal.ts';
import { itemName, SHELVES } from './inventory.ts';
import type { World } from './world.ts';
import { arrive, carryOut, EMPTY_WORLD } from './world.ts';

const stocked = [1, 2].reduce(
  (world, n) => carryOut(arrive(world, itemName(n)), { name: 'Store', item: itemName(n), shelf: `S00${n}` }).world,
  arrive(EMPTY_WORLD, 'item-0009'),
);

test('[WHS3] a goal is one line, and the line is that goal', () => {
  const goals: readonly Goal[] = [
    { kind: 'receive', item: 'item-0007' },
    { kind: 'order', item: 'item-0007' },
    { kind: 'maintenance', shelf: 'S014' },
  ];
  expect(goals.map(observationOf)).toEqual([
    'Shipment arrived containing item-0007',
    'Customer ordered item-0007',
    'Maintenance required on S014',
  ]);
  for (const goal of goals) {
    expect(readObservation(observationOf(goal))).toEqual(goal);
    expect(readObservation(`--- BACKGROUND TELEMETRY ---\nfan at 40 %\n${observationOf(goal)}\nCustomer ordered item-1`)).toEqual(
      goal,
    );
  }
  for (const other of [
    '',
    'Nothing new',
    'Customer ordered item-00071',
    'customer ordered item-0007',
    'x Customer ordered item-0007',
  ]) {
    expect(readObservation(other)).toBeUndefined();
  }
});

test('[WHS4] a goal is met by the action that does what it asks, and by no other', () => {
  const store: WarehouseAction = { name: 'Store', item: 'item-0007', shelf: 'S014' };
  const ship: WarehouseAction = { name: 'Ship', item: 'item-0007', shelf: 'S014' };
  const move: WarehouseAction = { name: 'Move', item: 'item-0007', from: 'S014', to: 'S015' };
  const back: WarehouseAction = { name: 'Move', item: 'item-0007', from: 'S015', to: 'S014' };
  const met = (goal: Goal): readonly boolean[] =>
    [store, ship, move, back, { name: 'Wait' } as const].map((action) => meets(action, goal));
  expect(met({ kind: 'receive', item: 'item-0007' })).toEqual([true, false, false, false, false]);
  expect(met({ kind: 'order', item: 'item-0007' })).toEqual([false, true, false, false, false]);
  expect(met({ kind: 'maintenance', shelf: 'S014' })).toEqual([false, true, true, false, false]);
  expect(met({ kind: 'order', item: 'item-0008' })).toEqual([false, false, false, false, false]);
});

test('[WHS5] an action that cannot be carried out changes nothing and is answered with an error', () => {
  const wrong: readonly (readonly [WarehouseAction, string])[] = [
    [{ name: 'Store', item: 'item-0009', shelf: 'S001' }, 'Error: S001 already holds item-0001.'],
    [{ name: 'Store', item: 'item-0001', shelf: 'S003' }, 'Error: item-0001 is not on the dock.'],
    [{ name: 'Store', item: 'item-0009', shelf: 'S501' }, 'Error: there is no shelf S501.'],
    [{ name: 'Ship', item: 'item-0001', shelf: 'S002' }, 'Error: item-0001 is not on S002, which holds item-0002.'],
    [{ name: 'Ship', item: 'item-0001', shelf: 'S003' }, 'Error: item-0001 is not on S003, which is empty.'],
    [{ name: 'Move', item: 'item-0001', from: 'S001', to: 'S002' }, 'Error: S002 already holds item-0002.'],
    [{ name: 'Move', item: 'item-0001', from: 'S002', to: 'S003' }, 'Error: item-0001 is not on S002, which holds item-0002.'],
    [{ name: 'Move', item: 'item-0001', from: 'S001', to: 'S999' }, 'Error: there is no shelf S999.'],
  ];
  for (const [action, text] of wrong) expect(carryOut(stocked, action)).toEqual({ world: stocked, ok: false, text });
});

test('[WHS5] valid actions do what they say', () => {
  const stored = carryOut(stocked, { name: 'Store', item: 'item-0009', shelf: 'S500' }).world;
  expect([stored.shelves.get('S500'), stored.dock.size, stored.received]).toEqual(['item-0009', 0, 3]);
  const moved = carryOut(stored, { name: 'Move', item: 'item-0009', from: 'S500', to: 'S003' }).world;
  expect([moved.shelves.has('S500'), moved.shelves.get('S003')]).toEqual([false, 'item-0009']);
  const shipped = carryOut(moved, { name: 'Ship', item: 'item-0009', shelf: 'S003' }).world;
  expect([shipped.shelves.size, shipped.received, shipped.shipped]).toEqual([2, 3, 1]);
  expect(carryOut(shipped, { name: 'Wait' })).toEqual({ world: shipped, ok: true, text: 'Nothing was done.' });
  expect(stocked.shelves.size).toBe(2);
});

test('[WHS5] whatever is tried, an item is in one place and the counts hold', () => {
  const item = fc.integer({ min: 1, max: 5 }).map(itemName);
  const shelf = fc.constantFrom('S001', 'S002', 'S003');
  const action: fc.Arbitrary<WarehouseAction | 'arrive'> = fc.oneof(
    fc.constant('arrive' as const),
    fc.record({ name: fc.constant('Store' as const), item, shelf }),
    fc.record({ name: fc.constant('Ship' as const), item, shelf }),
    fc.record({ name: fc.constant('Move' as const), item, from: shelf, to: shelf }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      let world: World = EMPTY_WORLD;
      let arrived = 0;
      for (const one of actions) {
        if (one === 'arrive') {
          arrived += 1;
          world = arrive(world, itemName(arrived));
        } else world = carryOut(world, one).world;
        const places = [...world.shelves.values(), ...world.dock];
        expect(new Set(places).size).toBe(places.length);
        expect(world.received - world.shipped).toBe(world.shelves.size);
        expect(world.received + world.dock.size).toBe(arrived);
        expect([...world.shelves.keys()].every((name) => SHELVES.includes(name))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
