import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadState } from '@oplus/core';
import type { StateDefinition } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { warehouse, warehouseState } from '@oplus/skill-warehouse';
import { startNatsServer } from '@oplus/transport-nats';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunFile } from './run-folder.ts';
import { openRunLog } from './run-log.ts';
import { openStage } from './stage.ts';
import { play, recordsOf } from './testing/play.ts';

const schema = loadState(warehouseState as unknown as StateDefinition, sha256);

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'oplus-stage-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const run: RunFile = {
  v: 1,
  task: 'warehouse',
  agents: 1,
  steps: 1,
  seed: 1,
  routing: 'shared',
  log: 'nats',
  barrier: false,
  model: 'scripted',
  space: 'warehouse',
  schema: 'x',
};

test('[TM40][TM41] a stage on a server of its own ends with it, and its store is there when it is opened again', async () => {
  const options = { kind: 'nats', dir, namespace: 'one' } as const;
  const stage = await openStage(options);
  expect(stage).toMatchObject({
    kind: 'nats',
    durability: 'process',
    summary: expect.stringMatching(/^NATS .* at 127\.0\.0\.1:\d+: /),
    address: undefined,
  });
  await stage.log.append(0, 'one');
  await stage.close();
  await stage.close();
  const again = await openStage(options);
  expect(await again.log.tail()).toBe(1);
  await again.close();
});

test('[TM42] a stage that does not open stops the server that it had started', async () => {
  await expect(openStage({ kind: 'nats', dir, namespace: 'not a name' })).rejects.toMatchObject({ code: 'USAGE' });
  await (await openStage({ kind: 'nats', dir, namespace: 'name' })).close();
});

test('[TM64] a log that was not exported is read from the store in the folder, and from a broker that was given', async () => {
  const stage = await openStage({ kind: 'nats', dir, namespace: 'one' });
  for (const [i, body] of ['first', 'second'].entries()) await stage.log.append(i, body);
  // Its server is taken as long as the run goes on.
  await expect(openRunLog(dir, { ...run, namespace: 'one' })).rejects.toMatchObject({
    code: 'LOG_LOCKED',
    hint: expect.any(String),
  });
  await stage.close();
  const own = await openRunLog(dir, { ...run, namespace: 'one' });
  expect(await recordsOf(own)).toEqual(['first', 'second']);
  await own.close();
  await expect(openRunLog(dir, { ...run, namespace: 'other' })).rejects.toMatchObject({ code: 'USAGE' });

  const server = await startNatsServer({ dir: 'temporary' });
  try {
    if (server.auth.kind !== 'password') throw new Error('a server of ours has a password');
    const url = server.url.replace('//', `//${server.auth.user}:${server.auth.password}@`);
    const given = await openStage({ kind: 'nats', dir: join(dir, 'other'), namespace: 'two', url });
    const address = given.address ?? '';
    expect(server.url).toContain(address);
    await given.log.append(0, 'on the broker');
    await given.close();
    const theirs = await openRunLog(join(dir, 'other'), { ...run, namespace: 'two', address }, url);
    expect(await recordsOf(theirs)).toEqual(['on the broker']);
    await theirs.close();
    // The address that the run has kept holds no credentials.
    await expect(openRunLog(join(dir, 'other'), { ...run, namespace: 'two', address })).rejects.toMatchObject({
      code: 'BROKER_REFUSED',
    });
  } finally {
    await server.stop();
  }
});

test('[TM22] a server of the run that is killed ends the run, and its store can be read again', async () => {
  const stage = await openStage({ kind: 'nats', dir, namespace: 'one' });
  const [ports] = await readdir(join(dir, 'nats', 'ports'));
  const pid = Number(/_(\d+)\.ports$/.exec(ports ?? '')?.[1]);
  const task = warehouse({ agents: ['w1', 'w2', 'w3'], seed: 42, steps: 2000, routing: 'shared' });
  const running = play({ stage, task, schema, onProgress: ({ steps }) => void (steps === 10 && process.kill(pid, 'SIGKILL')) });
  await expect(running).rejects.toMatchObject({ code: 'BROKER_UNREACHABLE', path: join(dir, 'nats'), hint: expect.any(String) });
  await stage.close();
  const log = await openRunLog(dir, { ...run, namespace: 'one' });
  expect((await recordsOf(log)).length).toBeGreaterThan(3);
  await log.close();
});
