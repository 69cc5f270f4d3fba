/**
 * What happens next in a warehouse: drawn uniformly among the kinds of events that are possible, then uniformly among
 * their targets.
 *
 * A receipt needs a free shelf, and so does maintenance, which needs a place to move to; the paper does not say what
 * happens in a full warehouse. An item is ordered once; a shelf has one maintenance at a time. But the same shelf may be
 * under maintenance for one worker while its item is ordered through another: that race is wanted. SPEC: WHS7-WHS9.
 */
import type { Goal } from './goal.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** `shelves` are those in question, `goals` the ones still open there, `item` the name of the next item to arrive. */
export type Situation = {
  readonly world: World;
  readonly shelves: readonly string[];
  readonly goals: readonly Goal[];
  readonly item: string;
};

/** The next goal; `undefined` when nothing is possible. O(shelves + goals). */
export function drawGoal(situation: Situation, random: Random): Goal | undefined {
  const possible = possibleGoals(situation);
  const kind = possible[random.below(Math.max(1, possible.length))];
  return kind?.[random.below(kind.length)];
}

/** The goals that could come next, by kind; no kind is empty. */
export function possibleGoals({ world, shelves, goals, item }: Situation): readonly (readonly Goal[])[] {
  const ordered = new Set<string>();
  const closed = new Set<string>();
  let promised = 0;
  for (const goal of goals) {
    if (goal.kind === 'order') ordered.add(goal.item);
    else promised += 1;
    if (goal.kind === 'maintenance') closed.add(goal.shelf);
  }
  const occupied = shelves.flatMap((shelf) => {
    const there = world.shelves.get(shelf);
    return there === undefined ? [] : [{ shelf, item: there }];
  });
  const hasRoom = shelves.length - occupied.length > promised;
  const receive: Goal[] = hasRoom ? [{ kind: 'receive', item }] : [];
  const order = occupied.filter((place) => !ordered.has(place.item)).map((place): Goal => ({ kind: 'order', item: place.item }));
  const maintenance = occupied
    .filter((place) => hasRoom && !closed.has(place.shelf))
    .map((place): Goal => ({ kind: 'maintenance', shelf: place.shelf }));
  return [receive, order, maintenance].filter((kind) => kind.length > 0);
}
