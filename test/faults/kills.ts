/**
 * A run under fire: the coordinator is killed again and again, at moments of a seed, and another one is there at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { LogReader } from '@oplus/protocol';
import type { Bus } from '@oplus/protocol';
import { expect } from 'vitest';
import { killAll, startCoordinator } from './coordinator-child.ts';
import type { CoordinatorChild } from './coordinator-child.ts';
import { numbersFrom, startCrew } from './crew.ts';
import type { Stand } from './crew.ts';

/** `open` gives the workers' ends once the first coordinator leads; whoever opens closes. */
export type KillOptions = {
  readonly stand: Stand;
  readonly workerCount: number;
  readonly killCount: number;
  readonly seed: number;
  open(): Promise<{ readonly bus: Bus; readonly log: LogReader }>;
};

/** Kills it `killCount` times while the workers work, then lets them finish and audits the log. */
export async function runUnderKills({ stand, workerCount, killCount, seed, open }: KillOptions): Promise<void> {
  const children = new Set<CoordinatorChild>();
  const next = numbersFrom(seed);
  let crew: Awaited<ReturnType<typeof startCrew>> | undefined;
  try {
    let leader = startCoordinator(stand, children);
    await leader.lead();
    const { bus, log } = await open();
    crew = await startCrew(bus, log, workerCount);
    for (let killed = 0; killed < killCount; killed += 1) {
      // Loaded while the other one still leads, so that nobody waits for it afterwards.
      const successor = startCoordinator(stand, children);
      // Some moments fall into the first appends after a recovery, the others into full work.
      const enough = crew.count() + next(40);
      const working = crew;
      await Promise.race([until(() => working.count() >= enough), delay(next(400) + 100)]);
      leader.signal('SIGKILL');
      await leader.gone;
      leader = successor;
      await leader.lead();
    }
    const atLeast = crew.count() + 50;
    const working = crew;
    await until(() => working.count() >= atLeast);
    await crew.finish();
    const { terms } = await crew.audit(log);
    expect(terms.length).toBeGreaterThanOrEqual(killCount + 1);
  } finally {
    await crew?.close();
    await killAll(children);
  }
}

/** Resolves as soon as it holds. The test's own time limit ends the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(1);
}
