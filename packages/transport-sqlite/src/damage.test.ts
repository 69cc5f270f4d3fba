import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OplusError } from '@oplus/core';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqliteBlobs, sqliteLog, sqliteLogReader } from './index.ts';
import { startChild } from './testing/children.ts';

let folder = '';
let file = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oplus-damage-'));
  file = join(folder, 'team.sqlite');
});

afterEach(() => rmSync(folder, { recursive: true }));

const LOG_TABLE = 'CREATE TABLE record (idx INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body ANY NOT NULL) STRICT';
const DAMAGE_RUNS = 150;

const STRANGERS: readonly (readonly [string, (path: string) => void])[] = [
  ['text', (path) => writeFileSync(path, 'not a database, but long enough to look like one'.repeat(100))],
  ['short text', (path) => writeFileSync(path, 'short')],
  ['nothing', (path) => writeFileSync(path, '')],
  ['zeros', (path) => writeFileSync(path, new Uint8Array(16_384))],
  ['a database of another program', (path) => inDatabase(path, 'CREATE TABLE t (x); PRAGMA application_id = 7')],
  ['a database without a mark', (path) => inDatabase(path, 'CREATE TABLE record (idx INTEGER PRIMARY KEY, crc, body)')],
  ['a log of another format', (path) => changedLog(path, 'PRAGMA user_version = 2')],
  ['a log of no format', (path) => changedLog(path, 'PRAGMA user_version = 0')],
  ['a log with another mark', (path) => changedLog(path, 'PRAGMA application_id = 1')],
  ['a log without its table', (path) => changedLog(path, 'DROP TABLE record')],
  ['a log with a column more', (path) => changedLog(path, 'ALTER TABLE record ADD COLUMN more TEXT')],
  ['a log with a trigger', (path) => changedLog(path, 'CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END')],
  ['the first half of a log', (path) => halfOf(path)],
];

test.each(STRANGERS)('[SQL4] %s is LOG_DAMAGED with path and hint, and stays as it is', async (_, make) => {
  make(file);
  const before = readFileSync(file);
  for (const open of [sqliteLog, sqliteLogReader, sqliteBlobs]) {
    const error = await open(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OplusError);
    expect(error).toMatchObject({ code: 'LOG_DAMAGED', path: expect.stringContaining(file), hint: expect.any(String) });
    expect(readFileSync(file).equals(before)).toBe(true);
  }
});

test('[SQL4] a log emptied beside its write-ahead log keeps that, and the lock is free again', async () => {
  const { main, wal } = await copyWithWal(12);
  writeFileSync(file, '');
  writeFileSync(`${file}-wal`, wal);
  await expect(sqliteLog(file)).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  expect(readFileSync(`${file}-wal`).equals(wal)).toBe(true);
  writeFileSync(file, main);
  const log = await sqliteLog(file);
  expect(await log.tail()).toBe(12);
  await log.close();
});

test('[SQL4] a lock file that is something else is LOG_DAMAGED and names the lock file', async () => {
  writeFileSync(`${file}.lock`, 'notes of somebody'.repeat(100));
  await expect(sqliteLog(file)).rejects.toMatchObject({ code: 'LOG_DAMAGED', path: expect.stringMatching(/\.lock$/) });
  expect(existsSync(file)).toBe(false);
});

test('[SQL5] whatever bytes of a log file are changed, a prefix is read or LOG_DAMAGED', async () => {
  const bodies = Array.from({ length: 60 }, (_, k) => (k % 7 === 0 ? `with a NUL \0 ${k}` : `record ${k}`.repeat(1 + (k % 5))));
  const log = await sqliteLog(file);
  for (const [tail, body] of bodies.entries()) await log.append(tail, body);
  await log.close();
  await forChangedBytes(async () => {
    const read: string[] = [];
    const answer = await answerOf(async () => {
      const changed = await sqliteLog(file);
      try {
        for await (const { body } of changed.read(1)) read.push(body);
      } finally {
        await changed.close();
      }
    });
    expect(read).toEqual(bodies.slice(0, read.length));
    return answer;
  });
});

