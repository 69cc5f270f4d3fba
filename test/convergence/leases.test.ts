/** Leases over real shells: a claim outlives neither the session nor the silence of its holder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { claim, counter, loadState, stateJson } from '@oplus/core';
import type { Space } from '@oplus/core';
import { openCoordinator, recover } from '@oplus/coordinator';
import { sha256 } from '@oplus/protocol';
import { systemClock } from '@oplus/transport-memory';
import { socketBus, socketPathOf } from '@oplus/transport-socket';
import { sqliteLog, sqliteLogReader } from '@oplus/transport-sqlite';
import { follow, join } from '@oplus/worker';
import { expect, test } from 'vitest';
import { SPACE, Table } from './table.ts';

const LEASE_MS = 1_000;

const SCHEMA = loadState(
  { name: 'board', version: 1, fields: { x: claim({ leaseMs: LEASE_MS }), plain: claim(), done: counter() } },
  sha256,
);
const schemas = new Map([[SPACE, SCHEMA]]);

const taken = { patch: { x: { claim: true } } } as const;

function ofX(space: Space): unknown {
  return stateJson(space)['x'];
}

test('[CO27] [CO28] a holder keeps its claim while it speaks; once it has crashed, another one gets it', async () => {
  const table = new Table();
  const coordinator = await table.lead({ schemas });
  const replica = coordinator.replica(SPACE);
  const [ann, bob] = [await table.join(replica, 'ann'), await table.join(replica, 'bob')];
  await (await ann.view()).propose({ patch: { x: { claim: true }, plain: { claim: true } } });
  for (let i = 0; i < 4; i += 1) {
    await table.pass(LEASE_MS - 100);
    await (await ann.view()).propose({ patch: { done: { inc: 1 } } });
  }
  expect(await (await bob.view()).propose(taken)).toMatchObject({ kind: 'rejected', issues: [{ code: 'held', by: 'ann' }] });
  await ann.close();
  await table.pass(LEASE_MS - 50);
  expect(ofX(replica.space())).toMatchObject({ holder: 'ann' });
  await table.pass(500);
  expect(ofX(replica.space())).toEqual({ holder: null, last: { holder: 'ann', how: 'expired', outcome: null } });
  expect(await (await bob.view()).propose(taken)).toMatchObject({ kind: 'committed' });
  expect(stateJson(replica.space())['plain']).toMatchObject({ holder: 'ann' });
  await coordinator.close();
});

test('[CO30] who leaves loses its leases without anybody waiting', async () => {
  const table = new Table();
  const coordinator = await table.lead({ schemas });
  const replica = coordinator.replica(SPACE);
  const ann = await table.join(replica, 'ann');
  await (await ann.view()).propose(taken);
  await ann.leave();
  await table.rest();
  expect(ofX(replica.space())).toEqual({ holder: null, last: { holder: 'ann', how: 'left', outcome: null } });
  await coordinator.close();
});

test('[CO31] the wall clock is not asked, and after a take-over leases begin anew', async () => {
  const table = new Table();
  const clock = {
    ...table.clock,
    nowMs: () => {
      throw new Error('the wall clock was asked');
    },
  };
  const first = await table.lead({ schemas, clock });
  const ann = await table.join(first.replica(SPACE), 'ann');
  await (await ann.view()).propose(taken);
  await table.pass(LEASE_MS);
  await first.close();
  const second = await table.lead({ schemas, clock });
  const replica = second.replica(SPACE);
  await table.pass(LEASE_MS - 50);
  expect(ofX(replica.space())).toMatchObject({ holder: 'ann' });
  await table.pass(250);
  expect(ofX(replica.space())).toMatchObject({ holder: null });
  await second.close();
});

test('[CO26] [CO21] ticks stop when the coordinator closes, and none are set where nothing may end', async () => {
  const table = new Table();
  const plain = await table.lead();
  expect(table.clock.nextDueMs()).toBe(undefined);
  await plain.close();
  const other = new Table();
  const leased = await other.lead({ schemas });
  expect(other.clock.nextDueMs()).toBe(250);
  await leased.close();
  expect(other.clock.nextDueMs()).toBe(undefined);
});

test('[CO27] over sockets, a log on disk and real time: the claim of a worker that went silent ends, in every log', async () => {
  const dir = await mkdtemp(joinPath(tmpdir(), 'oplus-leases-'));
  const schema = loadState({ name: 'board', version: 1, fields: { x: claim({ leaseMs: 200 }) } }, sha256);
  const only = new Map([[SPACE, schema]]);
  const clock = systemClock();
  const [path, file] = [socketPathOf(dir), joinPath(dir, 'log')];
  const [hub, bus] = [socketBus(path), socketBus(path)];
  const log = await sqliteLog(file);
  try {
    const coordinator = await openCoordinator({ log, bus: hub, clock, channel: 'main', schemas: only });
    const reader = await sqliteLogReader(file);
    const replica = await follow({ log: reader, bus, clock, channel: 'main', space: SPACE, schema });
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((agent) => join({ bus, clock, channel: 'main', replica, agent, role: 'agent', session: `${agent}-1` })),
    );
    const free = await ann?.view();
    const fromMs = performance.now();
    await free?.propose(taken);
    await ann?.close();
    let view = await bob?.view();
    expect(await view?.rehearse(taken)).toMatchObject({ issues: [{ code: 'held' }] });
    expect(await view?.propose(taken)).toMatchObject({ issues: [{ code: 'held' }] });
    while (view !== undefined && (ofX(view.space) as { holder: unknown }).holder !== null) view = await bob?.viewAfter(view);
    expect(performance.now() - fromMs).toBeGreaterThanOrEqual(200);
    expect(await view?.propose(taken)).toMatchObject({ kind: 'committed' });
    const { shard } = await recover(log, only);
    expect(ofX(shard.spaces.get(SPACE) as Space)).toEqual({
      holder: 'bob',
      last: { holder: 'ann', how: 'expired', outcome: null },
    });
    await bob?.close();
    await replica.close();
    await coordinator.close();
    await reader.close();
  } finally {
    await Promise.all([bus.close(), hub.close(), log.close()]);
    await rm(dir, { recursive: true, force: true });
  }
});
