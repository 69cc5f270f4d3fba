import { expect, test } from 'vitest';
import { drawGoal, possibleGoals } from './generator.ts';
import type { Goal } from './goal.ts';
import { observationOf } from './goal.ts';
import { itemName } from './inventory.ts';
import { seededRandom } from './random.ts';
import { arrive, carryOut, EMPTY_WORLD } from './world.ts';
import type { World } from './world.ts';

const SHELVES = ['S001', 'S002', 'S003', 'S004', 'S005', 'S006'];

function worldOf(count: number): World {
  let world = EMPTY_WORLD;
  for (let n = 1; n <= count; n += 1)
    world = carryOut(arrive(world, itemName(n)), { name: 'Store', item: itemName(n), shelf: SHELVES[n - 1] as string }).world;
  return world;
}

function possible(world: World, goals: readonly Goal[]): readonly (readonly string[])[] {
  return possibleGoals({ world, shelves: SHELVES, goals, item: 'item-0099' }).map((kind) => kind.map(observationOf));
}

test('[WHS7] an empty warehouse can only receive; a stocked one receives, is ordered from and maintained', () => {
  expect(possible(EMPTY_WORLD, [])).toEqual([['Shipment arrived containing item-0099']]);
  expect(possible(worldOf(2), [])).toEqual([
    ['Shipment arrived containing item-0099'],
    ['Customer ordered item-0001', 'Customer ordered item-0002'],
    ['Maintenance required on S001', 'Maintenance required on S002'],
  ]);
});

test('[WHS7] what needs a free shelf is asked only while one is left for it', () => {
  expect(possible(worldOf(6), [])).toEqual([SHELVES.map((_, i) => `Customer ordered ${itemName(i + 1)}`)]);
  const open: readonly Goal[] = [
    { kind: 'receive', item: 'item-0050' },
    { kind: 'maintenance', shelf: 'S001' },
  ];
  expect(possible(worldOf(4), open).map((kind) => kind.length)).toEqual([4]);
  expect(possible(worldOf(3), open).map((kind) => kind.length)).toEqual([1, 3, 2]);
});

test('[WHS9] an item is ordered once and a shelf maintained once at a time, but both may be about the same shelf', () => {
  const open: readonly Goal[] = [
    { kind: 'order', item: 'item-0001' },
    { kind: 'maintenance', shelf: 'S002' },
  ];
  expect(possible(worldOf(2), open)).toEqual([
    ['Shipment arrived containing item-0099'],
    ['Customer ordered item-0002'],
    ['Maintenance required on S001'],
  ]);
});

test('[WHS7] kinds are drawn evenly, and within a kind its targets', () => {
  const situation = { world: worldOf(4), shelves: SHELVES, goals: [], item: 'item-0099' };
  const random = seededRandom(42, 0);
  const counts = new Map<string, number>();
  const draws = 36_000;
  for (let i = 0; i < draws; i += 1) {
    const said = observationOf(drawGoal(situation, random) as Goal);
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  expect(counts.size).toBe(9);
  for (const [said, count] of counts) {
    const expected = said.startsWith('Shipment') ? draws / 3 : draws / 12;
    expect(Math.abs(count - expected) / expected).toBeLessThan(0.05);
  }
});

test('[WHS7] nothing possible is no goal', () => {
  expect(drawGoal({ world: EMPTY_WORLD, shelves: [], goals: [], item: 'item-0001' }, seededRandom(1, 0))).toBeUndefined();
});
