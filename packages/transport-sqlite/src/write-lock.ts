/**
 * The right to write one file, held by one process. It ends with the process however that ends, so there is nothing stale to clean up.
 *
 * A second, empty database beside the file is held in an exclusive transaction: SQLite then holds a lock of the operating
 * system on it. The file itself cannot be held that way, since readers have to get in.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { OplusError } from '@oplus/core';
import { translating } from './sqlite-error.ts';

/** A lock that is held. */
export interface WriteLock {
  /** Gives the lock back. Idempotent. */
  release(): void;
}

/**
 * Takes the lock of `file`, which need not exist yet, waiting up to `waitMs` for its holder to go. Throws `LOG_LOCKED` when another process, or another part of
 * this one, holds it; `USAGE` when the folder is not writable; `LOG_DAMAGED` when `<file>.lock` is something else.
 */
export async function takeWriteLock(file: string, waitMs: number): Promise<WriteLock> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    try {
      return lockNow(file);
    } catch (error) {
      if (!(error instanceof OplusError && error.code === 'LOG_LOCKED') || performance.now() >= deadlineMs) throw error;
    }
    await delay(POLL_MS);
  }
}

const POLL_MS = 20;

function lockNow(file: string): WriteLock {
  const path = `${file}.lock`;
  return translating(path, 'open', () => {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      // Nothing is ever written into it, so a journal file would only be litter after a kill.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      throw error;
    }
    return {
      release() {
        if (database.isOpen) database.close();
      },
    };
  });
}
