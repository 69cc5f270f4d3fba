/** Barrier mode, whole runs: timing and transport leave no trace. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecord, stateJson } from '@oplus/core';
import { tagOf } from '@oplus/protocol';
import { memoryBus, memoryLog } from '@oplus/transport-memory';
import { sqliteLog } from '@oplus/transport-sqlite';
import { expect, test } from 'vitest';
import { jitterOf, lockstepRun } from './lockstep-run.ts';
import { SPACE, Table } from './table.ts';

test('[T3] runs of several workers give one log, byte for byte, however long their messages take, in memory and on SQLite', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-lockstep-'));
  try {
    const run = async (seed: number, onDisk: boolean): Promise<readonly string[]> => {
      const log = onDisk ? await sqliteLog(join(dir, `${seed}.log`)) : memoryLog();
      const bus = memoryBus();
      const bodies = await lockstepRun({
        log,
        coordinatorBus: bus,
        workerBus: bus,
        agentCount: 6,
        roundCount: 12,
        jitter: jitterOf(seed),
      });
      await log.close();
      await bus.close();
      return bodies.map(tagOf);
    };
    const first = await run(1, false);
    expect(first.length).toBeGreaterThan(12);
    for (const [seed, onDisk] of [
      [2, false],
      [3, true],
      [4, false],
      [5, true],
    ] as const)
      expect(await run(seed, onDisk)).toEqual(first);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test('[T9] workers that contend for one field and try again all get their turns, and none wins by its name', async () => {
  const table = new Table();
  const agents = Array.from({ length: 8 }, (_, i) => `agent-${i}`);
  const coordinator = await table.lead({ barrier: { agents: agents.length } });
  const replica = coordinator.replica(SPACE);
  const workers = await Promise.all(agents.map((agent) => table.join(replica, agent)));
  const turns = 6;
  const start = replica.space().revision;
  await Promise.all(
    workers.map(async (worker) => {
      for (let got = 0; got < turns;) {
        const view = await worker.view();
        const answer = await view.propose({ patch: { lead: { set: `${worker.agent} ${view.space.revision}` } } });
        if (answer.kind === 'committed') got += 1;
      }
      await worker.leave();
    }),
  );
  // Each round has one winner, so the rounds are the commits; a leave needs no round of its own, but may have one.
  const rounds = replica.space().revision - start;
  expect(rounds).toBeLessThanOrEqual(agents.length * turns + agents.length);
  expect(stateJson(replica.space())['lead']).toMatch(/^agent-\d \d+$/);
  const winners = table.store.bodies.flatMap((body, i) =>
    readRecord(body, i + 1).entries.flatMap(({ members }) =>
      members.flatMap((member) =>
        'proposal' in member && (member.verdict as { readonly kind: string }).kind === 'committed' ? [member.proposal.agent] : [],
      ),
    ),
  );
  // While all eight contend, nobody wins twice as often as its share, and nobody is left out.
  const early = winners.slice(0, 24);
  for (const agent of agents) {
    const won = early.filter((winner) => winner === agent).length;
    expect({ agent, won, isFair: won >= 1 && won <= 8 }).toEqual({ agent, won, isFair: true });
  }
  await coordinator.close();
});
