/**
 * Blobs in one SQLite file of their own, shared by any number of processes: storing the same bytes twice is a no-op, so nobody has to be the only writer.
 */
import { createHash } from 'node:crypto';
import { OplusError } from '@oplus/core';
import { assertBlob, assertDigest } from '@oplus/protocol';
import type { Blobs } from '@oplus/protocol';
import { canonicalPathOf, openForWriting } from './database.ts';
import type { FileKind } from './database.ts';
import { translating } from './sqlite-error.ts';
import { takeWriteLock } from './write-lock.ts';

/**
 * Opens `file`, creating it when absent; its folder must exist. A put is synced to the disk before it resolves. Each call blocks the event loop; a put waits up
 * to five seconds for another process that writes, then throws `LOG_LOCKED`. Opening throws `LOG_DAMAGED` for a file that is none, `USAGE` for one that cannot be written.
 */
export async function sqliteBlobs(file: string): Promise<Blobs> {
  const path = canonicalPathOf(file);
  // Only for the time of opening: two processes must not create the file at once.
  const lock = await takeWriteLock(path, OPEN_WAIT_MS);
  const database = ((): ReturnType<typeof openForWriting> => {
    try {
      return openForWriting(path, BLOB_FILE);
    } finally {
      lock.release();
    }
  })();
  const { insert, select } = translating(path, 'open', () => ({
    insert: database.prepare('INSERT INTO blob (digest, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    select: database.prepare('SELECT bytes FROM blob WHERE digest = ?'),
  }));
  const assertOpen = (): void => {
    if (!database.isOpen) throw new OplusError('TRANSPORT_CLOSED', `the blobs ${path} are closed`, { path });
  };
  return {
    async put(bytes) {
      assertOpen();
      assertBlob(bytes);
      const digest = digestOf(bytes);
      translating(path, 'write', () => insert.run(digest, bytes));
      return digest;
    },
    async get(digest) {
      assertOpen();
      assertDigest(digest);
      const row = translating(path, 'read', () => select.get(digest)) as { readonly bytes: unknown } | undefined;
      if (row === undefined) return undefined;
      if (!(row.bytes instanceof Uint8Array) || digestOf(row.bytes) !== digest) {
        throw new OplusError('LOG_DAMAGED', `blob ${digest} in ${path} does not match its digest`, {
          path,
          hint: 'restore the file from a copy',
        });
      }
      return row.bytes;
    },
    async close() {
      if (database.isOpen) translating(path, 'write', () => database.close());
    },
  };
}

const OPEN_WAIT_MS = 5_000;

const BLOB_FILE: FileKind = {
  name: 'blob file',
  applicationId: 0x6f_70_62_6c,
  table: 'CREATE TABLE blob (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT',
};

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
