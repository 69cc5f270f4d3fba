/**
 * Runs actions one at a time, in the order in which their proposals stand in the log.
 *
 * A committed patch describes the world after its action, so the world must see the actions in the order of the commits;
 * which worker hears of its verdict first must not matter. SPEC: TM1-TM3.
 */
import { actionKey } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import type { Sealed, Space } from '@oplus/core';
import type { Replica } from '@oplus/protocol';

/** What runs when its turn has come. `revision` is the one at which the proposal was committed. */
export type Job<T> = (revision: number) => T;

export type CommitOrder = {
  /**
   * Runs the job of this key (`actionKey`) after those of all earlier committed dots that have an action. Throws what the job
   * throws; when its turn can never come, why: the replica has failed, or an agent before it was abandoned.
   */
  run<T>(key: string, job: Job<T>): Promise<T>;
  /**
   * Says that this agent will run no job any more. Should an action of its own be due, now or later, then the world has lost
   * its place in the log: nothing behind that action runs, and who waits for it gets `error`.
   */
  abandon(agent: string, error: Error): void;
  close(): void;
};

/** Follows a replica from now on: open it before anybody proposes. */
export function commitOrder(replica: Replica): CommitOrder {
  const due: Due[] = [];
  const waiting = new Map<string, Waiting>();
  const abandoned = new Map<string, Error>();
  let failure: Error | undefined;

  const fail = (error: Error): void => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  const pump = (): void => {
    for (let next = due[0]; next !== undefined && failure === undefined; next = due[0]) {
      const job = waiting.get(next.key);
      if (job === undefined) {
        const error = abandoned.get(next.agent);
        if (error !== undefined) fail(error);
        return;
      }
      due.shift();
      waiting.delete(next.key);
      job.start(next.revision);
    }
  };
  const end = replica.onChange((space: Space, sealed: Sealed | undefined) => {
    if (sealed === undefined) {
      fail(replica.failure() ?? new OplusError('TRANSPORT_CLOSED', `nobody leads ${space.name} any more`));
      return;
    }
    for (const { admitted, verdict } of sealed.decided) {
      const { action, agent } = admitted.proposal;
      if (verdict.kind !== 'committed' || action === undefined) continue;
      due.push({ key: actionKey(space.name, admitted.proposal), agent, revision: verdict.revision });
    }
    pump();
  });
  return {
    run: (key, job) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) {
          reject(failure);
          return;
        }
        const start = (revision: number): void => {
          try {
            resolve(job(revision));
          } catch (error) {
            reject(error as Error);
          }
        };
        waiting.set(key, { start, reject });
        pump();
      }),
    abandon: (agent, error) => {
      abandoned.set(agent, error);
      pump();
    },
    close: end,
  };
}

/** A committed action that has not run, in the order of the log. */
type Due = { readonly key: string; readonly agent: string; readonly revision: number };

type Waiting = { readonly start: (revision: number) => void; readonly reject: (error: Error) => void };
