/**
 * What a worker's model sees of the warehouse: the part that this observation is about, in the same space whatever the
 * size of the warehouse or of the team.
 *
 * ```json
 * {"about":{"item":"item-0007","shelf":"S014"},
 *  "count":{"free":"0477","received":"0040","shipped":"0017","stored":"0023"},
 *  "free":["S003","S005","S009","S011"]}
 * ```
 *
 * `about` is where the named item stands, or what stands on the named shelf; `item-none` and `none` for nothing. `free` are
 * the first free shelves that this worker is offered, under `shared` from a position of its own, so that workers who look at
 * one state choose differently and meet only when a view is stale. All widths are fixed. SPEC: WHS30-WHS33.
 */
import type { JsonObject, Projection, Reader } from '@oplus/core';
import { readObservation } from './goal.ts';
import { SHELF_COUNT, SHELVES } from './inventory.ts';
import type { Layout } from './layout.ts';
import { offeredShelves } from './layout.ts';
import type { WarehouseFields, WarehouseViews } from './state.ts';

/** Stands for no shelf, and for no item: as wide as a name. */
export const NO_SHELF = 'none';
export const NO_ITEM = 'item-none';

/** Characters of every view. */
export const VIEW_CHARS = 157;

/** The projection of one run. O(shelves) per view; no list in it grows. */
export function warehouseProjection(layout: Layout): Projection<WarehouseFields> {
  const offers = new Map(layout.agents.map((agent) => [agent, offeredShelves(layout, agent)]));
  return (views, reader) => {
    const offered = offers.get(reader.agent) ?? SHELVES;
    const worker = Math.max(0, layout.agents.indexOf(reader.agent));
    const free = freeShelves(views, offered, FREE_SHOWN + layout.agents.length);
    const first = layout.routing === 'shared' ? worker : 0;
    const stored = views.received - views.shipped;
    return {
      about: aboutOf(views, reader),
      count: {
        free: fixed(SHELF_COUNT - stored),
        received: fixed(views.received),
        shipped: fixed(views.shipped),
        stored: fixed(stored),
      },
      free: Array.from({ length: FREE_SHOWN }, (_, i) => (i < free.length ? shelfAt(free, first + i) : NO_SHELF)),
    };
  };
}

/** How many free shelves a view names. */
const FREE_SHOWN = 4;

function aboutOf(views: WarehouseViews, reader: Reader): JsonObject {
  const goal = readObservation(reader.focus);
  if (goal === undefined) return { item: NO_ITEM, shelf: NO_SHELF };
  if (goal.kind === 'maintenance') return { item: views.shelves.get(goal.shelf) ?? NO_ITEM, shelf: goal.shelf };
  return { item: goal.item, shelf: SHELVES.find((shelf) => views.shelves.get(shelf) === goal.item) ?? NO_SHELF };
}

/** The first free shelves of an offer, at most `countMax`. */
function freeShelves(views: WarehouseViews, offered: readonly string[], countMax: number): readonly string[] {
  const free: string[] = [];
  for (const shelf of offered) {
    if (free.length === countMax) break;
    if (views.shelves.get(shelf) === undefined) free.push(shelf);
  }
  return free;
}

/** The free shelf at a position, counted around. */
function shelfAt(free: readonly string[], at: number): string {
  return free[at % free.length] ?? NO_SHELF;
}

function fixed(count: number): string {
  return String(count).padStart(4, '0');
}
