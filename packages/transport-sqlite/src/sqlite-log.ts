/**
 * A log in one SQLite file: write-ahead log, synced at every append, one writer at a time, any number of readers in any process.
 *
 * Each append is one transaction and blocks the event loop for one sync of the disk; what waits meanwhile is sealed together in
 * the next round. Each record carries a checksum of its index and body, so what is read is what was written.
 */
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { OplusError } from '@oplus/core';
import { assertIndex, assertLogBody } from '@oplus/protocol';
import type { AppendOutcome, Log, LogReader, StoredRecord } from '@oplus/protocol';
import { canonicalPathOf, openForReading, openForWriting, pragmaOf } from './database.ts';
import type { FileKind } from './database.ts';
import { isOutcomeUnknown, translating } from './sqlite-error.ts';
import { takeWriteLock } from './write-lock.ts';

/** `bytesMax`: largest size of the file without its write-ahead log; an append beyond it is `LOG_FULL`. No limit when left out. */
export type SqliteLogOptions = { readonly bytesMax?: number };

/** What the connection really runs with, for people who have to trust it. */
export type SqliteSettings = {
  readonly file: string;
  readonly sqliteVersion: string;
  readonly journalMode: string;
  /** 2 is FULL: every append is synced before it is acknowledged. */
  readonly synchronous: number;
  readonly pageBytes: number;
};

export interface SqliteLog extends Log {
  settings(): SqliteSettings;
}

/**
 * Opens `file` for appending, creating it when absent; its folder must exist. Beside it live `<file>-wal` and `<file>-shm` while it is
 * open, which belong to it, and `<file>.lock`, which is empty. Throws `LOG_LOCKED` when it is open for appending anywhere, `LOG_DAMAGED`
 * when it is not such a file, `USAGE` when it cannot be written or `bytesMax` is no size.
 *
 * `append` also throws `LOG_LOCKED`, with nothing stored, when a program that ignores the lock (a database shell, a backup) holds
 * the file for more than five seconds.
 */