test('[SQL5] whatever bytes of a blob file are changed, a blob is read as it was, not at all, or LOG_DAMAGED', async () => {
  const texts = Array.from({ length: 40 }, (_, k) => `blob ${k}`.repeat(1 + (k % 9)));
  const blobs = await sqliteBlobs(file);
  const digests: string[] = [];
  for (const text of texts) digests.push(await blobs.put(Buffer.from(text)));
  await blobs.close();
  await forChangedBytes(() =>
    answerOf(async () => {
      const changed = await sqliteBlobs(file);
      try {
        for (const [k, digest] of digests.entries()) {
          const bytes = await changed.get(digest);
          if (bytes !== undefined) expect(Buffer.from(bytes).toString()).toBe(texts[k]);
        }
      } finally {
        await changed.close();
      }
    }),
  );
});

test.each([
  ['became a number', 'UPDATE record SET body = 7 WHERE idx = 2', 'does not match'],
  ['became nothing', 'UPDATE record SET body = NULL WHERE idx = 2', 'does not match'],
  ['became other text', "UPDATE record SET body = 'other' WHERE idx = 2", 'does not match'],
  ['became other bytes', "UPDATE record SET body = x'00' WHERE idx = 2", 'does not match'],
  ['is gone', 'DELETE FROM record WHERE idx = 2', 'is missing'],
  ['moved', 'UPDATE record SET idx = 9 WHERE idx = 2', 'is missing'],
])('[SQL5] a record that %s is LOG_DAMAGED by its index, and the ones before it are read', async (_, sql, what) => {
  await writtenLog(file, 3);
  // As damage would do it, past the rules of the table.
  const free = 'CREATE TABLE record (idx INTEGER PRIMARY KEY, crc, body)';
  changeIn(file, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '${free}'`);
  changeIn(file, sql);
  changeIn(file, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '${LOG_TABLE}'`);
  const reader = await sqliteLogReader(file);
  const read: string[] = [];
  const reading = (async () => {
    for await (const { body } of reader.read(1)) read.push(body);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'LOG_DAMAGED', path: expect.stringContaining(file) });
  await expect(reading).rejects.toThrow(new RegExp(`^record 2 of .* ${what}`));
  expect(read.length).toBe(1);
  await reader.close();
});

test('[SQL6] a write-ahead log cut or scribbled over anywhere gives a prefix', async () => {
  const { main, wal, bodies } = await copyWithWal(40);
  const lengths = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: wal.length }), fc.boolean(), async (at, isScribbled) => {
      writeFileSync(file, main);
      rmSync(`${file}-shm`, { force: true });
      writeFileSync(`${file}-wal`, isScribbled ? Buffer.from(wal).fill(0xa5, at) : wal.subarray(0, at));
      const log = await sqliteLog(file);
      const read: string[] = [];
      for await (const { body } of log.read(1)) read.push(body);
      expect(read).toEqual(bodies.slice(0, read.length));
      lengths.add(read.length);
      expect(await log.append(read.length, 'goes on')).toEqual({ kind: 'appended', index: read.length + 1 });
      await log.close();
    }),
    { numRuns: 60 },
  );
  expect(lengths.size).toBeGreaterThan(5);
});

test('[SQL7] without room an append is LOG_FULL and stores nothing; after making room it succeeds', async () => {
  const log = await sqliteLog(file, { bytesMax: 200_000 });
  let tail = 0;
  let refusal: unknown;
  while (refusal === undefined && tail < 100) {
    await log.append(tail, 'x'.repeat(10_000)).then(
      () => (tail += 1),
      (error: unknown) => (refusal = error),
    );
  }
  expect(refusal).toMatchObject({ code: 'LOG_FULL', path: expect.any(String), hint: expect.any(String) });
  expect(tail).toBeGreaterThan(10);
  expect(await log.tail()).toBe(tail);
  expect(await log.append(tail, 'small')).toEqual({ kind: 'appended', index: tail + 1 });
  await log.close();
  const roomy = await sqliteLog(file, { bytesMax: 400_000 });
  expect(await roomy.append(tail + 1, 'x'.repeat(10_000))).toEqual({ kind: 'appended', index: tail + 2 });
  await roomy.close();
});

