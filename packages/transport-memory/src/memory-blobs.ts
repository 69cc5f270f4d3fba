/**
 * Blobs in a map, by digest.
 */
import { createHash } from 'node:crypto';
import { OplusError } from '@oplus/core';
import { assertBlob, assertDigest } from '@oplus/protocol';
import type { Blobs } from '@oplus/protocol';

/** What blob stores share: bytes by their SHA-256 in lower-case hex. */
export type MemoryBlobStore = { readonly blobs: Map<string, Uint8Array> };

/** An empty store. */
export function memoryBlobStore(): MemoryBlobStore {
  return { blobs: new Map() };
}

/** Blobs on `store`. Bytes are copied on the way in and on the way out, and hashed on both. */
export function memoryBlobs(store: MemoryBlobStore = memoryBlobStore()): Blobs {
  const { blobs } = store;
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw new OplusError('TRANSPORT_CLOSED', 'the blob store is closed');
  };
  return {
    async put(bytes) {
      assertOpen();
      assertBlob(bytes);
      const digest = digestOf(bytes);
      if (!blobs.has(digest)) blobs.set(digest, Uint8Array.from(bytes));
      return digest;
    },
    async get(digest) {
      assertOpen();
      assertDigest(digest);
      const bytes = blobs.get(digest);
      if (bytes === undefined) return undefined;
      if (digestOf(bytes) !== digest) {
        throw new OplusError('LOG_DAMAGED', `blob ${digest} does not match its digest`, {
          hint: 'something in this process changed it',
        });
      }
      return Uint8Array.from(bytes);
    },
    async close() {
      isClosed = true;
    },
  };
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
