/**
 * A crew of workers in this process, around a coordinator in another: they count, and remember what they were told.
 */
import { counter, emptyShard, foldRecord, loadState, map, stateJson } from '@oplus/core';
import type { Space, StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import type { Bus, LogReader, Replica } from '@oplus/protocol';
import { systemClock } from '@oplus/transport-memory';
import { follow, join } from '@oplus/worker';
import type { Worker } from '@oplus/worker';
import { expect } from 'vitest';

/** What a coordinator process stands on. `dir` is a folder for what it keeps beside that: compiled code, so that the next one starts faster. */
export type Stand = { readonly dir: string } & (
  | { readonly kind: 'sqlite'; readonly file: string; readonly socket: string }
  | { readonly kind: 'nats'; readonly url: string; readonly user: string; readonly password: string }
);

/** When a coordinator process kills itself: at its n-th append, before or after the log has stored it. Nobody hears of that append from it. */
export type Death = { readonly append: number; readonly at: 'before' | 'after' };

export const CHANNEL = 'main';
export const NAMESPACE = 'faults';
export const SPACE = 'crew';

export const SCHEMA: StateSchema = loadState(
  { name: 'crew', version: 1, fields: { done: counter(), by: map(counter(), { cap: 64 }) } },
  sha256,
);

export type Crew = {
  readonly replica: Replica;
  /** Commits that workers were told of so far. */
  count(): number;
  /** Lets every worker finish what it has under way, and leave. */
  finish(): Promise<void>;
  /** Holds what was told against the log, folded anew. */
  audit(log: LogReader): Promise<{ readonly terms: readonly number[]; readonly voids: number }>;
  close(): Promise<void>;
};

type Told = { readonly agent: string; readonly revision: number };

/** Lets workers join and work, each as fast as it is answered. */
export async function startCrew(bus: Bus, log: LogReader, workerCount: number): Promise<Crew> {
  const clock = systemClock();
  const replica = await follow({ bus, log, clock, channel: CHANNEL, space: SPACE, schema: SCHEMA });
  const names = Array.from({ length: workerCount }, (_, i) => `w${i}`);
  const workers = await Promise.all(
    names.map((agent) => join({ bus, clock, channel: CHANNEL, replica, agent, role: 'agent', session: `${agent}-1` })),
  );
  const told: Told[] = [];
  let isOver = false;
  const work = async (worker: Worker): Promise<void> => {
    const { agent } = worker;
    while (!isOver) {
      const view = await worker.view();
      const answer = await view.propose({ patch: { done: { inc: 1 }, by: { at: { [agent]: { inc: 1 } } } } });
      expect(answer).toMatchObject({ kind: 'committed' });
      if (answer.kind === 'committed') told.push({ agent, revision: answer.revision });
    }
    await worker.leave();
  };
  const working = Promise.all(workers.map(work));
  working.catch(() => undefined);
  return {
    replica,
    count: () => told.length,
    async finish() {
      isOver = true;
      await working;
    },
    audit: (reader) => audit(reader, told, replica),
    async close() {
      isOver = true;
      await Promise.all(workers.map((worker) => worker.close()));
      await working.catch(() => undefined);
      await replica.close();
    },
  };
}

async function audit(
  log: LogReader,
  told: readonly Told[],
  replica: Replica,
): Promise<{ readonly terms: readonly number[]; readonly voids: number }> {
  let shard = emptyShard(new Map([[SPACE, SCHEMA]]));
  let voids = 0;
  const terms: number[] = [];
  const inLog: Told[] = [];
  const dots = new Set<string>();
  for await (const { index, body } of log.read(1)) {
    const folded = foldRecord(shard, index, body);
    shard = folded.shard;
    if (folded.kind === 'void') voids += 1;
    if (terms.at(-1) !== shard.term) terms.push(shard.term);
    for (const { decided } of folded.kind === 'folded' ? folded.sealed : []) {
      for (const { admitted, verdict } of decided) {
        const { agent, n } = admitted.proposal;
        expect({ agent, n, isNew: !dots.has(`${agent} ${n}`) }).toEqual({ agent, n, isNew: true });
        dots.add(`${agent} ${n}`);
        if (verdict.kind === 'committed') inLog.push({ agent, revision: verdict.revision });
      }
    }
  }
  const space = shard.spaces.get(SPACE) as Space;
  const followed = await spaceAt(replica, space.revision);
  // Everybody was answered, so what was told and what was committed are the same, each once.
  expect(sorted(told)).toEqual(sorted(inLog));
  expect(stateJson(space)['done']).toBe(told.length);
  expect([followed.revision, followed.head, followed.state]).toEqual([space.revision, space.head, space.state]);
  return { terms, voids };
}

/** The followed space once it is at the revision, or beyond. The test's own time limit ends the wait. */
function spaceAt(replica: Replica, revision: number): Promise<Space> {
  return new Promise((resolve) => {
    const look = (space: Space): void => {
      if (space.revision < revision) return;
      stop();
      resolve(space);
    };
    const stop = replica.onChange(look);
    look(replica.space());
  });
}

function sorted(told: readonly Told[]): readonly string[] {
  return told.map(({ agent, revision }) => `${String(revision).padStart(8, '0')} ${agent}`).toSorted();
}

/** Numbers from 0 up to `below`, by seed. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}
