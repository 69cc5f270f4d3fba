/**
 * Which worker gets which event.
 *
 * - `disjoint`: each worker has its own shelves, its own share of the events and its own draws; how fast the others are
 *   changes nothing for it. Only the counters are shared.
 * - `zones`: one stream of events. One about a shelf goes to the worker whose block holds that shelf, arriving items go to
 *   the workers in turn. Events wait for their worker, at most `WAITING_MAX` each before the stream pauses.
 * - `shared`: one stream; whoever is free gets the next event, drawn at that moment.
 *
 * A dealer is mutable and deterministic in its plan and the order of calls. SPEC: WHS22-WHS26.
 */
import { invariant } from '@oplus/core';
import type { Situation } from './generator.ts';
import { drawGoal } from './generator.ts';
import type { Goal } from './goal.ts';
import { itemName, SHELVES } from './inventory.ts';
import type { Layout } from './layout.ts';
import { ownerOf, ownShelves } from './layout.ts';
import { seededRandom } from './random.ts';
import type { World } from './world.ts';

/** Numbered from 1; under `disjoint` the numbers of different workers interleave. */
export type Dealt = { readonly id: number; readonly goal: Goal };

/** A dealt event with the position of its worker. */
export type Deal = Dealt & { readonly worker: number };

export interface Dealer {
  /**
   * Events for some of the workers at these ascending positions, who hold none; at most one each. When these are all
   * workers, at least one gets an event, or all events are closed.
   */
  deal(idle: readonly number[], world: World): readonly Deal[];
  /** Goals of the events drawn and not closed, those that still wait for their worker included. */
  open(): ReadonlyMap<number, Goal>;
  close(id: number): void;
}

/** The dealer of a layout; `steps` events in all. */
export function dealerOf(layout: Layout, steps: number, seed: number): Dealer {
  switch (layout.routing) {
    case 'disjoint':
      return disjointDealer(layout, steps, seed);
    case 'zones':
      return zonesDealer(layout, steps, seed);
    case 'shared':
      return sharedDealer(steps, seed);
  }
}

/** Events that may wait for one busy worker before the stream pauses. */
const WAITING_MAX = 2;

function disjointDealer(layout: Layout, steps: number, seed: number): Dealer {
  const count = layout.agents.length;
  const open = new Map<number, Goal>();
  const workers = layout.agents.map((_, worker) => {
    const share = Math.floor(steps / count) + Number(worker < steps % count);
    return { shelves: ownShelves(layout, worker), random: seededRandom(seed, worker + 1), left: share, drawn: 0, arrived: 0 };
  });
  const dealOne = (worker: number, world: World): readonly Deal[] => {
    const own = workers[worker];
    if (own === undefined || own.left === 0) return [];
    const item = itemName(own.arrived * count + worker + 1);
    const goal = drawGoal({ world, shelves: own.shelves, goals: [], item }, own.random);
    invariant(goal !== undefined, 'a worker with shelves and no open event has nothing to do');
    const id = own.drawn * count + worker + 1;
    own.left -= 1;
    own.drawn += 1;
    own.arrived += Number(goal.kind === 'receive');
    open.set(id, goal);
    return [{ id, goal, worker }];
  };
  return {
    deal: (idle, world) => idle.flatMap((worker) => dealOne(worker, world)),
    open: () => open,
    close: (id) => open.delete(id),
  };
}

function sharedDealer(steps: number, seed: number): Dealer {
  const stream = streamOf(steps, seed);
  return {
    deal: (idle, world) =>
      idle.flatMap((worker) => {
        const dealt = stream.next(world);
        return dealt === undefined ? [] : [{ ...dealt, worker }];
      }),
    open: () => stream.open,
    close: (id) => stream.open.delete(id),
  };
}

function zonesDealer(layout: Layout, steps: number, seed: number): Dealer {
  const stream = streamOf(steps, seed);
  const waiting = layout.agents.map((): Dealt[] => []);
  const ownerOfGoal = (world: World, goal: Goal): number => {
    if (goal.kind === 'receive') return (stream.arrived() - 1) % layout.agents.length;
    return ownerOf(layout, goal.kind === 'maintenance' ? goal.shelf : shelfOf(world, goal.item));
  };
  return {
    deal: (idle, world) => {
      const unserved = new Set(idle);
      const deals: Deal[] = [];
      const serve = (worker: number): void => {
        const dealt = unserved.has(worker) ? waiting[worker]?.shift() : undefined;
        if (dealt === undefined) return;
        unserved.delete(worker);
        deals.push({ ...dealt, worker });
      };
      for (const worker of idle) serve(worker);
      while (unserved.size > 0 && waiting.every((queue) => queue.length < WAITING_MAX)) {
        const drawn = stream.next(world);
        if (drawn === undefined) break;
        const owner = ownerOfGoal(world, drawn.goal);
        waiting[owner]?.push(drawn);
        serve(owner);
      }
      return deals;
    },
    open: () => stream.open,
    close: (id) => stream.open.delete(id),
  };
}

type Stream = {
  readonly open: Map<number, Goal>;
  /** `undefined` when all are drawn, or when nothing is possible while the open events are. */
  next(world: World): Dealt | undefined;
  /** How many items have arrived. */
  arrived(): number;
};

function streamOf(steps: number, seed: number): Stream {
  const random = seededRandom(seed, 0);
  const open = new Map<number, Goal>();
  let drawn = 0;
  let arrived = 0;
  return {
    open,
    next: (world) => {
      if (drawn === steps) return undefined;
      const situation: Situation = { world, shelves: SHELVES, goals: [...open.values()], item: itemName(arrived + 1) };
      const goal = drawGoal(situation, random);
      if (goal === undefined) return undefined;
      drawn += 1;
      arrived += Number(goal.kind === 'receive');
      open.set(drawn, goal);
      return { id: drawn, goal };
    },
    arrived: () => arrived,
  };
}

function shelfOf(world: World, item: string): string {
  for (const [shelf, there] of world.shelves) if (there === item) return shelf;
  return SHELVES[0] as string;
}
