/**
 * `npm run contention`: many writers at once, over a real broker, on things that need not conflict.
 *
 * 1,000 writers each set a key of their own in one map, all on the same view; 30 writers each add one to one counter, all on
 * the same view. Conflicts are verdicts that refuse; retries are proposals beyond one a writer.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { parseArgs } from 'node:util';
import { openCoordinator } from '@oplus/coordinator';
import { cas, counter, defineState, loadState, map, newestOf, stateJson, vectorOf } from '@oplus/core';
import type { JsonObject } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import type { Bus, Clock, LogReader } from '@oplus/protocol';
import { systemClock } from '@oplus/transport-memory';
import { connectNats, natsBus, natsLog, natsLogReader, startNatsServer } from '@oplus/transport-nats';
import { follow, join } from '@oplus/worker';
import { z } from 'zod';

const CHANNEL = 'main';
const SPACE = 'contention';
const MAP_WRITERS = 1_000;
const COUNTER_WRITERS = 30;

const schema = loadState(
  defineState({
    name: SPACE,
    version: 1,
    fields: { keys: map(cas(z.string().max(16)), { cap: MAP_WRITERS }), hits: counter() },
    agentsMax: MAP_WRITERS + COUNTER_WRITERS,
  }),
  sha256,
);

const { values } = parseArgs({ options: { json: { type: 'boolean' } } });
process.exitCode = await main();

async function main(): Promise<number> {
  const dir = await mkdtemp(joinPath(tmpdir(), 'oplus-contention-'));
  const server = await startNatsServer({ dir });
  const clock = systemClock();
  const forCoordinator = await connectNats({ url: server.url, auth: server.auth, name: 'coordinator' });
  const forWriters = await connectNats({ url: server.url, auth: server.auth, name: 'writers' });
  const coordinator = await openCoordinator({
    log: await natsLog(forCoordinator, { namespace: SPACE, shard: 'main' }),
    bus: natsBus(forCoordinator, { namespace: SPACE }),
    clock,
    channel: CHANNEL,
    schemas: new Map([[SPACE, schema]]),
  });
  try {
    const via = {
      bus: natsBus(forWriters, { namespace: SPACE }),
      log: await natsLogReader(forWriters, { namespace: SPACE, shard: 'main' }),
      clock,
    };
    const onMap = await wave(via, 'm', MAP_WRITERS, (i) => ({ keys: { at: { [`k${i}`]: { set: `by ${i}` } } } }));
    const onCounter = await wave(via, 'c', COUNTER_WRITERS, () => ({ hits: { inc: 1 } }));
    const state = stateJson(onCounter.space);
    const keys = Object.keys(state['keys'] as JsonObject).length;
    const hits = state['hits'] as number;
    const isSound =
      keys === MAP_WRITERS &&
      hits === COUNTER_WRITERS &&
      onMap.refused + onCounter.refused + onMap.retries + onCounter.retries === 0;
    const report = {
      ok: isSound,
      broker: server.version,
      map: {
        writers: MAP_WRITERS,
        committed: onMap.committed,
        conflicts: onMap.refused,
        retries: onMap.retries,
        keys,
        rounds: onMap.rounds,
      },
      counter: {
        writers: COUNTER_WRITERS,
        committed: onCounter.committed,
        conflicts: onCounter.refused,
        retries: onCounter.retries,
        value: hits,
        rounds: onCounter.rounds,
      },
    };
    if (values.json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
    else {
      process.stdout.write(`nats-server ${report.broker}\n`);
      for (const [name, { writers, committed, conflicts, retries, rounds }] of Object.entries({
        'one map, a key each': report.map,
        'one counter': report.counter,
      })) {
        process.stdout.write(
          `${writers} writers on ${name}: ${committed} committed at the first try, ${conflicts} conflicts, ${retries} retries, in ${rounds} rounds\n`,
        );
      }
      process.stdout.write(`keys in the map ${keys}, value of the counter ${hits}\n`);
    }
    return isSound ? 0 : 1;
  } finally {
    await coordinator.close();
    await forWriters.close();
    await forCoordinator.close();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

type Via = { readonly bus: Bus; readonly log: LogReader; readonly clock: Clock };

/** Lets so many writers join, read one view and propose at once, each once. */
async function wave(via: Via, prefix: string, writerCount: number, patchOf: (writer: number) => JsonObject) {
  const replica = await follow({ ...via, channel: CHANNEL, space: SPACE, schema });
  const writers = await Promise.all(
    Array.from({ length: writerCount }, (_, i) =>
      join({
        bus: via.bus,
        clock: via.clock,
        channel: CHANNEL,
        replica,
        agent: `${prefix}${i}`,
        role: 'agent',
        session: `${prefix}${i}`,
      }),
    ),
  );
  const views = await Promise.all(writers.map((writer) => writer.view()));
  const answers = await Promise.all(views.map((view, i) => view.propose({ patch: patchOf(i) })));
  const committed = answers.filter((answer) => answer.kind === 'committed');
  const rounds = new Set(committed.map((answer) => (answer.kind === 'committed' ? answer.revision : -1))).size;
  const space = (await Promise.all(writers.map((writer) => writer.view()))).at(-1)?.space ?? replica.space();
  for (const writer of writers) await writer.close();
  await replica.close();
  // Every proposal uses up one dot, so what exceeds one a writer was tried again.
  const proposals = writers.reduce((sum, { agent }) => sum + newestOf(vectorOf(space), agent), 0);
  return {
    committed: committed.length,
    refused: answers.length - committed.length,
    retries: proposals - writerCount,
    rounds,
    space,
  };
}
