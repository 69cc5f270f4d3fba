/**
 * One server per store: nats-server takes no lock of its own, and two on one folder acknowledge the same sequence for different messages.
 *
 * Two parts, both without stale states. While its supervisor lives, a lock of the operating system on a file (SQLite takes it, portably) that
 * dies with the process. After a supervisor was killed, its server may live a moment longer, so the living processes are asked: one whose command
 * line names our configuration file still runs on this store.
 */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { OplusError } from '@oplus/core';

/** `release` is idempotent. */
export type StoreLock = { release(): void };

/**
 * Takes the store in `dir` (an existing folder, by its real path). `configPath` is what its server's command line names. Waits up to `leaveMsMax`
 * milliseconds for a server that is on its way out, and a moment for a supervisor that is. Throws `LOG_LOCKED` when the store is taken.
 */
export async function lockStore(dir: string, configPath: string, leaveMsMax: number): Promise<StoreLock> {
  const release = await lockFile(dir, performance.now() + DYING_MS_MAX);
  try {
    const deadlineMs = performance.now() + leaveMsMax;
    for (let pids = await processesNaming(configPath); pids.length > 0; pids = await processesNaming(configPath)) {
      if (performance.now() >= deadlineMs) {
        throw locked(
          dir,
          `a nats-server that nobody supervises still runs on it (process ${pids.join(', ')})`,
          'stop that process, then try again',
        );
      }
      await delay(POLL_MS);
    }
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

const POLL_MS = 25;
/** A killed process keeps its locks until the system has taken it apart. */
const DYING_MS_MAX = 500;
const LOCK_FILE = 'supervisor.lock';

async function lockFile(dir: string, deadlineMs: number): Promise<() => void> {
  // Loaded here: Node 22 prints a warning when it loads, which users of a running broker need not see.
  const { DatabaseSync } = await import('node:sqlite');
  for (;;) {
    const database = new DatabaseSync(join(dir, LOCK_FILE));
    try {
      database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
      return () => {
        if (database.isOpen) database.close();
      };
    } catch (error) {
      database.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
      if (performance.now() >= deadlineMs) {
        throw locked(
          dir,
          'another process supervises a nats-server on it',
          'use that server (--nats-url), wait until it ends, or choose another folder',
          error,
        );
      }
    }
    await delay(POLL_MS);
  }
}

const SQLITE_BUSY = 5;

function locked(dir: string, what: string, hint: string, cause?: unknown): OplusError {
  return new OplusError('LOG_LOCKED', `the store ${dir} is taken: ${what}`, { hint, path: dir, cause });
}

/** Living processes whose command line holds `path` as an argument. */
async function processesNaming(path: string): Promise<readonly number[]> {
  if (process.platform === 'linux') {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const isNaming = await Promise.all(pids.map(async (pid) => (await commandLine(pid)).includes(path)));
    return pids.filter((_, k) => isNaming[k]).map(Number);
  }
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command=']);
  return stdout
    .split('\n')
    .filter((line) => line.includes(` ${path}`))
    .map((line) => Number.parseInt(line, 10));
}

async function commandLine(pid: string): Promise<readonly string[]> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  } catch {
    // Ended between the listing and the reading, or another user's, who cannot use our store.
    return [];
  }
}
