/**
 * The last word on a run: what the state says beside what the world holds.
 *
 * The environment is the judge. A violation is something that must never happen, whatever the model does well or badly: the
 * score may fall, the list of violations stays empty. SPEC: WHS50, WHS51.
 */
import type { Ruling } from '@oplus/agent';
import type { Space } from '@oplus/core';
import { viewsOfSpace } from '@oplus/core';
import type { WarehouseEnvironment } from './environment.ts';
import type { Inventory, WarehouseViews } from './state.ts';
import { inventoryFaults, inventoryOf } from './state.ts';

/** Compares the two, and looks at the invariants of each. O(shelves). */
export function judgeWarehouse(environment: WarehouseEnvironment, space: Space): Ruling {
  const { shelves, received, shipped } = environment.world();
  const world: Inventory = { shelves, received, shipped };
  const state = inventoryOf(viewsOfSpace(space) as WarehouseViews);
  const violations = [
    ...environment.misfits(),
    ...inventoryFaults(state).map((rule) => `The state breaks ${rule}.`),
    ...inventoryFaults(world).map((rule) => `The world breaks ${rule}.`),
    ...differences(state, world),
  ];
  const tally = environment.tally();
  return { ...tally, score: tally.solved / environment.plan.steps, violations };
}

function differences(state: Inventory, world: Inventory): readonly string[] {
  const shelves = [...new Set([...state.shelves.keys(), ...world.shelves.keys()])].sort();
  const words = shelves.flatMap((shelf) => {
    const said = state.shelves.get(shelf) ?? 'nothing';
    const held = world.shelves.get(shelf) ?? 'nothing';
    return said === held ? [] : [`${shelf} holds ${held}; the state says ${said}.`];
  });
  for (const name of ['received', 'shipped'] as const) {
    if (state[name] !== world[name]) words.push(`${world[name]} items were ${name}; the state says ${state[name]}.`);
  }
  return words;
}
