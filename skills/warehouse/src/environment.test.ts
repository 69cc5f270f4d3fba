import type { OpenEvent } from '@oplus/agent';
import type { Action } from '@oplus/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { actionOf } from './action.ts';
import type { WarehouseAction } from './action.ts';
import type { WarehouseEnvironment, WarehousePlan } from './environment.ts';
import { openWarehouse, STEPS_MAX } from './environment.ts';
import { readObservation } from './goal.ts';
import { SHELVES } from './inventory.ts';
import { layoutOf, offeredShelves, ownerOf, ROUTINGS } from './layout.ts';
import { seededRandom } from './random.ts';
import { names } from './testing/team.ts';

function plan(agents: number, routing: string, steps: number = 40, seed: number = 42): WarehousePlan {
  return { agents: names(agents), routing, steps, seed };
}

/** What an all-seeing worker does: it looks at the world itself. */
function rightAction(environment: WarehouseEnvironment, { agent, observation }: OpenEvent): Action {
  const { routing, agents } = environment.plan;
  const { shelves } = environment.world();
  const goal = readObservation(observation);
  const free = offeredShelves(layoutOf(routing, agents), agent).find((shelf) => !shelves.has(shelf)) as string;
  const action = (): WarehouseAction => {
    if (goal?.kind === 'receive') return { name: 'Store', item: goal.item, shelf: free };
    if (goal?.kind === 'order')
      return { name: 'Ship', item: goal.item, shelf: SHELVES.find((shelf) => shelves.get(shelf) === goal.item) as string };
    const item = goal === undefined ? undefined : shelves.get(goal.shelf);
    return goal === undefined || item === undefined ? { name: 'Wait' } : { name: 'Move', item, from: goal.shelf, to: free };
  };
  return actionOf(action());
}

function finish(environment: WarehouseEnvironment, event: OpenEvent, revision: number = 1): void {
  const effect = environment.act(event, rightAction(environment, event), revision);
  expect(effect.ok).toBe(true);
  environment.done(event, 'acted');
}

/** Plays a plan; `timing` decides who is asked and who finishes first. Gives all events in the order of their hand-out. */
function play(environment: WarehouseEnvironment, timing: number): readonly OpenEvent[] {
  const { agents } = environment.plan;
  const random = seededRandom(timing, 1);
  const open: OpenEvent[] = [];
  const seen: OpenEvent[] = [];
  while (!environment.isOver()) {
    const idle = agents.filter(
      (agent) => open.every((event) => event.agent !== agent) && (timing === 0 || random.below(2) === 0),
    );
    const dealt = environment.assign(open.length === 0 ? agents : idle);
    if (open.length === 0) expect(dealt.length).toBeGreaterThan(0);
    open.push(...dealt);
    seen.push(...dealt);
    const count = timing === 0 ? open.length : random.below(open.length + 1);
    for (let i = 0; i < count; i += 1)
      finish(environment, open.splice(timing === 0 ? 0 : random.below(open.length), 1)[0] as OpenEvent);
  }
  return seen;
}

test('[WHS25] whatever the timing, all events are handed out once each and somebody always has one', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ROUTINGS),
      fc.integer({ min: 1, max: 16 }),
      fc.integer({ min: 1, max: 80 }),
      fc.nat(1000),
      fc.nat(1000),
      (routing, agents, steps, seed, timing) => {
        const environment = openWarehouse(plan(agents, routing, steps, seed));
        const seen = play(environment, timing);
        expect(seen).toHaveLength(steps);
        expect(new Set(seen.map((event) => event.id)).size).toBe(steps);
        expect(environment.tally()).toEqual({ events: steps, solved: steps, stalled: 0, actions: steps, invalid: 0 });
        expect(environment.assign(environment.plan.agents)).toEqual([]);
        const items = seen.flatMap(({ observation }) => (observation.startsWith('Shipment') ? [observation] : []));
        expect(new Set(items).size).toBe(items.length);
      },
    ),
    { numRuns: 150 },
  );
});

test('[WHS22] disjoint: what a worker is asked does not depend on how fast the others are', () => {
  const of = (timing: number, agent: string): readonly string[] =>
    play(openWarehouse(plan(5, 'disjoint', 83)), timing).flatMap((event) =>
      event.agent === agent ? [`${event.id} ${event.observation}`] : [],
    );
  for (const agent of names(5)) {
    const asked = of(0, agent);
    expect([16, 17]).toContain(asked.length);
    for (const timing of [1, 2, 3]) expect(of(timing, agent)).toEqual(asked);
  }
});

test('[WHS22] disjoint: a worker is asked about its own shelves only', () => {
  const environment = openWarehouse(plan(4, 'disjoint', 120));
  const layout = layoutOf('disjoint', names(4));
  for (const { agent, observation } of play(environment, 3)) {
    const goal = readObservation(observation);
    if (goal?.kind === 'maintenance') expect(names(4)[ownerOf(layout, goal.shelf)]).toBe(agent);
  }
});

test("[WHS23] zones: shelves are their owner's, and arriving items go around", () => {
  const agents = names(4);
  const environment = openWarehouse(plan(4, 'zones', 200));
  const layout = layoutOf('zones', agents);
  const receivers: string[] = [];
  for (const { agent, observation } of play(environment, 0)) {
    const goal = readObservation(observation);
    if (goal?.kind === 'maintenance') expect(agents[ownerOf(layout, goal.shelf)]).toBe(agent);
    if (goal?.kind === 'receive') receivers[Number(goal.item.slice(5)) - 1] = agent;
  }
  expect(receivers.length).toBeGreaterThan(20);
  receivers.forEach((agent, i) => expect(agent).toBe(agents[i % 4]));
});

