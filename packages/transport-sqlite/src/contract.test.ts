/** The contracts of Log and Blobs on files in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { blobsContract, logContract } from '@oplus/protocol/testing';
import { sqliteBlobs, sqliteLog, sqliteLogReader } from './index.ts';

/** Whatever a check leaves open is closed before its folder goes. */
function keeping<T extends { close(): Promise<void> }>(kept: { close(): Promise<void> }[], opened: T): T {
  kept.push(opened);
  return opened;
}

async function freshFolder(): Promise<{ folder: string; kept: { close(): Promise<void> }[]; destroy(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'oplus-sqlite-'));
  const kept: { close(): Promise<void> }[] = [];
  return {
    folder,
    kept,
    async destroy() {
      for (const one of kept) await one.close();
      await rm(folder, { recursive: true });
    },
  };
}

logContract('sqliteLog', async () => {
  const { folder, kept, destroy } = await freshFolder();
  const file = join(folder, 'team.log.sqlite');
  return {
    durability: 'power',
    writers: 'one',
    open: async () => keeping(kept, await sqliteLog(file)),
    openReader: async () => keeping(kept, await sqliteLogReader(file)),
    destroy,
  };
});

blobsContract('sqliteBlobs', async () => {
  const { folder, kept, destroy } = await freshFolder();
  const file = join(folder, 'blobs.sqlite');
  return {
    writers: 'many',
    open: async () => keeping(kept, await sqliteBlobs(file)),
    async damage(digest) {
      const database = new DatabaseSync(file);
      database.prepare('UPDATE blob SET bytes = ? WHERE digest = ?').run(new Uint8Array([1]), digest);
      database.close();
    },
    destroy,
  };
});
