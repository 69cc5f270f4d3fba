/**
 * `npm run bench:team`: verdicts a second from end to end, all writers in one process with the coordinator.
 *
 * Each writer proposes one increment of a counter and one change of its own key, waits for the verdict, reads the newest view
 * and goes on. Beside it in the same run: a plain queue that folds the same changes without versions, checks, digests or log.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openCoordinator } from '@oplus/coordinator';
import { cas, counter, defineState, invariant, loadState, map } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import type { Bus, Log } from '@oplus/protocol';
import { memoryBus, memoryLog, systemClock } from '@oplus/transport-memory';
import { connectNats, natsBus, natsLog, startNatsServer } from '@oplus/transport-nats';
import { sqliteLog } from '@oplus/transport-sqlite';
import { join } from '@oplus/worker';
import { z } from 'zod';

import { createLatencyRecorder, percentileMs } from './latency.ts';

const CHANNEL = 'main';
const SPACE = 'speed';
const WARMUP_MS = 1_500;

const schema = loadState(
  defineState({ name: SPACE, version: 1, fields: { hits: counter(), keys: map(cas(z.string().max(24)), { cap: 64 }) } }),
  sha256,
);

const { values } = parseArgs({ options: { json: { type: 'boolean' }, seconds: { type: 'string' }, only: { type: 'string' } } });
const measuredMs = Number(values.seconds ?? '4') * 1000;
const rows: {
  readonly log: string;
  readonly writers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}[] = [];

for (const name of (values.only ?? 'queue,memory,sqlite,nats').split(',')) {
  for (const writers of [1, 64])
    rows.push({ log: name, writers, ...(name === 'queue' ? await measureQueue(writers) : await measureTeam(name, writers)) });
}
const queueAt = (writers: number): number =>
  rows.find((row) => row.log === 'queue' && row.writers === writers)?.perSecond ?? Number.NaN;
if (values.json === true) process.stdout.write(`${JSON.stringify({ ok: true, rows })}\n`);
else {
  process.stdout.write('log      writers  verdicts/s  x queue   p50 ms   p99 ms\n');
  for (const { log, writers, perSecond, p50Ms, p99Ms } of rows) {
    const cells = [
      log.padEnd(7),
      String(writers).padStart(8),
      String(perSecond).padStart(11),
      (perSecond / queueAt(writers)).toFixed(3).padStart(8),
      p50Ms.toFixed(3).padStart(8),
      p99Ms.toFixed(3).padStart(8),
    ];
    process.stdout.write(`${cells.join(' ')}\n`);
  }
}

type Ground = { readonly log: Log; readonly coordinatorBus: Bus; readonly writerBus: Bus; close(): Promise<void> };

async function groundOf(name: string, dir: string): Promise<Ground> {
  if (name === 'nats') {
    const server = await startNatsServer({ dir: joinPath(dir, 'nats') });
    const [forCoordinator, forWriters] = await Promise.all(
      ['coordinator', 'writers'].map((who) => connectNats({ url: server.url, auth: server.auth, name: who })),
    );
    invariant(forCoordinator !== undefined && forWriters !== undefined, 'two connections were asked for');
    return {
      log: await natsLog(forCoordinator, { namespace: SPACE, shard: 'main' }),
      coordinatorBus: natsBus(forCoordinator, { namespace: SPACE }),
      writerBus: natsBus(forWriters, { namespace: SPACE }),
      close: async () => {
        await forWriters.close();
        await forCoordinator.close();
        await server.stop();
      },
    };
  }
  const bus = memoryBus();
  const log = name === 'sqlite' ? await sqliteLog(joinPath(dir, 'log.sqlite')) : memoryLog();
  return { log, coordinatorBus: bus, writerBus: bus, close: () => log.close() };
}

async function measureTeam(name: string, writerCount: number) {
  const dir = await mkdtemp(joinPath(tmpdir(), 'oplus-speed-'));
  const ground = await groundOf(name, dir);
  const clock = systemClock();
  const coordinator = await openCoordinator({
    log: ground.log,
    bus: ground.coordinatorBus,
    clock,
    channel: CHANNEL,
    schemas: new Map([[SPACE, schema]]),
  });
  const replica = coordinator.replica(SPACE);
  const writers = await Promise.all(
    Array.from({ length: writerCount }, (_, i) =>
      join({ bus: ground.writerBus, clock, channel: CHANNEL, replica, agent: `w${i}`, role: 'agent', session: `s${i}` }),
    ),
  );
  const figures = await run(writerCount, async (writer, turn) => {
    const view = await (writers[writer] as (typeof writers)[number]).view();
    const answer = await view.propose({ patch: { hits: { inc: 1 }, keys: { at: { [`k${writer}`]: { set: `turn ${turn}` } } } } });
    invariant(answer.kind === 'committed', 'changes that do not meet are committed');
  });
  for (const writer of writers) await writer.close();
  await coordinator.close();
  await ground.close();
  await rm(dir, { recursive: true, force: true });
  return figures;
}

async function measureQueue(writerCount: number) {
  const state = { hits: 0, keys: new Map<string, string>() };
  const waiting: (() => void)[] = [];
  const drain = async (): Promise<void> => {
    await nextTurn();
    for (const change of waiting.splice(0)) change();
  };
  return run(writerCount, (writer, turn) => {
    if (waiting.length === 0) void drain();
    return new Promise<void>((resolve) => {
      waiting.push(() => {
        state.hits += 1;
        state.keys.set(`k${writer}`, `turn ${turn}`);
        resolve();
      });
    });
  });
}

async function run(writerCount: number, propose: (writer: number, turn: number) => Promise<void>) {
  const latency = createLatencyRecorder();
  let isMeasuring = false;
  let isOver = false;
  let count = 0;
  const writing = Promise.all(
    Array.from({ length: writerCount }, async (_, writer) => {
      for (let turn = 0; !isOver; turn += 1) {
        const startMs = performance.now();
        await propose(writer, turn);
        if (!isMeasuring) continue;
        count += 1;
        latency.record(performance.now() - startMs);
      }
    }),
  );
  await pause(WARMUP_MS);
  isMeasuring = true;
  const startMs = performance.now();
  await pause(measuredMs);
  isMeasuring = false;
  const tookMs = performance.now() - startMs;
  isOver = true;
  await writing;
  const counts = latency.counts();
  return { perSecond: Math.round((count / tookMs) * 1000), p50Ms: percentileMs(counts, 0.5), p99Ms: percentileMs(counts, 0.99) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
