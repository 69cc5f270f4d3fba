/**
 * One run's warehouse: hands events out, carries committed actions out in the order of the log, and keeps the tally.
 *
 * An event is solved when its goal was met while it was open, by whomever; a worker that finds its goal met already says
 * `Wait`. An action of a committed patch that cannot be carried out is a violation: state and world have parted.
 * SPEC: WHS4, WHS6, WHS27-WHS29.
 */
import type { Effect, Environment, OpenEvent, RunPlan, Tally } from '@oplus/agent';
import type { Action } from '@oplus/core';
import { OplusError } from '@oplus/core';
import { actionLine, readAction } from './action.ts';
import { meets, observationOf } from './goal.ts';
import { ITEMS_MAX } from './inventory.ts';
import { layoutOf, WORKERS_MAX } from './layout.ts';
import type { Deal } from './routing.ts';
import { dealerOf } from './routing.ts';
import type { World } from './world.ts';
import { arrive, carryOut, EMPTY_WORLD } from './world.ts';

/** `blockShelves` as in `layoutOf`. */
export type WarehousePlan = RunPlan & { readonly blockShelves?: number };

export interface WarehouseEnvironment extends Environment {
  readonly plan: WarehousePlan;
  /** The world as it stands. */
  world(): World;
  /** Committed actions that could not be carried out, in words. */
  misfits(): readonly string[];
}

/** Most events of one run: every one could bring an item, and items of `disjoint` workers are numbered in turn. */
export const STEPS_MAX: number = ITEMS_MAX - WORKERS_MAX;

/** Opens the warehouse of a plan, empty. Throws `USAGE` for a plan that cannot be played. */
export function openWarehouse(plan: WarehousePlan): WarehouseEnvironment {
  const { agents, steps, seed } = plan;
  const layout = layoutOf(plan.routing, agents, plan.blockShelves);
  checkNumber('steps', steps, STEPS_MAX);
  checkNumber('seed', seed, Number.MAX_SAFE_INTEGER);
  const dealer = dealerOf(layout, steps, seed);
  const held = new Map<string, OpenEvent>();
  const met = new Set<number>();
  const misfits: string[] = [];
  const counts = { events: 0, solved: 0, stalled: 0, actions: 0, invalid: 0 };
  let world = EMPTY_WORLD;
  let revisionMin = 0;

  const open = (event: OpenEvent): void => {
    if (held.get(event.agent)?.id !== event.id) {
      throw new OplusError('USAGE', `event ${event.id} of ${event.agent} is not open`, {
        hint: 'Act on an event that assign gave, and close it once.',
      });
    }
  };

  const hand = ({ id, goal, worker }: Deal): OpenEvent => {
    if (goal.kind === 'receive') world = arrive(world, goal.item);
    const event = { id, agent: agents[worker] as string, observation: observationOf(goal), revisionMin };
    held.set(event.agent, event);
    return event;
  };

  return {
    plan,
    assign: (idle) => {
      const stranger = idle.find((agent) => !agents.includes(agent));
      if (stranger !== undefined)
        throw new OplusError('USAGE', `${stranger} is not in the plan`, { hint: `The agents are ${agents.join(', ')}.` });
      const busy = idle.flatMap((agent) => held.get(agent) ?? []);
      const free = agents.flatMap((agent, worker) => (idle.includes(agent) && !held.has(agent) ? [worker] : []));
      return [...busy, ...dealer.deal(free, world).map(hand)];
    },
    act: (event, action, revision) => {
      open(event);
      revisionMin = Math.max(revisionMin, revision);
      counts.actions += 1;
      const effect = carry(event, action);
      if (!effect.ok) counts.invalid += 1;
      return effect;
    },
    done: (event, end) => {
      open(event);
      held.delete(event.agent);
      dealer.close(event.id);
      counts.events += 1;
      if (met.delete(event.id)) counts.solved += 1;
      if (end === 'stalled') counts.stalled += 1;
    },
    isOver: () => counts.events === steps,
    tally: (): Tally => ({ ...counts }),
    world: () => world,
    misfits: () => misfits,
  };

  function carry(event: OpenEvent, given: Action): Effect {
    const action = readAction(given);
    if (typeof action === 'string') return misfit(event, `Error: ${action}`);
    const { world: next, ok, text } = carryOut(world, action);
    if (!ok) return misfit(event, text, actionLine(action));
    world = next;
    for (const [id, goal] of dealer.open()) if (meets(action, goal)) met.add(id);
    return { ok, text };
  }

  function misfit(event: OpenEvent, text: string, line: string = 'its action'): Effect {
    misfits.push(`${event.agent} committed "${event.observation}" with ${line}, which the warehouse answered: ${text}`);
    return { ok: false, text };
  }
}

function checkNumber(name: string, value: number, valueMax: number): void {
  if (Number.isSafeInteger(value) && value >= (name === 'steps' ? 1 : 0) && value <= valueMax) return;
  throw new OplusError('USAGE', `${name} is ${value}`, { hint: `Give a whole number up to ${valueMax}.` });
}
