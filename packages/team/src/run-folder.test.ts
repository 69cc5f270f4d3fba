import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileError } from './file-error.ts';
import { hasReport, readReport, writeReport } from './report.ts';
import type { RunReport } from './report.ts';
import { newestRun, openRunFolder, readRunFile } from './run-folder.ts';
import type { RunFile } from './run-folder.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'oplus-run-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const run: RunFile = {
  v: 1,
  task: 'warehouse',
  agents: 4,
  steps: 100,
  seed: 42,
  routing: 'shared',
  log: 'sqlite',
  barrier: false,
  model: 'scripted',
  space: 'warehouse',
  schema: 'abc',
};

test('[TM60] a folder holds one run: a second is refused, and of two at once one', async () => {
  const at = join(dir, 'a');
  const [first, second] = [await openRunFolder(at), await openRunFolder(at)];
  await first.describe(run);
  await expect(second.describe({ ...run, seed: 1 })).rejects.toMatchObject({
    code: 'USAGE',
    path: at,
    hint: expect.stringContaining('oplus log'),
  });
  await expect(openRunFolder(at)).rejects.toMatchObject({ code: 'USAGE', message: 'the folder already holds a run' });
  expect(await readRunFile(at)).toEqual(run);
  await writeFile(join(dir, 'log.jsonl'), '');
  await expect(openRunFolder(dir)).rejects.toMatchObject({ code: 'USAGE' });
});

test('[TM61] what was asked is read back; what is missing or damaged is said', async () => {
  const nats: RunFile = { ...run, log: 'nats', namespace: 'oplus_1', address: '127.0.0.1:4222' };
  await (await openRunFolder(dir)).describe(nats);
  expect(await readRunFile(dir)).toEqual(nats);
  expect((await readFile(join(dir, 'run.json'), 'utf8')).endsWith('}\n')).toBe(true);
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '{"v":2}',
    JSON.stringify({ ...run, agents: '4' }),
    JSON.stringify({ ...run, namespace: 1 }),
  ]) {
    await writeFile(join(dir, 'run.json'), text);
    await expect(readRunFile(dir)).rejects.toMatchObject({
      code: 'LOG_DAMAGED',
      path: join(dir, 'run.json'),
      hint: expect.any(String),
    });
  }
  await rm(join(dir, 'run.json'));
  await expect(readRunFile(dir)).rejects.toMatchObject({
    code: 'USAGE',
    message: 'the folder holds no run',
    hint: expect.stringContaining('oplus run'),
  });
  await expect(readRunFile(join(dir, 'nowhere'))).rejects.toMatchObject({ code: 'USAGE', message: 'there is no such folder' });
});

test('[TM62] the newest run is the one that was described last', async () => {
  expect(await newestRun(join(dir, 'nowhere'))).toBeUndefined();
  expect(await newestRun(dir)).toBeUndefined();
  for (const [name, seconds] of [
    ['old', 1000],
    ['b', 2000],
    ['a', 2000],
  ] as const) {
    await (await openRunFolder(join(dir, name))).describe(run);
    await utimes(join(dir, name, 'run.json'), seconds, seconds);
  }
  await mkdir(join(dir, 'zzz'));
  await writeFile(join(dir, 'file'), '');
  expect(await newestRun(dir)).toBe(join(dir, 'b'));
});

test('[TM68] a folder that was made for nothing is taken away again, one that holds something is not', async () => {
  const deep = await openRunFolder(join(dir, 'runs', 'one'));
  await deep.release();
  expect(existsSync(join(dir, 'runs'))).toBe(false);
  const kept = await openRunFolder(join(dir, 'runs', 'two'));
  await writeFile(join(dir, 'runs', 'two', 'log.sqlite'), 'something');
  await kept.release();
  expect(existsSync(join(dir, 'runs', 'two', 'log.sqlite'))).toBe(true);
  await mkdir(join(dir, 'mine'));
  await (await openRunFolder(join(dir, 'mine'))).release();
  expect(existsSync(join(dir, 'mine'))).toBe(true);
});

test('[TM66] the report of a run is read back; a run without one has not finished', async () => {
  expect(await readReport(dir)).toBeUndefined();
  expect(hasReport(dir)).toBe(false);
  const report = { v: 1, digest: 'd', revision: 3 } as unknown as RunReport;
  await writeReport(dir, report);
  expect(await readReport(dir)).toEqual(report);
  expect(hasReport(dir)).toBe(true);
  expect(existsSync(join(dir, 'report.json.partial'))).toBe(false);
  for (const text of ['', '{"v":1', 'null', '{"v":1,"digest":"d"}']) {
    await writeFile(join(dir, 'report.json'), text);
    await expect(readReport(dir)).rejects.toMatchObject({
      code: 'LOG_DAMAGED',
      path: join(dir, 'report.json'),
      hint: expect.any(String),
    });
  }
  await rm(join(dir, 'report.json'));
  await mkdir(join(dir, 'report.json'));
  await expect(readReport(dir)).rejects.toMatchObject({ code: 'USAGE' });
});

test('[TM67] errors of the file system have a code, a path and a hint; others come as they are', async () => {
  const failing = async (path: string): Promise<unknown> => openRunFolder(path).catch((error: unknown) => error);
  await writeFile(join(dir, 'file'), '');
  expect(await failing(join(dir, 'file'))).toMatchObject({ code: 'USAGE', path: join(dir, 'file'), hint: expect.any(String) });
  expect(await failing(join(dir, 'file', 'run'))).toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('a part of the path is a file'),
  });
  expect(await failing(join(dir, 'x'.repeat(300)))).toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('too long'),
  });
  await expect(writeReport(join(dir, 'nowhere'), {} as RunReport)).rejects.toMatchObject({ code: 'USAGE' });
  const system = (code: string): Error => Object.assign(new Error(code), { code, syscall: 'write' });
  expect(fileError(system('ENOSPC'), 'it', 'p')).toMatchObject({ code: 'LOG_FULL', path: 'p', hint: expect.any(String) });
  expect(fileError(system('EACCES'), 'it', 'p')).toMatchObject({ code: 'USAGE', message: 'it: permission is missing' });
  expect(fileError(system('EMFILE'), 'it', 'p')).toMatchObject({ code: 'USAGE', message: 'it: EMFILE' });
  expect(fileError(system('EIO'), 'it', 'p')).toMatchObject({ code: 'LOG_DAMAGED' });
  const own = new TypeError('a mistake');
  expect(fileError(own, 'it', 'p')).toBe(own);
});
