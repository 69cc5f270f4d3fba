/**
 * What the tests run in a process of its own: `node child.ts <task> <file> [argument]`. Prints one line for each step that is acknowledged.
 */
import { writeSync } from 'node:fs';
import { OplusError } from '@oplus/core';
import { sqliteBlobs, sqliteLog, sqliteLogReader } from '../index.ts';

const [task, file = '', argument = ''] = process.argv.slice(2);

try {
  await ({ append, open, read, follow, put } as Record<string, () => Promise<void>>)[task ?? '']?.();
} catch (error) {
  if (!(error instanceof OplusError)) throw error;
  print(`${error.code} ${error.path ?? ''} ${error.hint ?? ''}`);
}

/** Appends without end, with a body that says its index. `argument` is the number of characters of a body. */
async function append(): Promise<void> {
  // Without a handler the process would end at the limit of the file size; with one, the write fails.
  process.on('SIGXFSZ', () => undefined);
  const log = await sqliteLog(file);
  let tail = await log.tail();
  print(`tail ${tail}`);
  for (;;) {
    const outcome = await log.append(tail, bodyOf(tail + 1, Number(argument)));
    if (outcome.kind !== 'appended') return print(`${outcome.kind} ${await log.tail()}`);
    tail = outcome.index;
    print(`${tail}`);
  }
}

/** Opens for appending, says so, and ends when its input ends. */
async function open(): Promise<void> {
  const log = await sqliteLog(file);
  print('open');
  for await (const _ of process.stdin) void _;
  await log.close();
}

/** Opens for reading and says the tail. */
async function read(): Promise<void> {
  const reader = await sqliteLogReader(file);
  print(`tail ${await reader.tail()}`);
  await reader.close();
}

/** Reads the whole log again and again until it has `argument` records; says how many it saw, or what was wrong. */
async function follow(): Promise<void> {
  const reader = await sqliteLogReader(file);
  let seen = 0;
  while (seen < Number(argument)) {
    let index = 0;
    for await (const record of reader.read(1)) {
      index += 1;
      if (record.index !== index || record.body !== bodyOf(index, 100))
        return print(`wrong at ${index}: ${JSON.stringify(record)}`);
    }
    if (index < seen) return print(`went back from ${seen} to ${index}`);
    if (index > seen) print(`${index}`);
    seen = index;
  }
  await reader.close();
}

/** Puts the blobs 0 to 199, and says each digest. */
async function put(): Promise<void> {
  const blobs = await sqliteBlobs(file);
  for (let n = 0; n < 200; n += 1) print(await blobs.put(Buffer.from(`blob ${n}`.repeat(50))));
  await blobs.close();
}

/** The body of record `index`, the same in every process. */
function bodyOf(index: number, length: number): string {
  return `${index}:`.padEnd(length, 'x');
}

function print(line: string): void {
  writeSync(1, `${line}\n`);
}