test('[WHS24] shared: whoever is free gets the next event, in the order of the plan', () => {
  const environment = openWarehouse(plan(3, 'shared'));
  expect(environment.assign(['w03', 'w01']).map((event) => [event.id, event.agent])).toEqual([
    [1, 'w01'],
    [2, 'w03'],
  ]);
  expect(environment.assign(['w02']).map((event) => [event.id, event.agent])).toEqual([[3, 'w02']]);
});

test('[WHS26] the same plan and the same order of calls give the same events', () => {
  for (const routing of ROUTINGS) {
    const run = (seed: number): string => JSON.stringify(play(openWarehouse(plan(4, routing, 60, seed)), 9));
    expect(run(42)).toBe(run(42));
    expect(run(42)).not.toBe(run(43));
  }
});

test('[WHS27] an agent that still holds an event gets that one again', () => {
  for (const routing of ROUTINGS) {
    const environment = openWarehouse(plan(2, routing));
    const first = environment.assign(['w01']);
    expect(environment.assign(['w01'])).toEqual(first);
    finish(environment, first[0] as OpenEvent);
    expect(environment.assign(['w01'])[0]?.id).not.toBe(first[0]?.id);
  }
});

test('[WHS27] acting or closing outside an open event is a usage error, and so is a stranger', () => {
  const environment = openWarehouse(plan(2, 'shared'));
  const [event] = environment.assign(['w01']) as [OpenEvent];
  finish(environment, event);
  const usage = expect.objectContaining({ code: 'USAGE' }) as Error;
  expect(() => environment.act(event, { name: 'Wait', args: {} }, 1)).toThrow(usage);
  expect(() => environment.done(event, 'acted')).toThrow(usage);
  expect(() => environment.assign(['nobody'])).toThrow(usage);
  expect(environment.tally().events).toBe(1);
});

test('[WHS28] an event names the newest revision that has taken effect', () => {
  const environment = openWarehouse(plan(2, 'shared'));
  const [first, second] = environment.assign(['w01', 'w02']) as [OpenEvent, OpenEvent];
  expect([first.revisionMin, second.revisionMin]).toEqual([0, 0]);
  finish(environment, first, 7);
  finish(environment, second, 5);
  expect(environment.assign(['w01'])[0]?.revisionMin).toBe(7);
});

test('[WHS4] an event is solved when its goal was met while it was open, by whomever', () => {
  const environment = openWarehouse({ ...plan(2, 'shared', 400, 44) });
  let helped = 0;
  while (!environment.isOver()) {
    const events = environment.assign(names(2));
    const goals = events.map((event) => readObservation(event.observation));
    const [a, b] = goals;
    const isRace = a?.kind === 'order' && b?.kind === 'maintenance' && environment.world().shelves.get(b.shelf) === a.item;
    for (const event of events) finish(environment, event);
    if (isRace) helped += 1;
  }
  expect(helped).toBeGreaterThan(0);
  expect(environment.tally().solved).toBe(400);
});

test('[WHS4] an event whose goal nobody met is not solved', () => {
  const environment = openWarehouse(plan(1, 'shared', 2));
  const [event] = environment.assign(['w01']) as [OpenEvent];
  expect(environment.act(event, { name: 'Wait', args: {} }, 1)).toEqual({ ok: true, text: 'Nothing was done.' });
  environment.done(event, 'acted');
  const [next] = environment.assign(['w01']) as [OpenEvent];
  environment.done(next, 'stalled');
  expect(environment.tally()).toEqual({ events: 2, solved: 0, stalled: 1, actions: 1, invalid: 0 });
});

test('[WHS6] a committed action that cannot be carried out is kept in words, and changes nothing', () => {
  const environment = openWarehouse(plan(1, 'shared', 3));
  const [event] = environment.assign(['w01']) as [OpenEvent];
  const before = environment.world();
  expect(environment.act(event, { name: 'Ship', args: { item: 'item-0009', shelf: 'S001' } }, 1).ok).toBe(false);
  expect(environment.act(event, { name: 'Burn', args: {} }, 2).ok).toBe(false);
  expect(environment.world()).toBe(before);
  expect(environment.tally().invalid).toBe(2);
  expect(environment.misfits()).toEqual([
    'w01 committed "Shipment arrived containing item-0001" with Ship item-0009 S001, which the warehouse answered: Error: item-0009 is not on S001, which is empty.',
    'w01 committed "Shipment arrived containing item-0001" with its action, which the warehouse answered: Error: There is no action Burn; the actions are Store, Ship, Move, Wait.',
  ]);
});

test('[WHS29] a plan that cannot be played is a usage error', () => {
  const usage = expect.objectContaining({ code: 'USAGE' }) as Error;
  for (const steps of [0, -1, 1.5, Number.NaN, STEPS_MAX + 1])
    expect(() => openWarehouse({ ...plan(2, 'shared'), steps })).toThrow(usage);
  for (const seed of [-1, 0.5, 2 ** 53]) expect(() => openWarehouse({ ...plan(2, 'shared'), seed })).toThrow(usage);
  expect(() => openWarehouse(plan(2, 'sideways'))).toThrow(usage);
});