test('[SQL7] a limit that is no size is refused, and the lock is free again', async () => {
  for (const bytesMax of [0, -1, 1_000, Number.NaN, 1.5]) {
    await expect(sqliteLog(file, { bytesMax })).rejects.toMatchObject({ code: 'USAGE' });
  }
  await (await sqliteLog(file)).close();
});

test('[SQL8] an append during which the disk fails is unknown, and what was acknowledged stays', async () => {
  const child = startChild('append', [file, '20000'], { fileBlocksMax: 1_000 });
  await child.ended();
  const [outcome, tail] = (child.lines.at(-1) ?? '').split(' ');
  expect(outcome).toBe('unknown');
  const acknowledged = Number(child.lines.at(-2));
  expect(acknowledged).toBeGreaterThan(5);
  expect(Number(tail)).toBe(acknowledged);
  const log = await sqliteLog(file);
  expect([acknowledged, acknowledged + 1]).toContain(await log.tail());
  await log.close();
});

test('[SQL9] paths that cannot be a log are USAGE with path and hint', async () => {
  mkdirSync(join(folder, 'a folder'));
  writeFileSync(join(folder, 'a file'), 'x');
  for (const path of [
    join(folder, 'missing', 'x'),
    join(folder, 'a folder'),
    join(folder, 'a file', 'x'),
    join(folder, 'x'.repeat(300)),
  ]) {
    for (const open of [sqliteLog, sqliteLogReader, sqliteBlobs]) {
      const error = await open(path).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'USAGE', path: expect.any(String), hint: expect.any(String) });
    }
  }
  await expect(sqliteLogReader(join(folder, 'absent'))).rejects.toMatchObject({ code: 'USAGE' });
  expect(existsSync(join(folder, 'absent'))).toBe(false);
});

test('[SQL9] a file and a folder without permission are USAGE', async () => {
  await writtenLog(file, 3);
  chmodSync(folder, 0o755);
  chmodSync(file, 0o444);
  // Somebody else's folder: no lock file can be made there.
  chmodSync(`${file}.lock`, 0o600);
  expect(await firstLineOf('open')).toMatch(/^USAGE \/\S+\.lock make the file and its folder writable/);
  chmodSync(file, 0o000);
  expect(await firstLineOf('read')).toMatch(/^USAGE \/\S+team\.sqlite /);
  chmodSync(folder, 0o777);
  rmSync(`${file}.lock`);
  expect(await firstLineOf('open')).toMatch(/^USAGE \/\S+team\.sqlite make the file and its folder writable/);
  chmodSync(file, 0o444);
  expect(await firstLineOf('open')).toMatch(/^USAGE \/\S+team\.sqlite make the file and its folder writable/);
  expect(await firstLineOf('read')).toBe('tail 3');
});

test('[SQL10] settings tell what the connection runs with', async () => {
  const log = await sqliteLog(file);
  expect(log.settings()).toMatchObject({ journalMode: 'wal', synchronous: 2, file: expect.stringMatching(/team\.sqlite$/) });
  expect(log.settings().sqliteVersion).toMatch(/^3\./);
  await log.close();
});

