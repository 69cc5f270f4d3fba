/**
 * The warehouse itself: a pure state machine, and the judge of what the workers do.
 *
 * An item is on the dock from its arrival until it is stored, then on exactly one shelf until it is shipped. An action that
 * cannot be carried out changes nothing and is answered with an error text. SPEC: WHS5, WHS6.
 */
import type { WarehouseAction } from './action.ts';
import { shelfIndex } from './inventory.ts';

/** `shelves` holds the occupied shelves only. `received` counts items stored, `shipped` items gone. Never mutated. */
export type World = {
  readonly shelves: ReadonlyMap<string, string>;
  readonly dock: ReadonlySet<string>;
  readonly received: number;
  readonly shipped: number;
};

/** What came of an action: the next world, and what the warehouse says. The same world when `ok` is false. */
export type Carried = { readonly world: World; readonly ok: boolean; readonly text: string };

export const EMPTY_WORLD: World = { shelves: new Map(), dock: new Set(), received: 0, shipped: 0 };

/** The world with one more item on the dock. */
export function arrive(world: World, item: string): World {
  return { ...world, dock: new Set([...world.dock, item]) };
}

/** Carries an action out. O(occupied shelves). */
export function carryOut(world: World, action: WarehouseAction): Carried {
  const fault = faultOf(world, action);
  if (fault !== undefined) return { world, ok: false, text: `Error: ${fault}` };
  const shelves = new Map(world.shelves);
  switch (action.name) {
    case 'Store': {
      const dock = new Set(world.dock);
      dock.delete(action.item);
      shelves.set(action.shelf, action.item);
      return {
        world: { ...world, shelves, dock, received: world.received + 1 },
        ok: true,
        text: `${action.item} stands on ${action.shelf}.`,
      };
    }
    case 'Ship':
      shelves.delete(action.shelf);
      return { world: { ...world, shelves, shipped: world.shipped + 1 }, ok: true, text: `${action.item} is shipped.` };
    case 'Move':
      shelves.delete(action.from);
      shelves.set(action.to, action.item);
      return { world: { ...world, shelves }, ok: true, text: `${action.item} stands on ${action.to}.` };
    case 'Wait':
      return { world, ok: true, text: 'Nothing was done.' };
  }
}

function faultOf(world: World, action: WarehouseAction): string | undefined {
  switch (action.name) {
    case 'Store':
      if (!world.dock.has(action.item)) return `${action.item} is not on the dock.`;
      return takenFault(world, action.shelf);
    case 'Ship':
      return absentFault(world, action.item, action.shelf);
    case 'Move':
      return absentFault(world, action.item, action.from) ?? takenFault(world, action.to);
    case 'Wait':
      return undefined;
  }
}

function takenFault(world: World, shelf: string): string | undefined {
  if (shelfIndex(shelf) === undefined) return `there is no shelf ${shelf}.`;
  const there = world.shelves.get(shelf);
  return there === undefined ? undefined : `${shelf} already holds ${there}.`;
}

function absentFault(world: World, item: string, shelf: string): string | undefined {
  const there = world.shelves.get(shelf);
  return there === item
    ? undefined
    : `${item} is not on ${shelf}${there === undefined ? ', which is empty' : `, which holds ${there}`}.`;
}
