import { OplusError } from '@oplus/core';
import { expect, test } from 'vitest';
import { SHELVES } from './inventory.ts';
import { layoutOf, offeredShelves, ownerOf, ownShelves, ROUTINGS, ZONE_SHELVES } from './layout.ts';
import { names } from './testing/team.ts';

test('[WHS20] every shelf has one owner, and every worker has shelves', () => {
  for (const routing of ROUTINGS) {
    for (const count of [1, 2, 3, 7, 16, 64]) {
      const layout = layoutOf(routing, names(count));
      const owned = layout.agents.flatMap((_, worker) => ownShelves(layout, worker));
      expect(owned.toSorted()).toEqual(SHELVES);
      for (let worker = 0; worker < count; worker += 1) {
        const own = ownShelves(layout, worker);
        expect(own.length).toBeGreaterThanOrEqual(Math.floor(500 / count) - layout.blockShelves);
        expect(own.every((shelf) => ownerOf(layout, shelf) === worker)).toBe(true);
      }
    }
  }
  expect(layoutOf('disjoint', names(16)).blockShelves).toBe(31);
  expect(layoutOf('zones', names(16)).blockShelves).toBe(ZONE_SHELVES);
  expect(layoutOf('zones', names(4), 100).blockShelves).toBe(100);
});

test('[WHS21] disjoint offers the own shelves, zones the own block first and then the neighbour, shared the same to all', () => {
  const agents = names(3);
  const first = (routing: string): readonly (readonly string[])[] =>
    agents.map((agent) => offeredShelves(layoutOf(routing, agents), agent).slice(0, 3));
  expect(first('disjoint')).toEqual([
    ['S001', 'S002', 'S003'],
    ['S167', 'S168', 'S169'],
    ['S333', 'S334', 'S335'],
  ]);
  expect(first('zones')).toEqual([
    ['S001', 'S002', 'S003'],
    ['S003', 'S004', 'S005'],
    ['S005', 'S006', 'S007'],
  ]);
  expect(first('shared')).toEqual(agents.map(() => ['S001', 'S002', 'S003']));
  const disjoint = layoutOf('disjoint', agents);
  const offered = agents.flatMap((agent) => offeredShelves(disjoint, agent));
  expect(new Set(offered).size).toBe(offered.length);
  const zones = layoutOf('zones', agents);
  for (const agent of agents) expect(offeredShelves(zones, agent).toSorted()).toEqual(SHELVES);
  expect(offeredShelves(disjoint, 'a-stranger')).toEqual(SHELVES);
});

test('[WHS29] a layout that cannot be is a usage error', () => {
  const wrong: readonly (() => unknown)[] = [
    () => layoutOf('everywhere', names(2)),
    () => layoutOf('shared', []),
    () => layoutOf('shared', names(65)),
    () => layoutOf('shared', ['a', 'a']),
    () => layoutOf('zones', names(2), 251),
    () => layoutOf('zones', names(2), 0),
    () => layoutOf('zones', names(2), 1.5),
  ];
  for (const call of wrong) {
    let thrown: unknown;
    try {
      call();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(OplusError);
    expect(thrown).toMatchObject({ code: 'USAGE', hint: expect.stringMatching(/\w/) as string });
  }
});
