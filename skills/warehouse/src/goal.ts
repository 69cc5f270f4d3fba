/**
 * What the warehouse asks of a worker, as data and as the line that the worker observes.
 *
 * | goal | observation | met by |
 * |---|---|---|
 * | receive | `Shipment arrived containing <item>` | storing that item |
 * | order | `Customer ordered <item>` | shipping that item |
 * | maintenance | `Maintenance required on <shelf>` | taking away what stands on that shelf, by `Move` or `Ship` |
 *
 * A goal is met by an executed action, whoever takes it: a shelf that a colleague emptied needs no second clearing, and
 * the right action is then `Wait`. SPEC: WHS3, WHS4.
 */
import type { WarehouseAction } from './action.ts';

export type Goal =
  | { readonly kind: 'receive'; readonly item: string }
  | { readonly kind: 'order'; readonly item: string }
  | { readonly kind: 'maintenance'; readonly shelf: string };

/** The line that a worker observes. */
export function observationOf(goal: Goal): string {
  switch (goal.kind) {
    case 'receive':
      return `Shipment arrived containing ${goal.item}`;
    case 'order':
      return `Customer ordered ${goal.item}`;
    case 'maintenance':
      return `Maintenance required on ${goal.shelf}`;
  }
}

/** The first goal that an observation names, on a line of its own; `undefined` when there is none. */
export function readObservation(text: string): Goal | undefined {
  for (const line of text.split('\n')) {
    const match = OBSERVATION.exec(line.trim());
    const [, receive, order, maintenance] = match ?? [];
    if (receive !== undefined) return { kind: 'receive', item: receive };
    if (order !== undefined) return { kind: 'order', item: order };
    if (maintenance !== undefined) return { kind: 'maintenance', shelf: maintenance };
  }
  return undefined;
}

/** True when executing the action meets the goal. */
export function meets(action: WarehouseAction, goal: Goal): boolean {
  switch (goal.kind) {
    case 'receive':
      return action.name === 'Store' && action.item === goal.item;
    case 'order':
      return action.name === 'Ship' && action.item === goal.item;
    case 'maintenance':
      return (action.name === 'Ship' && action.shelf === goal.shelf) || (action.name === 'Move' && action.from === goal.shelf);
  }
}

const OBSERVATION =
  /^(?:Shipment arrived containing (item-[0-9]{4})|Customer ordered (item-[0-9]{4})|Maintenance required on (S[0-5][0-9]{2}))$/;