export async function sqliteLog(file: string, options: SqliteLogOptions = {}): Promise<SqliteLog> {
  const path = canonicalPathOf(file);
  const lock = await takeWriteLock(path, DYING_MS_MAX);
  try {
    const database = openForWriting(path, LOG_FILE);
    try {
      limit(database, path, options);
      return writerOn(database, path, () => lock.release());
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opens `file` for reading, in this process or another, while it is written or not. Throws `USAGE` when it is absent, `LOG_DAMAGED`. */
export async function sqliteLogReader(file: string): Promise<LogReader> {
  const path = canonicalPathOf(file);
  return readerOn(recordsOf(openForReading(path, LOG_FILE), path));
}

/** Text, except for a body with a NUL in it: some versions of Node end a text there, so that one is kept as bytes. */
const LOG_FILE: FileKind = {
  name: 'log',
  applicationId: 0x6f_70_6c_67,
  table: 'CREATE TABLE record (idx INTEGER PRIMARY KEY, crc INTEGER NOT NULL, body ANY NOT NULL) STRICT',
};

const PAGES_MAX = 0xffff_fffe;
const READ_BATCH = 64;
/** A killed process keeps its locks until the system has taken it apart. */
const DYING_MS_MAX = 250;

/** What a damaged file may give for a value is anything that SQLite can hold. */
type Row = { readonly idx: number; readonly crc: unknown; readonly body: unknown };

function writerOn(database: DatabaseSync, path: string, release: () => void): SqliteLog {
  const records = recordsOf(database, path);
  const insert = translating(path, 'open', () =>
    database.prepare('INSERT INTO record SELECT ?1 + 1, ?2, ?3 WHERE (SELECT coalesce(max(idx), 0) FROM record) = ?1'),
  );
  const reader = readerOn(records);
  return {
    ...reader,
    durability: 'power',
    async append(tail, body): Promise<AppendOutcome> {
      records.assertOpen();
      assertIndex(tail, 0);
      assertLogBody(body);
      try {
        const stored = body.includes('\0') ? Buffer.from(body) : body;
        const { changes } = translating(path, 'write', () => insert.run(tail, crcOf(tail + 1, body), stored));
        return Number(changes) === 1 ? { kind: 'appended', index: tail + 1 } : { kind: 'conflict', tail: records.tail() };
      } catch (error) {
        if (!isOutcomeUnknown(error)) throw error;
        return { kind: 'unknown', why: `the disk failed while ${path} was written: ${String((error as Error).cause)}` };
      }
    },
    settings: () => ({
      file: path,
      sqliteVersion: String(Object.values(database.prepare('SELECT sqlite_version()').get() ?? {})[0]),
      journalMode: String(pragmaOf(database, 'journal_mode')),
      synchronous: Number(pragmaOf(database, 'synchronous')),
      pageBytes: Number(pragmaOf(database, 'page_size')),
    }),
    async close() {
      // The lock is the last to go: the next writer must not find us still at the file.
      await reader.close().finally(release);
    },
  };
}

/** The queries of an open file; each throws as a `LogReader` does. */
interface Records {
  readonly path: string;
  assertOpen(): void;
  tail(): number;
  /** The next few records from `from` to `to`, fewer than asked for. */
  batch(from: number, to: number): readonly Row[];
  close(): void;
}

function recordsOf(database: DatabaseSync, path: string): Records {
  const { newest, batch } = translating(path, 'read', () => ({
    newest: database.prepare('SELECT coalesce(max(idx), 0) AS tail FROM record'),
    batch: database.prepare('SELECT idx, crc, body FROM record WHERE idx >= ? AND idx <= ? ORDER BY idx LIMIT ?'),
  }));
  const assertOpen = (): void => {
    if (!database.isOpen) throw new OplusError('TRANSPORT_CLOSED', `the log ${path} is closed`, { path });
  };
  return {
    path,
    assertOpen,
    tail() {
      assertOpen();
      return translating(path, 'read', () => (newest.get() as { tail: number }).tail);
    },
    batch(from, to) {
      assertOpen();
      return translating(path, 'read', () => batch.all(from, to, READ_BATCH)) as Row[];
    },
    close() {
      if (database.isOpen) translating(path, 'write', () => database.close());
    },
  };
}

function readerOn(records: Records): LogReader {
  return {
    tail: async () => records.tail(),
    async *read(from) {
      const tail = records.tail();
      assertIndex(from, 1);
      let index = from;
      while (index <= tail) {
        // A batch is fetched whole: an open statement would hold the write-ahead log for as long as the caller takes.
        const rows = records.batch(index, tail);
        for (const row of rows) {
          yield recordOf(row, index, records.path);
          index += 1;
        }
        if (rows.length === 0) throw damaged(records.path, index, 'is missing');
      }
    },
    close: async () => records.close(),
  };
}

function limit(database: DatabaseSync, path: string, { bytesMax }: SqliteLogOptions): void {
  if (bytesMax === undefined) return;
  const pageBytes = Number(pragmaOf(database, 'page_size'));
  const pageCountMax = Math.floor(bytesMax / pageBytes);
  if (!Number.isSafeInteger(bytesMax) || pageCountMax < 2) {
    throw new OplusError('USAGE', `bytesMax of ${path} is no size: ${String(bytesMax)}`, {
      path,
      hint: `use an integer from ${2 * pageBytes} on`,
    });
  }
  translating(path, 'open', () => database.exec(`PRAGMA max_page_count = ${Math.min(pageCountMax, PAGES_MAX)}`));
}

function recordOf(row: Row, index: number, path: string): StoredRecord {
  if (row.idx !== index) throw damaged(path, index, 'is missing');
  const body = row.body instanceof Uint8Array ? Buffer.from(row.body).toString('utf8') : row.body;
  if (typeof body !== 'string' || crcOf(index, body) !== row.crc) throw damaged(path, index, 'does not match its checksum');
  return { index, body };
}

function damaged(path: string, index: number, what: string): OplusError {
  return new OplusError('LOG_DAMAGED', `record ${index} of ${path} ${what}`, { path, hint: 'restore the file from a copy' });
}

/** The index is in it, so that a record in another's place is noticed. */
function crcOf(index: number, body: string): number {
  return crc32(body, crc32(`${index}:`));
}
