import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteLog } from '@oplus/transport-sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOG_FILE, openStage } from './stage.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'oplus-stage-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('[TM40] a stage says what an acknowledged append survives, and where its broker is', async () => {
  const memory = await openStage({ kind: 'memory' });
  expect(memory).toMatchObject({
    kind: 'memory',
    durability: 'none',
    summary: expect.stringContaining('nothing survives'),
    address: undefined,
  });
  await memory.close();
  const sqlite = await openStage({ kind: 'sqlite', dir: join(dir, 'a', 'b') });
  expect(sqlite).toMatchObject({
    kind: 'sqlite',
    durability: 'power',
    summary: expect.stringContaining('survives a power cut'),
    address: undefined,
  });
  await sqlite.close();
});

test('[TM41] a closed stage is closed in all its parts, and can be opened again', async () => {
  for (const options of [{ kind: 'memory' }, { kind: 'sqlite', dir }] as const) {
    const stage = await openStage(options);
    await stage.log.append(0, 'one');
    await stage.close();
    await stage.close();
    await expect(stage.log.tail()).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
    await expect(stage.workerBus.attach('main', 'a', () => undefined)).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
    await expect(stage.blobs.put(new Uint8Array(1))).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  }
  const again = await openStage({ kind: 'sqlite', dir });
  expect(await again.log.tail()).toBe(1);
  await again.close();
});

test('[TM42] a stage that does not open leaves nothing open', async () => {
  const log = await sqliteLog(join(dir, LOG_FILE));
  await expect(openStage({ kind: 'sqlite', dir })).rejects.toMatchObject({
    code: 'LOG_LOCKED',
    hint: expect.any(String),
    path: expect.any(String),
  });
  await log.close();
  await writeFile(join(dir, 'blobs.sqlite'), 'no database');
  await expect(openStage({ kind: 'sqlite', dir })).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  await rm(join(dir, 'blobs.sqlite'));
  await (await openStage({ kind: 'sqlite', dir })).close();
});

test('[TM42] a folder that cannot be made is USAGE', async () => {
  await writeFile(join(dir, 'file'), '');
  await expect(openStage({ kind: 'sqlite', dir: join(dir, 'file', 'run') })).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.any(String),
  });
});

test('[TM42] a folder where there is no room for folders is USAGE, and soon', async () => {
  // On Linux the platform's recursive mkdir never ends below /proc; elsewhere the path is as impossible.
  await expect(openStage({ kind: 'sqlite', dir: '/proc/oplus-test' })).rejects.toMatchObject({ code: 'USAGE' });
});
