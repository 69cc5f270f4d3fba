/**
 * A team: one coordinator and its workers on a stage, in one process.
 */
import type { StateSchema } from '@oplus/core';
import type { Coordinator } from '@oplus/coordinator';
import { openCoordinator } from '@oplus/coordinator';
import type { Replica } from '@oplus/protocol';
import type { Worker } from '@oplus/worker';
import { join } from '@oplus/worker';
import type { Stage } from './stage.ts';

export type TeamOptions = {
  readonly stage: Stage;
  readonly space: string;
  readonly schema: StateSchema;
  readonly agents: readonly { readonly name: string; readonly role: string }[];
  /** Distinguishes this run's sessions from all others; fixed for reproducible logs. */
  readonly session: string;
  /** Goes into the genesis entry of a new space. */
  readonly nonce: string;
  /** Rounds close when every agent has spoken, so that a run does not depend on timing. */
  readonly isBarrier: boolean;
};

export type Team = {
  readonly coordinator: Coordinator;
  readonly workers: readonly Worker[];
  /** The space as the coordinator has appended it, shared by all workers of the process. */
  readonly replica: Replica;
  close(): Promise<void>;
};

/** Name of the channel and of the shard that a team of one process uses. */
export const CHANNEL = 'main';

/** Opens the coordinator, then lets every agent join. Throws what they throw; closes what it opened when one fails. */
export async function openTeam(options: TeamOptions): Promise<Team> {
  const { stage, space, schema, agents, session, nonce, isBarrier } = options;
  const coordinator = await openCoordinator({
    log: stage.log,
    bus: stage.coordinatorBus,
    clock: stage.clock,
    channel: CHANNEL,
    schemas: new Map([[space, schema]]),
    nonces: new Map([[space, nonce]]),
    ...(isBarrier ? { barrier: { agents: agents.length } } : {}),
  });
  try {
    const replica = coordinator.replica(space);
    const workers = await Promise.all(
      agents.map(({ name, role }) =>
        join({ bus: stage.workerBus, clock: stage.clock, channel: CHANNEL, replica, agent: name, role, session: `${session}-${name}` }),
      ),
    );
    return { coordinator, workers, replica, close: () => coordinator.close() };
  } catch (error) {
    await coordinator.close();
    throw error;
  }
}
