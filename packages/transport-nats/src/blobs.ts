/**
 * Port `Blobs` over one JetStream stream per namespace: the newest message of a subject named by the digest is the blob.
 *
 * A blob is cut into parts below the payload limit. Part 0 begins with the blob's length and is stored last, so a blob that can be found is whole.
 * Equal bytes have equal parts under equal subjects: two writers of one blob cannot disturb each other, which the library's object
 * store (random chunk names, purged by the second writer) does not give.
 */
import { createHash } from 'node:crypto';
import { OplusError } from '@oplus/core';
import { BLOB_BYTES_MAX, assertBlob, assertDigest } from '@oplus/protocol';
import type { Blobs } from '@oplus/protocol';
import type { BrokerConnection } from './connection.ts';
import { ANSWER_MS_MAX } from './connection.ts';
import { damaged, openStream } from './stream.ts';
import { assertName, blobPrefix, blobStream } from './subjects.ts';

export type NatsBlobsOptions = {
  readonly namespace: string;
  /** Limit of a new stream, in bytes (default 1 GiB). The server sets it aside from its own limit. */
  readonly bytesMax?: number;
  /** Copies of a new stream on a cluster (default 1). */
  readonly replicas?: number;
  /** False for a reader without the right to create the stream (default true). */
  readonly mayCreate?: boolean;
};

/** Opens a namespace's blobs, creating the stream when there is none. Throws as `natsLog` does. The connection stays open after `close`. */
export async function natsBlobs(connection: BrokerConnection, options: NatsBlobsOptions): Promise<Blobs> {
  const { namespace } = options;
  assertName('namespace', namespace);
  const prefix = blobPrefix(namespace);
  const stream = await openStream(
    connection,
    {
      name: blobStream(namespace),
      subjectOf: () => `${prefix}>`,
      bytesMax: options.bytesMax ?? BLOBS_BYTES_MAX,
      replicas: options.replicas ?? 1,
      isLastPerSubject: true,
    },
    options.mayCreate ?? true,
  );
  let isOpen = true;

  const assertOpen = (): void => {
    if (!isOpen) throw new OplusError('TRANSPORT_CLOSED', 'the blobs were closed');
  };
  const store = (subject: string, part: Uint8Array): Promise<unknown> =>
    connection.ask('a blob cannot be stored', () =>
      stream.js.publish(subject, part, { expect: { streamName: stream.name }, timeout: ANSWER_MS_MAX }),
    );
  const newest = async (subject: string): Promise<Buffer | undefined> => (await stream.message({ last_by_subj: subject }))?.bytes;

  return {
    async put(bytes) {
      assertOpen();
      assertBlob(bytes);
      // A copy: the parts are sent after this call has returned to the caller's loop.
      const whole = withLength(bytes);
      const digest = digestOf(bytes);
      const subject = `${prefix}${digest}`;
      if ((await newest(subject))?.equals(partOf(whole, 0)) === true) return digest;
      for (let k = partCount(whole.length) - 1; k > 0; k -= 1) await store(`${subject}.${k}`, partOf(whole, k));
      await store(subject, partOf(whole, 0));
      return digest;
    },
    async get(digest) {
      assertOpen();
      assertDigest(digest);
      const subject = `${prefix}${digest}`;
      const first = await newest(subject);
      if (first === undefined) return undefined;
      const length = first.length < LENGTH_BYTES ? Number.NaN : first.readUInt32BE(0) + LENGTH_BYTES;
      if (!(length <= BLOB_BYTES_MAX + LENGTH_BYTES)) throw damaged(stream.name, `blob ${digest} has no sound length`);
      const parts = [first];
      for (let k = 1; k < partCount(length); k += 1) {
        const part = await newest(`${subject}.${k}`);
        if (part === undefined) throw damaged(stream.name, `blob ${digest} lacks part ${k}`);
        parts.push(part);
      }
      const whole = Buffer.concat(parts).subarray(LENGTH_BYTES);
      if (digestOf(whole) !== digest) throw damaged(stream.name, `blob ${digest} has other bytes than it was stored with`);
      // Not a view of a pooled buffer.
      return new Uint8Array(whole);
    },
    async close() {
      isOpen = false;
    },
  };
}

const BLOBS_BYTES_MAX = 1_073_741_824;
const LENGTH_BYTES = 4;
/** As base64 inside the JSON of an answer a part still fits the payload of a default server. */
const PART_BYTES = 524_288;

function withLength(bytes: Uint8Array): Buffer {
  const whole = Buffer.alloc(LENGTH_BYTES + bytes.length);
  whole.writeUInt32BE(bytes.length, 0);
  whole.set(bytes, LENGTH_BYTES);
  return whole;
}

function partCount(length: number): number {
  return Math.max(1, Math.ceil(length / PART_BYTES));
}

function partOf(whole: Buffer, k: number): Buffer {
  return whole.subarray(k * PART_BYTES, (k + 1) * PART_BYTES);
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
