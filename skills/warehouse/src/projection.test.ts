import type { JsonObject, Projection, Space } from '@oplus/core';
import { project } from '@oplus/core';
import { expect, test } from 'vitest';
import type { WarehouseAction } from './action.ts';
import { patchOf } from './action.ts';
import { itemName, SHELVES } from './inventory.ts';
import { layoutOf, ROUTINGS } from './layout.ts';
import { VIEW_CHARS, warehouseProjection } from './projection.ts';
import { attempt, bornSpace, names, runTeam } from './testing/team.ts';

function after(actions: readonly WarehouseAction[]): Space {
  return actions.reduce(
    (space, action) => {
      const next = attempt(space, space, 'w01', patchOf(action));
      expect(next.verdict.kind).toBe('committed');
      return next.space;
    },
    bornSpace(['w01']),
  );
}

function view(space: Space, focus: string, routing: string = 'shared', agent: string = 'w01', count: number = 3): JsonObject {
  const projection = warehouseProjection(layoutOf(routing, names(count))) as unknown as Projection;
  const text = project(space, { agent, role: 'agent', focus }, 4096, projection);
  expect(text).toHaveLength(VIEW_CHARS);
  return JSON.parse(text) as JsonObject;
}

const stocked = after([
  { name: 'Store', item: 'item-0001', shelf: 'S001' },
  { name: 'Store', item: 'item-0002', shelf: 'S002' },
  { name: 'Store', item: 'item-0003', shelf: 'S004' },
  { name: 'Ship', item: 'item-0002', shelf: 'S002' },
]);

test('[WHS30] a view shows what the observation is about, free shelves and totals', () => {
  expect(view(stocked, 'Customer ordered item-0003')).toEqual({
    about: { item: 'item-0003', shelf: 'S004' },
    count: { free: '0498', received: '0003', shipped: '0001', stored: '0002' },
    free: ['S002', 'S003', 'S005', 'S006'],
  });
  expect(view(stocked, 'Maintenance required on S004')['about']).toEqual({ item: 'item-0003', shelf: 'S004' });
  expect(view(stocked, 'Maintenance required on S002')['about']).toEqual({ item: 'item-none', shelf: 'S002' });
  expect(view(stocked, 'Shipment arrived containing item-0004')['about']).toEqual({ item: 'item-0004', shelf: 'none' });
  expect(view(stocked, 'Customer ordered item-0002')['about']).toEqual({ item: 'item-0002', shelf: 'none' });
  expect(view(stocked, '')['about']).toEqual({ item: 'item-none', shelf: 'none' });
});

test('[WHS30] free shelves come in the order that the routing offers to this worker', () => {
  expect(view(stocked, '', 'zones', 'w02')['free']).toEqual(['S003', 'S005', 'S006', 'S007']);
  expect(view(stocked, '', 'disjoint', 'w02')['free']).toEqual(['S167', 'S168', 'S169', 'S170']);
  expect(view(stocked, '', 'shared', 'w02')['free']).toEqual(['S003', 'S005', 'S006', 'S007']);
});

test('[WHS31] a view has one length, also where nearly everything is full', () => {
  const almost = after(SHELVES.slice(0, 498).map((shelf, i) => ({ name: 'Store', item: itemName(i + 1), shelf })));
  expect(view(almost, 'Customer ordered item-0498')).toMatchObject({
    free: ['S499', 'S500', 'none', 'none'],
    about: { shelf: 'S498' },
  });
  const full = after(SHELVES.map((shelf, i) => ({ name: 'Store', item: itemName(i + 1), shelf })));
  expect(view(full, 'Maintenance required on S500')).toMatchObject({ free: ['none', 'none', 'none', 'none'] });
});

test('[WHS31] a view has one length for any number of steps and of workers', () => {
  const lengths = new Set<number>();
  for (const routing of ROUTINGS) {
    for (const agents of [1, 4, 16]) {
      for (const steps of [25, 400])
        for (const length of runTeam({ agents, steps, seed: 42, routing, timing: 'lockstep' }).viewChars) lengths.add(length);
    }
  }
  expect([...lengths]).toEqual([VIEW_CHARS]);
});

test('[WHS32] a view is the same whatever way led to the same values', () => {
  const actions: readonly WarehouseAction[] = [
    { name: 'Store', item: 'item-0002', shelf: 'S002' },
    { name: 'Store', item: 'item-0003', shelf: 'S003' },
    { name: 'Ship', item: 'item-0002', shelf: 'S002' },
    { name: 'Move', item: 'item-0003', from: 'S003', to: 'S004' },
    { name: 'Store', item: 'item-0001', shelf: 'S001' },
  ];
  let space = bornSpace(names(3));
  for (const [i, action] of actions.entries()) {
    space = attempt(space, space, names(3)[i % 3] as string, patchOf(action)).space;
    const refused = attempt(space, space, 'w03', patchOf({ name: 'Ship', item: 'item-0009', shelf: 'S400' }));
    expect(refused.verdict.kind).toBe('rejected');
    space = refused.space;
  }
  expect(space.revision).not.toBe(stocked.revision);
  for (const focus of ['Customer ordered item-0003', 'Maintenance required on S004', '']) {
    for (const agent of names(3)) expect(view(space, focus, 'shared', agent)).toEqual(view(stocked, focus, 'shared', agent));
  }
  expect(view(space, '', 'shared', 'w02')).not.toEqual(view(space, '', 'shared', 'w01'));
});

test('[WHS33] workers who look at one state are offered different first shelves', () => {
  const firsts = names(16).map((agent) => (view(stocked, '', 'shared', agent, 16)['free'] as readonly string[])[0]);
  expect(new Set(firsts).size).toBe(16);
});
