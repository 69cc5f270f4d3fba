/**
 * The folder of one run: what was asked (`run.json`), the log, an export of the log (`log.jsonl`, one record a line, the
 * stored bytes unchanged) and the trace.
 */
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { canonical, OplusError } from '@oplus/core';
import type { Json } from '@oplus/core';
import type { LogReader, StoredRecord } from '@oplus/protocol';
import { sqliteLogReader } from '@oplus/transport-sqlite';
import { LOG_FILE } from './stage.ts';

/** What a run was asked to do; enough to fold its log again. */
export type RunFile = {
  readonly v: 1;
  readonly task: string;
  readonly agents: number;
  readonly steps: number;
  readonly seed: number;
  readonly routing: string;
  readonly log: 'memory' | 'sqlite' | 'nats';
  readonly barrier: boolean;
  readonly model: string;
  readonly space: string;
  readonly schema: string;
};

const RUN_FILE = 'run.json';
const EXPORT_FILE = 'log.jsonl';
export const TRACE_FILE = 'trace.jsonl';

/** Makes the folder and writes `run.json`. Throws `USAGE` when the folder already holds a run. */
export async function createRunFolder(dir: string, run: RunFile): Promise<void> {
  await mkdir(dir, { recursive: true });
  if (existsSync(join(dir, RUN_FILE))) {
    throw new OplusError('USAGE', 'the folder already holds a run', { path: dir, hint: 'Choose another --dir, or look at this one with: oplus log, oplus replay.' });
  }
  await writeFile(join(dir, RUN_FILE), `${canonical(run as unknown as Json)}\n`, { flag: 'wx' });
}

/** Reads `run.json`. Throws `USAGE` when there is none, `LOG_DAMAGED` when it cannot be read. */
export async function readRunFile(dir: string): Promise<RunFile> {
  let text: string;
  try {
    text = await readFile(join(dir, RUN_FILE), 'utf8');
  } catch (cause) {
    throw new OplusError('USAGE', 'the folder holds no run', { path: dir, hint: 'Give the folder that a run named, such as runs/<name>.', cause });
  }
  try {
    const run = JSON.parse(text) as RunFile;
    if (run.v === 1) return run;
  } catch {
    // Told below.
  }
  throw new OplusError('LOG_DAMAGED', 'run.json is not a description of a run', { path: join(dir, RUN_FILE), hint: 'Restore it from a copy; the log itself is beside it.' });
}

/** The newest run below a folder of runs, `undefined` when there is none. */
export async function newestRun(runs: string): Promise<string | undefined> {
  const names = await readdir(runs).catch(() => []);
  const dated = await Promise.all(
    names.map(async (name) => {
      const handle = await open(join(runs, name, RUN_FILE)).catch(() => undefined);
      const stat = await handle?.stat();
      await handle?.close();
      return { dir: join(runs, name), writtenMs: stat?.mtimeMs ?? -1 };
    }),
  );
  const newest = dated.filter(({ writtenMs }) => writtenMs >= 0).sort((a, b) => b.writtenMs - a.writtenMs)[0];
  return newest?.dir;
}

/** The records of a run: from its own log file where it has one, else from the export. Throws `LOG_DAMAGED`, `USAGE`. */
export async function openRunLog(dir: string): Promise<LogReader> {
  if (existsSync(join(dir, LOG_FILE))) return sqliteLogReader(join(dir, LOG_FILE));
  const file = join(dir, EXPORT_FILE);
  if (!existsSync(file)) throw new OplusError('USAGE', 'the folder holds no log', { path: dir, hint: 'The run ended before its log was written out.' });
  return exportReader(file);
}

/** Writes the export of a log, whole or not at all. Gives the number of records. */
export async function exportLog(dir: string, log: Pick<LogReader, 'read'>): Promise<number> {
  const file = join(dir, EXPORT_FILE);
  const handle = await open(`${file}.partial`, 'w');
  let count = 0;
  try {
    for await (const { body } of log.read(1)) {
      await handle.appendFile(`${body}\n`);
      count += 1;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.partial`, file);
  return count;
}

function exportReader(file: string): LogReader {
  async function* read(from: number): AsyncIterable<StoredRecord> {
    let index = 0;
    const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const body of lines) {
      index += 1;
      if (index >= from) yield { index, body };
    }
  }
  return {
    tail: async () => {
      let tail = 0;
      for await (const { index } of read(1)) tail = index;
      return tail;
    },
    read,
    close: async () => undefined,
  };
}
