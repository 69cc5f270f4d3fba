/**
 * The log of a run, wherever it is: in its SQLite file, in its export, or still on its broker.
 *
 * The export `log.jsonl` is one record a line, the stored bytes unchanged.
 */
import { createReadStream, existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { OplusError } from '@oplus/core';
import type { LogReader, StoredRecord } from '@oplus/protocol';
import { sqliteLogReader } from '@oplus/transport-sqlite';
import { fileError } from './file-error.ts';
import { openBrokerLog, storeFolder } from './run-broker.ts';
import { EXPORT_FILE } from './run-folder.ts';
import type { RunFile } from './run-folder.ts';
import { LOG_FILE } from './stage.ts';

/** A log to read; `place` is the file or the broker that it is read from. */
export type RunLog = LogReader & { readonly place: string };

/**
 * Opens the records of a run. A run on NATS that has not been exported is read from its broker: at `natsUrl`, at the address that
 * the run was given, or from the store in its folder, for which a server is started. Throws `USAGE` when there is no log, and
 * what file and broker throw.
 */
export async function openRunLog(dir: string, run: RunFile, natsUrl?: string): Promise<RunLog> {
  const file = join(dir, LOG_FILE);
  if (existsSync(file)) return placed(await sqliteLogReader(file), file);
  const exported = join(dir, EXPORT_FILE);
  if (existsSync(exported)) return placed(exportReader(exported), exported);
  const { namespace } = run;
  const url = natsUrl ?? run.address;
  const store = storeFolder(dir);
  if (namespace !== undefined && (url !== undefined || existsSync(store))) {
    return placed(
      await openBrokerLog({ dir, namespace, ...(url === undefined ? {} : { url }) }),
      url === undefined ? store : `${namespace} on ${run.address ?? 'the broker'}`,
    );
  }
  throw new OplusError('USAGE', 'the folder holds no log', {
    path: dir,
    hint:
      run.log === 'memory'
        ? 'A log in memory is gone with its process when that is killed. Use --log sqlite to keep it.'
        : 'The run was stopped before it had a log. Run it again.',
  });
}

/** Writes the export of a log, whole or not at all. Gives the number of records. Throws what the log throws, `LOG_FULL`, `USAGE`. */
export async function exportLog(dir: string, log: Pick<LogReader, 'read'>): Promise<number> {
  const path = join(dir, EXPORT_FILE);
  let count = 0;
  try {
    const handle = await open(`${path}.partial`, 'w');
    try {
      for await (const { body } of log.read(1)) {
        await handle.appendFile(`${body}\n`);
        count += 1;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${path}.partial`, path);
  } catch (error) {
    throw fileError(error, 'the log cannot be exported', path);
  }
  return count;
}

function placed(log: LogReader, place: string): RunLog {
  return { place, tail: () => log.tail(), read: (from) => log.read(from), close: () => log.close() };
}

function exportReader(path: string): LogReader {
  async function* read(from: number): AsyncIterable<StoredRecord> {
    let index = 0;
    for await (const body of linesOf(path)) {
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

/** Whole lines, ended by LF alone: a body may hold other line separators. */
async function* linesOf(path: string): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let count = 0;
  let held: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
        const line = Buffer.concat([...held, chunk.subarray(from, end)]);
        held = [];
        from = end + 1;
        count += 1;
        yield decoder.decode(line);
      }
      if (from < chunk.length) held.push(chunk.subarray(from));
    }
  } catch (error) {
    if (error instanceof TypeError) throw damaged(path, count, 'is no UTF-8', error);
    throw fileError(error, 'the export of the log cannot be read', path);
  }
  if (held.length > 0) throw damaged(path, count + 1, 'is cut off');
}

const LF = 0x0a;

function damaged(path: string, index: number, what: string, cause?: unknown): OplusError {
  return new OplusError('LOG_DAMAGED', `record ${index} ${what}`, {
    path,
    hint: 'Restore the file from a copy.',
    ...(cause === undefined ? {} : { cause }),
  });
}
