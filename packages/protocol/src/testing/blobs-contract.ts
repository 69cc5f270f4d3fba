/**
 * Contract of the port `Blobs` (protocol SPEC, rules BLB1 to BLB7).
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Blobs } from '../ports/blobs.ts';
import { BLOB_BYTES_MAX } from '../ports/blobs.ts';
import { check, expectCode, registerContract } from './check.ts';
import type { Check, Destroyable, OpenStore } from './check.ts';

/** One blob store, empty at first. `open` may be called again after `close`; while `writers` is `many`, also before. */
export interface BlobsStore extends Destroyable {
  readonly writers: 'one' | 'many';
  open(): Promise<Blobs>;
  /** Changes the stored bytes of a blob behind the adapter's back. */
  damage(digest: string): Promise<void>;
}

/** Registers the checks below as tests. */
export function blobsContract(name: string, open: OpenStore<BlobsStore>): void {
  registerContract(name, blobsChecks, open);
}

/** Every check of the port. */
export const blobsChecks: readonly Check<BlobsStore>[] = [
  check<BlobsStore>('BLB1', 'put gives the SHA-256 of the bytes, and get gives the bytes', async (store) => {
    const blobs = await store.open();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const digest = await blobs.put(bytes);
        expect(digest).toBe(sha256Of(bytes));
        expect(isSame(await blobs.get(digest), bytes)).toBe(true);
      }),
      { numRuns: 30, examples: [[new Uint8Array()], [new Uint8Array([0])]] },
    );
  }),

  check<BlobsStore>('BLB1', 'a view into a larger buffer is stored as that view', async (store) => {
    const blobs = await store.open();
    const view = Uint8Array.from({ length: 100 }, (_, k) => k).subarray(10, 20);
    const digest = await blobs.put(view);
    expect(digest).toBe(sha256Of(Uint8Array.from(view)));
    expect([...((await blobs.get(digest)) ?? [])]).toEqual([...view]);
  }),

  check<BlobsStore>('BLB2', 'putting the same bytes again changes nothing', async (store) => {
    const blobs = await store.open();
    const digests = [await blobs.put(bytesOf('same')), await blobs.put(bytesOf('same'))];
    digests.push(...(await Promise.all([blobs.put(bytesOf('same')), blobs.put(bytesOf('same'))])));
    expect(new Set(digests)).toEqual(new Set([sha256Of(bytesOf('same'))]));
    expect(isSame(await blobs.get(digests[0] ?? ''), bytesOf('same'))).toBe(true);
  }),

  check<BlobsStore>(
    'BLB3',
    'bytes that no longer match their digest are LOG_DAMAGED, on every read, and others stay readable',
    async (store) => {
      const blobs = await store.open();
      const digest = await blobs.put(bytesOf('to be damaged'));
      const other = await blobs.put(bytesOf('whole'));
      expect(isSame(await blobs.get(digest), bytesOf('to be damaged'))).toBe(true);
      await store.damage(digest);
      await expectCode('LOG_DAMAGED', () => blobs.get(digest));
      await expectCode('LOG_DAMAGED', () => blobs.get(digest));
      expect(isSame(await blobs.get(other), bytesOf('whole'))).toBe(true);
    },
  ),

  check<BlobsStore>('BLB4', 'an unknown digest gives undefined', async (store) => {
    const blobs = await store.open();
    await blobs.put(bytesOf('known'));
    expect(await blobs.get(sha256Of(bytesOf('unknown')))).toBeUndefined();
    expect(await blobs.get('0'.repeat(64))).toBeUndefined();
  }),

  check<BlobsStore>('BLB5', '[BI-105][BI-106] what is no digest is refused, paths of any sort too', async (store) => {
    const blobs = await store.open();
    const digest = await blobs.put(bytesOf('x'));
    const malformed = [
      '',
      digest.slice(1),
      `${digest}0`,
      digest.toUpperCase(),
      `../${digest.slice(3)}`,
      `${digest}\n`,
      'g'.repeat(64),
      '*',
      '../../etc/passwd',
      '/etc/passwd',
      'C:\\temp\\a',
      '..\\..\\a',
    ];
    for (const name of malformed) await expectCode('USAGE', () => blobs.get(name));
  }),

  check<BlobsStore>('BLB5', 'a blob of the limit is kept, a larger one refused', async (store) => {
    const blobs = await store.open();
    const largest = new Uint8Array(BLOB_BYTES_MAX).fill(7);
    expect(isSame(await blobs.get(await blobs.put(largest)), largest)).toBe(true);
    const larger = new Uint8Array(BLOB_BYTES_MAX + 1);
    await expectCode('USAGE', () => blobs.put(larger));
    expect(await blobs.get(sha256Of(larger))).toBeUndefined();
  }),

  check<BlobsStore>('BLB6', 'neither side shares memory with the other', async (store) => {
    const blobs = await store.open();
    const given = bytesOf('mine');
    const digest = await blobs.put(given);
    given.fill(0);
    const got = await blobs.get(digest);
    expect(isSame(got, bytesOf('mine'))).toBe(true);
    got?.fill(0);
    expect(isSame(await blobs.get(digest), bytesOf('mine'))).toBe(true);
  }),

  check<BlobsStore>(
    'BLB7',
    'a blob is there after closing and opening again, and a closed store answers TRANSPORT_CLOSED',
    async (store, wait) => {
      const blobs = await store.open();
      const digest = await blobs.put(bytesOf('kept'));
      if (store.writers === 'many') expect(isSame(await (await store.open()).get(digest), bytesOf('kept'))).toBe(true);
      await wait.ends(blobs.close(), 'close');
      await wait.ends(blobs.close(), 'the second close');
      await expectCode('TRANSPORT_CLOSED', () => blobs.get(digest));
      await expectCode('TRANSPORT_CLOSED', () => blobs.put(bytesOf('late')));
      expect(isSame(await (await store.open()).get(digest), bytesOf('kept'))).toBe(true);
    },
  ),
];

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

// Compared as buffers: eight megabytes through a deep comparison would take seconds.
function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
