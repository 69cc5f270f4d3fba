import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OplusError } from '@oplus/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqliteBlobs, sqliteLog, sqliteLogReader } from './index.ts';
import { startChild } from './testing/children.ts';

const KILLS = 20;
/** Twenty processes have to start one after the other, which takes seconds each on a busy machine. */
const KILLS_MS_MAX = 300_000;
const SEED = 20_260_826;

let folder = '';
let file = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oplus-lock-'));
  file = join(folder, 'team.sqlite');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('[SQL1] a second writer is refused by whatever path, with a path and a hint, and the first goes on', async () => {
  const log = await sqliteLog(file);
  symlinkSync(file, join(folder, 'link.sqlite'));
  symlinkSync(folder, `${folder}-link`);
  try {
    for (const path of [
      file,
      join(folder, 'link.sqlite'),
      join(folder, '.', 'team.sqlite'),
      join(`${folder}-link`, 'team.sqlite'),
    ]) {
      const error = await sqliteLog(path).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OplusError);
      expect(error).toMatchObject({ code: 'LOG_LOCKED', path: expect.stringContaining('team.sqlite'), hint: expect.any(String) });
    }
  } finally {
    rmSync(`${folder}-link`);
  }
  const child = startChild('open', [file]);
  await child.ended();
  expect(child.lines[0]).toMatch(/^LOG_LOCKED \/.*team\.sqlite/);
  expect(await log.append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
  await log.close();
});

test('[SQL1] the lock goes from process to process', async () => {
  const child = startChild('open', [file]);
  expect(await child.printed(1)).toBe(true);
  expect(child.lines).toEqual(['open']);
  await expect(sqliteLog(file)).rejects.toMatchObject({ code: 'LOG_LOCKED' });
  child.process.stdin.end();
  await child.ended();
  const log = await sqliteLog(file);
  const late = startChild('open', [file]);
  await late.ended();
  expect(late.lines[0]).toMatch(/^LOG_LOCKED /);
  await log.close();
});

test(
  '[SQL2] a writer that is killed twenty times loses no acknowledged record and leaves no lock',
  { timeout: KILLS_MS_MAX },
  async () => {
    const random = randomFrom(SEED);
    let acknowledged = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startChild('append', [file, '100']);
      // The first line is the tail that it found: at most one record more than we had heard of.
      expect(await child.printed(1)).toBe(true);
      const found = Number(child.lines[0]?.replace('tail ', ''));
      expect([acknowledged, acknowledged + 1]).toContain(found);
      await child.printed(1 + Math.floor(random() * 40));
      for (let spins = Math.floor(random() * 200_000); spins > 0; spins -= 1) Math.sqrt(spins);
      child.process.kill('SIGKILL');
      await child.ended();
      acknowledged = Math.max(found, Number(child.lines.at(-1)?.replace('tail ', '')));
      const log = await sqliteLog(file);
      const records = [];
      for await (const record of log.read(1)) records.push(record);
      expect([acknowledged, acknowledged + 1]).toContain(records.length);
      expect(records).toEqual(records.map((_, k) => ({ index: k + 1, body: `${k + 1}:`.padEnd(100, 'x') })));
      acknowledged = records.length;
      await log.close();
    }
    expect(acknowledged).toBeGreaterThan(KILLS);
  },
);

test('[SQL3] readers in two other processes see prefixes while a third writes, and none takes the lock', async () => {
  const total = 400;
  const log = await sqliteLog(file);
  const readers = [startChild('follow', [file, `${total}`]), startChild('follow', [file, `${total}`])];
  for (let tail = 0; tail < total; tail += 1) {
    expect((await log.append(tail, `${tail + 1}:`.padEnd(100, 'x'))).kind).toBe('appended');
    // A tenth of the way in, the readers have certainly begun; from then on they run beside the writer.
    if (tail === total / 10) for (const reader of readers) await reader.printed(1);
    if (tail % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (const reader of readers) {
    await reader.ended();
    expect(reader.lines.length).toBeGreaterThan(1);
    expect(reader.lines.at(-1)).toBe(`${total}`);
  }
  await log.close();
});

test('[SQL3] a reader needs no writer, and does not keep one out', async () => {
  const first = await sqliteLog(file);
  await first.append(0, 'a');
  await first.close();
  const reader = await sqliteLogReader(file);
  expect(await reader.tail()).toBe(1);
  const second = await sqliteLog(file);
  await second.append(1, 'b');
  expect(await reader.tail()).toBe(2);
  await second.close();
  expect(await reader.tail()).toBe(2);
  await reader.close();
});

test('[SQL12] several processes put blobs into one file at once', async () => {
  const path = join(folder, 'blobs.sqlite');
  const children = Array.from({ length: 4 }, () => startChild('put', [path]));
  const blobs = await sqliteBlobs(path);
  for (const child of children) {
    await child.ended();
    expect(child.lines.length).toBe(200);
  }
  expect(new Set(children.flatMap((child) => child.lines)).size).toBe(200);
  for (const [n, digest] of (children[0]?.lines ?? []).entries()) {
    expect(Buffer.from((await blobs.get(digest)) ?? []).toString()).toBe(`blob ${n}`.repeat(50));
  }
  await blobs.close();
});

/** Small and seeded (mulberry32), so that a failure can be run again. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
