/**
 * A team: one coordinator and its workers on a stage, in one process.
 */
import { randomUUID } from 'node:crypto';
import { OplusError } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import type { Coordinator } from '@oplus/coordinator';
import { openCoordinator } from '@oplus/coordinator';
import type { Replica } from '@oplus/protocol';
import type { Worker } from '@oplus/worker';
import { join } from '@oplus/worker';
import { closings } from './closings.ts';
import { CHANNEL } from './run-broker.ts';
import type { Stage } from './stage.ts';

export type TeamOptions = {
  readonly stage: Pick<Stage, 'log' | 'coordinatorBus' | 'workerBus' | 'clock'> & Partial<Pick<Stage, 'blobs'>>;
  readonly space: string;
  readonly schema: StateSchema;
  readonly agents: readonly { readonly name: string; readonly role: string }[];
  /** No run before may have used it; random when left out, fixed for reproducible logs. */
  readonly session?: string;
  /** Goes into the genesis entry of a new space; empty when left out. */
  readonly nonce?: string;
  /** Rounds close when every agent has spoken, so that a run does not depend on timing; false when left out. */
  readonly isBarrier?: boolean;
};

export type Team = {
  readonly coordinator: Coordinator;
  readonly workers: readonly Worker[];
  /** The space as the coordinator has appended it, shared by all workers of the process. */
  readonly replica: Replica;
  /** Lets everybody leave the space, in the log. Throws why the coordinator has ended, when it has. */
  leave(): Promise<void>;
  /** Ends coordinator and workers, and not the stage. Idempotent. */
  close(): Promise<void>;
};

/**
 * Opens the coordinator, then lets every agent join. Throws `USAGE` when two agents share a name, and what coordinator and
 * workers throw; closes what it opened when one fails.
 */
export async function openTeam(options: TeamOptions): Promise<Team> {
  const { stage, space, schema, agents, session = randomUUID(), nonce = '', isBarrier = false } = options;
  const twice = agents.find(({ name }, i) => agents.findIndex((agent) => agent.name === name) !== i);
  if (twice !== undefined) {
    throw new OplusError('USAGE', `two agents are called ${twice.name}`, {
      hint: 'Each agent of a team needs a name of its own.',
    });
  }
  const coordinator = await openCoordinator({
    log: stage.log,
    bus: stage.coordinatorBus,
    clock: stage.clock,
    channel: CHANNEL,
    schemas: new Map([[space, schema]]),
    ...(stage.blobs === undefined ? {} : { blobs: stage.blobs }),
    nonces: new Map([[space, nonce]]),
    ...(isBarrier ? { barrier: { agents: agents.length } } : {}),
  });
  const opened = closings();
  const failed = new AbortController();
  try {
    const replica = coordinator.replica(space);
    const joined = await Promise.allSettled(
      agents.map(async ({ name, role }) => {
        try {
          const base = { bus: stage.workerBus, clock: stage.clock, channel: CHANNEL, replica, signal: failed.signal };
          const worker = await join({ ...base, agent: name, role, session: `${session}-${name}` });
          opened.add(() => worker.close());
          return worker;
        } catch (error) {
          // The others would wait for ever where a round needs everybody.
          failed.abort(error);
          throw error;
        }
      }),
    );
    failed.signal.throwIfAborted();
    const workers = joined.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    opened.add(() => coordinator.close());
    return {
      coordinator,
      workers,
      replica,
      leave: async () => {
        await Promise.all(workers.map((worker) => worker.leave()));
      },
      close: opened.close,
    };
  } catch (error) {
    await opened.close().catch(() => undefined);
    await coordinator.close();
    throw error;
  }
}
