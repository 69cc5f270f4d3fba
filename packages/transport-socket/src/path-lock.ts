/**
 * The right to serve at one path, held by one process and gone with it. Whoever holds it knows that a socket file at the path is a leftover.
 *
 * SQLite holds the lock, an exclusive transaction on an empty database beside the socket: the only lock of the operating system
 * that Node brings along. Connecting alone would not do: of two that find a leftover at once, one would remove the other's new socket.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { OplusError } from '@oplus/core';

/** A lock that is held. */
export interface PathLock {
  /** Gives the lock back. Idempotent. */
  release(): void;
}

/** Takes the lock of `path`, whose folder exists. Throws `PORT_BUSY` when another process, or another bus of this one, holds it. */
export async function takePathLock(path: string): Promise<PathLock> {
  // Loaded here: Node 22 prints a warning when it loads, which those who only attach need not see.
  const { DatabaseSync } = await import('node:sqlite');
  const deadlineMs = performance.now() + DYING_MS_MAX;
  for (;;) {
    const database = new DatabaseSync(`${path}.lock`, { timeout: 0 });
    try {
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      return {
        release() {
          if (database.isOpen) database.close();
        },
      };
    } catch (error) {
      database.close();
      if ((error as { readonly errcode?: unknown }).errcode !== SQLITE_BUSY) throw error;
      if (performance.now() >= deadlineMs) {
        throw new OplusError('PORT_BUSY', `another bus serves at ${path}`, {
          path,
          hint: 'end it, or use another path',
          cause: error,
        });
      }
    }
    await delay(POLL_MS);
  }
}

const SQLITE_BUSY = 5;
const POLL_MS = 20;
/** A killed process keeps its locks until the system has taken it apart. */
const DYING_MS_MAX = 250;
