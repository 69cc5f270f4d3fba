import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { jetstreamManager } from '@nats-io/jetstream';
import { expectCode } from '@oplus/protocol/testing';
import { natsBlobs } from './blobs.ts';
import { blobPrefix, blobStream } from './subjects.ts';
import { connectTo, freshNamespace, serversUnderTest, withServer } from './testing/servers.ts';

const SMALL = 33_554_432;
const PART_BYTES = 524_288;

for (const binary of await serversUnderTest()) {
  describe(`nats-server ${binary.version}`, () => {
    test('[NBL1] a blob of any length around the part size comes back whole', () =>
      withServer(binary, async (server) => {
        const connection = await connectTo(server);
        const blobs = await natsBlobs(connection, { namespace: freshNamespace(), bytesMax: SMALL });
        for (const length of [
          0,
          1,
          3,
          4,
          5,
          PART_BYTES - 5,
          PART_BYTES - 4,
          PART_BYTES - 3,
          PART_BYTES,
          2 * PART_BYTES - 4,
          2 * PART_BYTES + 1,
        ]) {
          const bytes = Buffer.alloc(length, `${length} `);
          const read = await blobs.get(await blobs.put(bytes));
          expect([length, read === undefined ? -1 : Buffer.compare(read, bytes)]).toEqual([length, 0]);
        }
        await connection.close();
      }));

    test('[NBL2] equal bytes from several writers at once are stored once and readable all the time', () =>
      withServer(binary, async (server) => {
        const namespace = freshNamespace();
        const connections = await Promise.all([connectTo(server), connectTo(server), connectTo(server)]);
        const all = await Promise.all(connections.map((connection) => natsBlobs(connection, { namespace, bytesMax: SMALL })));
        const bytes = Buffer.alloc(3 * PART_BYTES, 'same ');
        const digests = await Promise.all(all.map((blobs) => blobs.put(bytes)));
        expect(new Set(digests).size).toBe(1);
        const writing = Promise.all(all.map((blobs) => blobs.put(bytes)));
        for (let n = 0; n < 5; n += 1) expect((await all[0]?.get(digests[0] as string))?.length).toBe(bytes.length);
        await writing;
        const manager = await jetstreamManager((connections[0] as (typeof connections)[number]).client, { checkAPI: false });
        expect((await manager.streams.info(blobStream(namespace))).state.messages).toBe(4);
        await Promise.all(connections.map((connection) => connection.close()));
      }));

    test('[NBL3] a blob whose later part is lost is LOG_DAMAGED, and one whose first part never came is absent', () =>
      withServer(binary, async (server) => {
        const namespace = freshNamespace();
        const connection = await connectTo(server);
        const blobs = await natsBlobs(connection, { namespace, bytesMax: SMALL });
        const manager = await jetstreamManager(connection.client, { checkAPI: false });
        const bytes = Buffer.alloc(3 * PART_BYTES, 'whole ');
        const digest = await blobs.put(bytes);
        await manager.streams.purge(blobStream(namespace), { filter: `${blobPrefix(namespace)}${digest}.2` });
        await expectCode('LOG_DAMAGED', () => blobs.get(digest));
        await manager.streams.purge(blobStream(namespace), { filter: `${blobPrefix(namespace)}${digest}` });
        expect(await blobs.get(digest)).toBeUndefined();
        expect(await blobs.put(bytes)).toBe(digest);
        expect((await blobs.get(digest))?.length).toBe(bytes.length);
        await connection.close();
      }));

    test('[NBL4] without room a put is LOG_FULL, the blob stays absent, and others stay readable', () =>
      withServer(binary, async (server) => {
        const connection = await connectTo(server);
        const blobs = await natsBlobs(connection, { namespace: freshNamespace(), bytesMax: 1_000_000 });
        const small = await blobs.put(Buffer.from('small'));
        const large = Buffer.alloc(4 * PART_BYTES, 'large ');
        await expectCode('LOG_FULL', () => blobs.put(large));
        expect(await blobs.get(createHash('sha256').update(large).digest('hex'))).toBeUndefined();
        expect((await blobs.get(small))?.length).toBe(5);
        await connection.close();
      }));
  });
}
