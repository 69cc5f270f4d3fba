/**
 * A whole run in barrier mode over any log and bus: several workers that decide by what they see, with messages that take their time.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { cas, counter, loadState, log, map, stateJson } from '@oplus/core';
import type { JsonObject, StateSchema } from '@oplus/core';
import { openCoordinator } from '@oplus/coordinator';
import type { Bus, Log } from '@oplus/protocol';
import { sha256 } from '@oplus/protocol';
import { systemClock } from '@oplus/transport-memory';
import { join } from '@oplus/worker';
import type { View, Worker } from '@oplus/worker';
import { z } from 'zod';

export type RunOptions = {
  readonly log: Log;
  readonly coordinatorBus: Bus;
  readonly workerBus: Bus;
  readonly agentCount: number;
  readonly roundCount: number;
  /** How many turns of the event loop the next message takes. */
  readonly jitter: () => number;
};

const SPACE = 'run';

const SCHEMA: StateSchema = loadState(
  {
    name: 'run',
    version: 1,
    fields: {
      lead: cas(z.string().max(32)),
      done: counter(),
      seen: map(counter(), { cap: 64 }),
      said: log(z.string().max(60), { keep: 8 }),
    },
  },
  sha256,
);

/** Runs it; gives the bodies of the log. */
export async function lockstepRun({
  log: runLog,
  coordinatorBus,
  workerBus,
  agentCount,
  roundCount,
  jitter,
}: RunOptions): Promise<readonly string[]> {
  const clock = systemClock();
  const schemas = new Map([[SPACE, SCHEMA]]);
  const coordinator = await openCoordinator({
    log: runLog,
    bus: coordinatorBus,
    clock,
    channel: 'main',
    schemas,
    barrier: { agents: agentCount },
  });
  const replica = coordinator.replica(SPACE);
  const bus = slow(workerBus, jitter);
  const names = Array.from({ length: agentCount }, (_, i) => `agent-${i}`);
  const workers = await Promise.all(
    names.map((agent) => join({ bus, clock, channel: 'main', replica, agent, role: 'agent', session: agent })),
  );
  await Promise.all(workers.map((worker) => live(worker, roundCount, jitter)));
  await coordinator.close();
  const bodies: string[] = [];
  for await (const { body } of runLog.read(1)) bodies.push(body);
  return bodies;
}

/** A generator of turns to wait, by seed. */
export function jitterOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % 6;
  };
}

/** Proposes or passes in each round, by what the view says; then leaves. */
async function live(worker: Worker, roundCount: number, jitter: () => number): Promise<void> {
  let view: View = await worker.view();
  for (let round = 0; round < roundCount; round += 1) {
    for (let turns = jitter(); turns > 0; turns -= 1) await turn();
    const patch = decision(worker.agent, view);
    if (patch === undefined) await view.pass();
    else await view.propose({ patch });
    view = await worker.viewAfter(view);
  }
  await worker.leave();
}

function decision(agent: string, { space }: View): JsonObject | undefined {
  const { lead, seen } = stateJson(space) as {
    readonly lead: string | null;
    readonly seen: { readonly [agent: string]: number } | null;
  };
  const own = seen?.[agent] ?? 0;
  if ((own + agent.length + Number(agent.at(-1))) % 4 === 3 && lead !== agent)
    return { lead: { set: agent }, said: { append: [`${agent} leads after ${lead ?? 'nobody'}`] } };
  // Never everybody at once: a round in which nobody has anything to say does not close.
  if (own > 0 && agent !== 'agent-0' && (space.revision + Number(agent.at(-1))) % 3 === 0) return undefined;
  return { seen: { at: { [agent]: { inc: 1 } } }, done: { inc: own + 1 } };
}

/** A bus on which what workers say takes a while, and overtakes. */
function slow(bus: Bus, jitter: () => number): Bus {
  return {
    ...bus,
    async attach(channel, as, onMessage) {
      const end = await bus.attach(channel, as, onMessage);
      return {
        send(body) {
          void (async () => {
            for (let turns = jitter(); turns > 0; turns -= 1) await turn();
            end.send(body);
          })();
        },
        close: () => end.close(),
      };
    },
  };
}
