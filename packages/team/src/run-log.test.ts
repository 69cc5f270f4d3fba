import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OplusError } from '@oplus/core';
import type { Log } from '@oplus/protocol';
import { memoryLog } from '@oplus/transport-memory';
import { sqliteLog } from '@oplus/transport-sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunFile } from './run-folder.ts';
import { exportLog, openRunLog } from './run-log.ts';
import { LOG_FILE } from './stage.ts';
import { recordsOf } from './testing/play.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'oplus-log-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const run: RunFile = {
  v: 1,
  task: 'warehouse',
  agents: 1,
  steps: 1,
  seed: 1,
  routing: 'shared',
  log: 'memory',
  barrier: false,
  model: 'scripted',
  space: 'warehouse',
  schema: 'x',
};

async function logOf(bodies: readonly string[]): Promise<Log> {
  const log = memoryLog();
  for (const [i, body] of bodies.entries()) await log.append(i, body);
  return log;
}

test('[TM63] an export gives back the bodies of the log, whatever stands in them but line ends', async () => {
  const body = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\n', ' '));
  await fc.assert(
    fc.asyncProperty(fc.array(body, { maxLength: 6 }), async (bodies) => {
      await rm(join(dir, 'log.jsonl'), { force: true });
      expect(await exportLog(dir, await logOf(bodies))).toBe(bodies.length);
      const log = await openRunLog(dir, run);
      expect(await recordsOf(log)).toEqual(bodies);
      expect(await log.tail()).toBe(bodies.length);
      await log.close();
    }),
    { numRuns: 60 },
  );
  const separators = ['a\u2028b', 'c\u2029d', 'e\rf', '\uFEFFg', '', 'x'.repeat(200_000)];
  await exportLog(dir, await logOf(separators));
  expect(await recordsOf(await openRunLog(dir, run))).toEqual(separators);
  const from: number[] = [];
  for await (const { index } of (await openRunLog(dir, run)).read(5)) from.push(index);
  expect(from).toEqual([5, 6]);
});

test('[TM63] an export that fails on the way leaves none, and an earlier one as it was', async () => {
  await exportLog(dir, await logOf(['one']));
  const torn = {
    async *read() {
      yield { index: 1, body: 'other' };
      throw new OplusError('LOG_DAMAGED', 'record 2 is gone');
    },
  };
  await expect(exportLog(dir, torn)).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  expect(await readFile(join(dir, 'log.jsonl'), 'utf8')).toBe('one\n');
  await expect(exportLog(join(dir, 'nowhere'), torn)).rejects.toMatchObject({ code: 'USAGE' });
  expect(existsSync(join(dir, 'nowhere'))).toBe(false);
});

test('[TM64] the log file of a run goes before its export, and is read while it is written', async () => {
  await exportLog(dir, await logOf(['exported']));
  const log = await sqliteLog(join(dir, LOG_FILE));
  await log.append(0, 'stored');
  const reader = await openRunLog(dir, run);
  expect(await recordsOf(reader)).toEqual(['stored']);
  expect(reader.place).toBe(join(dir, LOG_FILE));
  await reader.close();
  await log.close();
});

test('[TM64] a run without a log says why', async () => {
  await expect(openRunLog(dir, run)).rejects.toMatchObject({
    code: 'USAGE',
    path: dir,
    hint: expect.stringContaining('--log sqlite'),
  });
  await expect(openRunLog(dir, { ...run, log: 'nats' })).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('Run it again'),
  });
});

test('[TM65] a damaged export is LOG_DAMAGED at its record', async () => {
  await exportLog(dir, await logOf(['first', 'second']));
  const path = join(dir, 'log.jsonl');
  const whole = await readFile(path);
  const reading = async (): Promise<unknown> => recordsOf(await openRunLog(dir, run));
  await writeFile(path, whole.subarray(0, whole.length - 3));
  await expect(reading()).rejects.toMatchObject({
    code: 'LOG_DAMAGED',
    path,
    message: 'record 2 is cut off',
    hint: expect.any(String),
  });
  await writeFile(path, Buffer.concat([whole, Buffer.from([0xff, 0xfe, 0x0a])]));
  await expect(reading()).rejects.toMatchObject({ code: 'LOG_DAMAGED', path, message: 'record 3 is no UTF-8' });
});
