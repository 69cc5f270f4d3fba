/**
 * A small blob store in a map, and the same store with one fault each: the contract suite must pass the first and fail every other.
 */
import { createHash } from 'node:crypto';
import { OplusError } from '@oplus/core';
import { assertBlob, assertDigest } from '../ports/guard.ts';
import type { BlobsStore } from './blobs-contract.ts';

/** Every fault, with the rule of the contract that forbids it. */
export const BLOBS_FAULTS: readonly { readonly fault: BlobsFault; readonly rule: string }[] = [
  { fault: 'gives upper-case digests', rule: 'BLB1' },
  { fault: 'stores the whole buffer of a view', rule: 'BLB1' },
  { fault: 'refuses bytes that it has', rule: 'BLB2' },
  { fault: 'never verifies', rule: 'BLB3' },
  { fault: 'verifies once', rule: 'BLB3' },
  { fault: 'gives empty bytes for unknown', rule: 'BLB4' },
  { fault: 'takes any name for a digest', rule: 'BLB5' },
  { fault: 'has no limit', rule: 'BLB5' },
  { fault: 'keeps the array of the caller', rule: 'BLB6' },
  { fault: 'hands out its own array', rule: 'BLB6' },
  { fault: 'forgets on close', rule: 'BLB7' },
  { fault: 'stays open', rule: 'BLB7' },
];

export type BlobsFault =
  | 'none'
  | 'gives upper-case digests'
  | 'stores the whole buffer of a view'
  | 'refuses bytes that it has'
  | 'never verifies'
  | 'verifies once'
  | 'gives empty bytes for unknown'
  | 'takes any name for a digest'
  | 'has no limit'
  | 'keeps the array of the caller'
  | 'hands out its own array'
  | 'forgets on close'
  | 'stays open';

/** A store with that fault. */
export async function brokenBlobsStore(fault: BlobsFault): Promise<BlobsStore> {
  const held = new Map<string, Uint8Array>();
  const verified = new Set<string>();
  const isMatching = (digest: string, bytes: Uint8Array): boolean => {
    if (fault === 'never verifies' || (fault === 'verifies once' && verified.has(digest))) return true;
    verified.add(digest);
    return digestOf(bytes) === digest.toLowerCase();
  };
  return {
    writers: 'many',
    async open() {
      let isClosed = false;
      const assertOpen = (): void => {
        if (isClosed && fault !== 'stays open') throw new OplusError('TRANSPORT_CLOSED', 'the store is closed');
      };
      return {
        async put(bytes) {
          assertOpen();
          if (fault !== 'has no limit') assertBlob(bytes);
          const kept = fault === 'stores the whole buffer of a view' ? new Uint8Array(bytes.buffer) : bytes;
          const digest = fault === 'gives upper-case digests' ? digestOf(kept).toUpperCase() : digestOf(kept);
          if (held.has(digest) && fault === 'refuses bytes that it has') throw new OplusError('USAGE', 'already there');
          held.set(digest, fault === 'keeps the array of the caller' ? bytes : Uint8Array.from(kept));
          return digest;
        },
        async get(digest) {
          assertOpen();
          if (fault !== 'takes any name for a digest') assertDigest(digest);
          const bytes = held.get(digest);
          if (bytes === undefined) return fault === 'gives empty bytes for unknown' ? new Uint8Array() : undefined;
          if (!isMatching(digest, bytes)) throw new OplusError('LOG_DAMAGED', 'the blob does not match its digest');
          return fault === 'hands out its own array' ? bytes : Uint8Array.from(bytes);
        },
        async close() {
          isClosed = true;
          if (fault === 'forgets on close') held.clear();
        },
      };
    },
    damage: async (digest) => void held.set(digest, new TextEncoder().encode('damaged')),
    destroy: async () => held.clear(),
  };
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
