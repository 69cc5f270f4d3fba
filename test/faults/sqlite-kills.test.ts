/** kill -9 of the coordinator over a local socket and SQLite. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Closable, LogReader } from '@oplus/protocol';
import { socketBus } from '@oplus/transport-socket';
import { sqliteLogReader } from '@oplus/transport-sqlite';
import { test } from 'vitest';
import { runUnderKills } from './kills.ts';

test('[FLT1] 20 kills of the coordinator lose no acknowledged commit, double none, and the run completes, on SQLite', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-kills-'));
  const file = join(dir, 'log.sqlite');
  const socket = join(dir, 'bus');
  const opened: (Closable | LogReader)[] = [];
  try {
    await runUnderKills({
      stand: { kind: 'sqlite', dir, file, socket },
      workerCount: 8,
      killCount: 20,
      seed: 42,
      open: async () => {
        const [bus, log] = [socketBus(socket), await sqliteLogReader(file)];
        opened.push(bus, log);
        return { bus, log };
      },
    });
  } finally {
    for (const end of opened) await end.close();
    await rm(dir, { recursive: true, force: true });
  }
});