test('[SQL11] what a killed creator left is never taken for a log', async () => {
  writeFileSync(`${file}.new`, 'half of something');
  writeFileSync(`${file}.new-journal`, 'its journal');
  const log = await sqliteLog(file);
  expect(await log.append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
  await log.close();
  expect([existsSync(`${file}.new`), existsSync(`${file}.new-journal`), existsSync(`${file}-wal`)]).toEqual([
    false,
    false,
    false,
  ]);
});

test('[SQL13] a reader that stands still in the middle does not make the write-ahead log grow', async () => {
  const log = await sqliteLog(file);
  let tail = 0;
  const append = async (count: number): Promise<void> => {
    for (let k = 0; k < count; k += 1) tail += (await log.append(tail, 'x'.repeat(100_000))).kind === 'appended' ? 1 : 0;
  };
  await append(100);
  const reader = await sqliteLogReader(file);
  const steps = reader.read(1)[Symbol.asyncIterator]();
  await steps.next();
  await append(100);
  const lateBytes = statSync(`${file}-wal`).size;
  await append(300);
  // Thirty megabytes went through; the log is reused at about eight.
  expect(statSync(`${file}-wal`).size).toBeLessThan(lateBytes + 10_000_000);
  expect(await steps.next()).toMatchObject({ value: { index: 2 } });
  await reader.close();
  await expect(steps.next().then(() => drained(steps))).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  await log.close();
});

/** What a process of a user without privileges prints first about `file`. */
async function firstLineOf(task: 'open' | 'read'): Promise<string | undefined> {
  const child = startChild(task, [file], { isUnprivileged: true });
  child.process.stdin.end();
  await child.ended();
  return child.lines[0];
}

/** Changes a file behind our back, rules of the schema included. */
function changeIn(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  // Newer versions of Node forbid it by default, older ones do not know the call.
  (database as { enableDefensive?: (isActive: boolean) => void }).enableDefensive?.(false);
  database.exec(sql);
  database.close();
}

function inDatabase(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function changedLog(path: string, sql: string): void {
  inDatabase(
    path,
    `PRAGMA application_id = ${0x6f_70_6c_67}; PRAGMA user_version = 1;
    CREATE TABLE record (idx INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body ANY NOT NULL) STRICT; ${sql}`,
  );
}

function halfOf(path: string): void {
  changedLog(
    path,
    `WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 200)
    INSERT INTO record SELECT k, 0, hex(zeroblob(500)) FROM n`,
  );
  truncateSync(path, Math.floor(statSync(path).size / 2 / 4_096) * 4_096);
}

async function writtenLog(path: string, count: number): Promise<string[]> {
  const bodies = Array.from({ length: count }, (_, k) => `record ${k + 1} `.repeat(1 + (k % 40) * 3));
  const log = await sqliteLog(path);
  for (const [tail, body] of bodies.entries()) await log.append(tail, body);
  await log.close();
  return bodies;
}

/** A log whose records are all in its write-ahead log, copied while it is open, as a crash would leave it. */
async function copyWithWal(count: number): Promise<{ main: Buffer; wal: Buffer; bodies: string[] }> {
  const path = join(folder, 'source.sqlite');
  const bodies = Array.from({ length: count }, (_, k) => `record ${k + 1}`);
  const log = await sqliteLog(path);
  for (const [tail, body] of bodies.entries()) await log.append(tail, body);
  for (const left of ['', '-wal']) copyFileSync(`${path}${left}`, `${path}.copy${left}`);
  await log.close();
  return { main: readFileSync(`${path}.copy`), wal: readFileSync(`${path}.copy-wal`), bodies };
}

/** Runs `read` on many damaged copies of `file`; many of them must be noticed. Zeros are left alone: they are mostly unused space. */
async function forChangedBytes(read: () => Promise<'damaged' | 'read'>): Promise<void> {
  const whole = readFileSync(file);
  const places = [...whole.keys()].filter((at) => whole[at] !== 0);
  const counts = { damaged: 0, read: 0 };
  const change = fc.record({ at: fc.constantFrom(...places), xor: fc.integer({ min: 1, max: 255 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const { at, xor } of changes) bytes[at] = (bytes[at] as number) ^ xor;
      for (const left of ['-wal', '-shm']) rmSync(`${file}${left}`, { force: true });
      writeFileSync(file, bytes);
      counts[await read()] += 1;
    }),
    { numRuns: DAMAGE_RUNS },
  );
  expect(counts.damaged).toBeGreaterThan(DAMAGE_RUNS / 5);
}

async function answerOf(read: () => Promise<void>): Promise<'damaged' | 'read'> {
  try {
    await read();
    return 'read';
  } catch (error) {
    // A failed expectation is no damage.
    if (!(error instanceof OplusError)) throw error;
    expect(error.code).toBe('LOG_DAMAGED');
    return 'damaged';
  }
}

async function drained(steps: AsyncIterator<unknown>): Promise<void> {
  for (let step = await steps.next(); step.done !== true; step = await steps.next());
}
