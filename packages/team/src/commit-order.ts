/**
 * Runs actions one at a time, in the order in which their proposals stand in the log.
 *
 * A committed patch describes the world after its action, so the world must see the actions in the order of the commits;
 * which worker hears of its verdict first must not matter.
 */
import { actionKey } from '@oplus/agent';
import type { Sealed, Space } from '@oplus/core';
import type { Replica } from '@oplus/protocol';

/** What runs when its turn has come. `revision` is the one at which the proposal was committed. */
type Job<T> = (revision: number) => T;

export type CommitOrder = {
  /** Runs the job of this key (`actionKey`) after those of all earlier committed dots that have an action. */
  run<T>(key: string, job: Job<T>): Promise<T>;
  close(): void;
};

/** Follows a replica from now on: open it before anybody proposes. */
export function commitOrder(replica: Replica): CommitOrder {
  const due: { readonly key: string; readonly revision: number }[] = [];
  const jobs = new Map<string, (revision: number) => void>();
  const pump = (): void => {
    for (let next = due[0]; next !== undefined; next = due[0]) {
      const job = jobs.get(next.key);
      if (job === undefined) return;
      due.shift();
      jobs.delete(next.key);
      job(next.revision);
    }
  };
  const end = replica.onChange((space: Space, sealed: Sealed | undefined) => {
    for (const { admitted, verdict } of sealed?.decided ?? []) {
      const { action } = admitted.proposal;
      if (verdict.kind === 'committed' && action !== undefined) due.push({ key: actionKey(space.name, admitted.proposal), revision: verdict.revision });
    }
    pump();
  });
  return {
    run: (key, job) =>
      new Promise((resolve, reject) => {
        jobs.set(key, (revision) => {
          try {
            resolve(job(revision));
          } catch (error) {
            reject(error as Error);
          }
        });
        pump();
      }),
    close: end,
  };
}
