/**
 * Who works where: the shelves are cut into blocks of equal size, and the blocks go to the workers in turn.
 *
 * A routing decides what that means. `disjoint`: a worker is offered its own shelves only. `zones`: its own block first,
 * then the next worker's, and so on around, so that neighbours meet where a block is full. `shared`: everybody is offered
 * the same shelves in the same order. SPEC: WHS20, WHS21.
 */
import { OplusError } from '@oplus/core';
import { SHELF_COUNT, SHELVES, shelfIndex } from './inventory.ts';

export type Routing = 'disjoint' | 'zones' | 'shared';

export const ROUTINGS: readonly Routing[] = ['disjoint', 'zones', 'shared'];

/** Most workers of one warehouse. */
export const WORKERS_MAX = 64;

/** `blockShelves` is the number of shelves in a block. `agents` in the order in which a lockstep runner asks them. */
export type Layout = { readonly routing: Routing; readonly agents: readonly string[]; readonly blockShelves: number };

/**
 * Shelves in a block under `zones`: so few that neighbours do meet. Measured with 2 to 16 workers, 100 and 400 steps, seeds
 * 42-46: with 2 shelves 2 to 7 of 100 proposals are refused, with 8 hardly any, with an even share of all shelves none.
 */
export const ZONE_SHELVES = 2;

/** Checks the names and sizes. `blockShelves` is an even share of all shelves unless `zones` or the caller says otherwise. */
export function layoutOf(routing: string, agents: readonly string[], blockShelves?: number): Layout {
  if (!ROUTINGS.includes(routing as Routing)) {
    throw new OplusError('USAGE', `there is no routing ${routing}`, { hint: `Choose one of ${ROUTINGS.join(', ')}.` });
  }
  if (agents.length < 1 || agents.length > WORKERS_MAX || new Set(agents).size !== agents.length) {
    throw new OplusError('USAGE', `a warehouse has 1 to ${WORKERS_MAX} workers of different names, not ${agents.length}`, {
      hint: 'Give each worker one name.',
    });
  }
  const share = Math.floor(SHELF_COUNT / agents.length);
  const size = blockShelves ?? (routing === 'zones' ? Math.min(ZONE_SHELVES, share) : share);
  if (!Number.isSafeInteger(size) || size < 1 || size > share) {
    throw new OplusError('USAGE', `a block of ${size} shelves does not fit ${agents.length} workers`, {
      hint: `Choose 1 to ${share} shelves.`,
    });
  }
  return { routing: routing as Routing, agents, blockShelves: size };
}

/** Position in `agents` of the worker whose block holds the shelf. */
export function ownerOf(layout: Layout, shelf: string): number {
  return Math.floor((shelfIndex(shelf) ?? 0) / layout.blockShelves) % layout.agents.length;
}

/** The worker's own shelves, ascending. */
export function ownShelves(layout: Layout, worker: number): readonly string[] {
  return SHELVES.filter((shelf) => ownerOf(layout, shelf) === worker);
}

/** All shelves that the worker may be offered, first choice first. A stranger is offered all of them in order. */
export function offeredShelves(layout: Layout, agent: string): readonly string[] {
  const worker = layout.agents.indexOf(agent);
  if (worker < 0 || layout.routing === 'shared') return SHELVES;
  if (layout.routing === 'disjoint') return ownShelves(layout, worker);
  const start = worker * layout.blockShelves;
  return [...SHELVES.slice(start), ...SHELVES.slice(0, start)];
}
