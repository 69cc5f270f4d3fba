/**
 * Opening a file as a database of ours: created whole or not at all, and recognised before anything is read from it.
 */
import { accessSync, closeSync, constants, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OplusError } from '@oplus/core';
import { translating } from './sqlite-error.ts';

/** What a file of one kind looks like: its mark in the header, and the statement that creates its only table. */
export type FileKind = { readonly name: string; readonly applicationId: number; readonly table: string };

/** The one path of a file, whatever links lead to it, so that two openers meet. Throws `USAGE` when its folder does not exist. */
export function canonicalPathOf(file: string): string {
  const path = resolve(file);
  return translating(path, 'open', () => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return join(realpathSync(dirname(path)), basename(path));
    if (!stats.isFile())
      throw new OplusError('USAGE', `${path} is not a regular file`, { path, hint: 'name a file, not a folder' });
    return realpathSync(path);
  });
}

/**
 * Opens `path` for writing, after creating it when it is absent. The caller holds the write lock of `path`.
 * Throws `LOG_DAMAGED` for a file that is not of that kind, `LOG_FULL`, `LOG_LOCKED`, `USAGE`.
 */
export function openForWriting(path: string, kind: FileKind): DatabaseSync {
  return translating(path, 'open', () => {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) createFile(path, kind);
    // SQLite would open a file that it may not write as a read-only one, and say so at the first write only.
    accessSync(path, constants.R_OK | constants.W_OK);
    const database = openRecognised(path, kind, false);
    try {
      // FULL syncs the write-ahead log at every commit; fullfsync asks the drive itself where the system makes that difference.
      database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON',
      );
      const mode = pragmaOf(database, 'journal_mode');
      if (mode !== 'wal')
        throw new OplusError('USAGE', `the file system of ${path} cannot share memory`, { path, hint: 'use a local disk' });
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Opens `path` for reading only, beside whoever writes it. Throws `USAGE` when it is absent, `LOG_DAMAGED` when it is not of that kind. */
export function openForReading(path: string, kind: FileKind): DatabaseSync {
  return translating(path, 'read', () => {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      throw new OplusError('USAGE', `there is no ${kind.name} at ${path}`, {
        path,
        hint: 'check the path, or start its writer first',
      });
    }
    return openRecognised(path, kind, true);
  });
}

/** Value of a pragma of this connection. */
export function pragmaOf(database: DatabaseSync, pragma: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0];
}

const FORMAT = 1;
const PAGE_BYTES = 8_192;
const BUSY_WAIT_MS = 5_000;

function openRecognised(path: string, kind: FileKind, isReadOnly: boolean): DatabaseSync {
  // SQLite takes an empty file for a new database and deletes the write-ahead log beside it. Ours are never empty.
  if (statSync(path).size === 0) {
    throw new OplusError('LOG_DAMAGED', `${path} is empty`, {
      path,
      hint: 'restore it from a copy; remove it if it never was one',
    });
  }
  const database = new DatabaseSync(path, { readOnly: isReadOnly, timeout: BUSY_WAIT_MS });
  try {
    const [applicationId, format] = [pragmaOf(database, 'application_id'), pragmaOf(database, 'user_version')];
    if (applicationId !== kind.applicationId) {
      throw new OplusError('LOG_DAMAGED', `${path} is not a ${kind.name} of oplus`, { path, hint: 'use another file' });
    }
    if (format !== FORMAT) {
      const hint = `this program reads and writes format ${FORMAT}`;
      throw new OplusError('LOG_DAMAGED', `${path} is a ${kind.name} in format ${String(format)}`, { path, hint });
    }
    const { sql } = (database.prepare("SELECT group_concat(sql, '; ') AS sql FROM sqlite_schema WHERE sql IS NOT NULL").get() ??
      {}) as { sql?: unknown };
    if (sql !== kind.table) {
      throw new OplusError('LOG_DAMAGED', `${path} has other tables than a ${kind.name}`, {
        path,
        hint: 'restore it from a copy',
      });
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Built under another name and renamed, so that a file under `path` is a whole one even if we are killed in between. */
function createFile(path: string, kind: FileKind): void {
  const fresh = `${path}.new`;
  // What a killed creator left; the lock says that nobody is at it now.
  for (const left of ['', '-journal']) rmSync(`${fresh}${left}`, { force: true });
  const database = new DatabaseSync(fresh);
  try {
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; BEGIN EXCLUSIVE;
      PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = ${FORMAT}; ${kind.table}; COMMIT`);
  } finally {
    database.close();
  }
  renameSync(fresh, path);
  syncFolder(dirname(path));
}

function syncFolder(folder: string): void {
  // Windows cannot open a folder, and does not need it.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
