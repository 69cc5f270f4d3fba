/**
 * A run under fire: coordinators are killed again and again, and another one is there at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Bus, LogReader } from '@oplus/protocol';
import { expect } from 'vitest';
import { killAll, startCoordinator } from './coordinator-child.ts';
import type { CoordinatorChild } from './coordinator-child.ts';
import { numbersFrom, startCrew } from './crew.ts';
import type { Crew, Death, Stand } from './crew.ts';

/** `open` gives the workers' ends once the first coordinator leads; whoever opens closes. */
export type KillOptions = {
  readonly stand: Stand;
  readonly workerCount: number;
  readonly killCount: number;
  readonly seed: number;
  open(): Promise<{ readonly bus: Bus; readonly log: LogReader }>;
};

/**
 * Kills `killCount` coordinators while the workers work, then lets them finish and audits the log. Each third dies at a moment of the
 * seed, each third right before one of its appends is stored, each third right after.
 */
export async function runUnderKills({ stand, workerCount, killCount, seed, open }: KillOptions): Promise<void> {
  const children = new Set<CoordinatorChild>();
  const next = numbersFrom(seed);
  const deaths = Array.from({ length: killCount }, (_, i): Death | undefined => {
    const at = ([undefined, 'before', 'after'] as const)[i % 3];
    // Its first append is its term, the first one of all also has the birth of the space and the joins.
    return at === undefined ? undefined : { append: 2 + next(10) + (i === 0 ? 8 : 0), at };
  });
  let crew: Crew | undefined;
  try {
    let leader = startCoordinator(stand, children, deaths[0]);
    await leader.lead();
    const { bus, log } = await open();
    crew = await startCrew(bus, log, workerCount);
    const working = crew;
    let untoldCount = 0;
    for (const [i, death] of deaths.entries()) {
      // Loaded while the other one still leads, so that nobody waits for it afterwards.
      const successor = startCoordinator(stand, children, deaths[i + 1]);
      const enough = working.count() + 1 + next(40);
      if (death === undefined) {
        await until(() => working.count() >= enough);
        leader.signal('SIGKILL');
      }
      await leader.gone;
      await delay(SETTLE_MS);
      untoldCount += (await committedIn(log)) > working.count() ? 1 : 0;
      leader = successor;
      await leader.lead();
    }
    const enough = working.count() + 50;
    await until(() => working.count() >= enough);
    await crew.finish();
    const { terms } = await crew.audit(log);
    expect(terms.length).toBe(killCount + 1);
    // Those that died right after an append left commits behind of which nobody had heard.
    expect(untoldCount).toBeGreaterThanOrEqual(deaths.filter((death) => death?.at === 'after').length);
  } finally {
    await crew?.close();
    await killAll(children);
  }
}

/** Resolves as soon as it holds. The test's own time limit ends the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(1);
}

/** Longer than a verdict that has left is on its way. */
const SETTLE_MS = 20;

async function committedIn(log: LogReader): Promise<number> {
  let count = 0;
  for await (const { body } of log.read(1)) count += body.match(/"kind":"committed"/g)?.length ?? 0;
  return count;
}
