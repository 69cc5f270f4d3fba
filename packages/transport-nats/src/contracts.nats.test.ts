import { afterAll, beforeAll, describe } from 'vitest';
import { blobsContract, busContract, logContract } from '@oplus/protocol/testing';
import type { BlobsStore, BusStore, LogStore } from '@oplus/protocol/testing';
import { natsBlobs } from './blobs.ts';
import { natsBus } from './bus.ts';
import type { BrokerConnection } from './connection.ts';
import { natsLog, natsLogReader } from './log.ts';
import { startNatsServer } from './server.ts';
import type { NatsServer } from './server.ts';
import { blobPrefix, blobStream, logStream } from './subjects.ts';
import { connectTo, freshNamespace, serversUnderTest } from './testing/servers.ts';

const STREAM_BYTES_MAX = 67_108_864;

for (const binary of await serversUnderTest()) {
  describe(`nats-server ${binary.version}`, () => {
    let server: NatsServer;
    beforeAll(async () => {
      server = await startNatsServer({ dir: 'temporary', binary: binary.path });
    });
    afterAll(() => server.stop());

    logContract('log', () => logStore(server));
    busContract('bus', () => busStore(server));
    blobsContract('blobs', () => blobsStore(server));
  });
}

async function logStore(server: NatsServer): Promise<LogStore> {
  const at = { namespace: freshNamespace(), shard: '0' };
  const connections = connectionsTo(server, [logStream(at.namespace, at.shard)]);
  return {
    durability: 'process',
    writers: 'many',
    open: async () => natsLog(await connections.open(), { ...at, bytesMax: STREAM_BYTES_MAX }),
    openReader: async () => natsLogReader(await connections.open(), at),
    destroy: connections.destroy,
  };
}

async function busStore(server: NatsServer): Promise<BusStore> {
  const namespace = freshNamespace();
  const connections = connectionsTo(server, []);
  return { servers: 'many', open: async () => natsBus(await connections.open(), { namespace }), destroy: connections.destroy };
}

async function blobsStore(server: NatsServer): Promise<BlobsStore> {
  const namespace = freshNamespace();
  const connections = connectionsTo(server, [blobStream(namespace)]);
  return {
    writers: 'many',
    open: async () => natsBlobs(await connections.open(), { namespace, bytesMax: STREAM_BYTES_MAX }),
    async damage(digest) {
      const { client } = await connections.open();
      await client.request(`${blobPrefix(namespace)}${digest}`, new Uint8Array([0, 0, 0, 1, 42]));
    },
    destroy: connections.destroy,
  };
}

/** Every object under test gets a connection of its own; at the end all are closed and the streams deleted. */
function connectionsTo(
  server: NatsServer,
  streams: readonly string[],
): { open(): Promise<BrokerConnection>; destroy(): Promise<void> } {
  const opened: BrokerConnection[] = [];
  return {
    async open() {
      const connection = await connectTo(server);
      opened.push(connection);
      return connection;
    },
    async destroy() {
      const sweeper = await connectTo(server);
      for (const stream of streams) await sweeper.client.request(`$JS.API.STREAM.DELETE.${stream}`);
      await Promise.all([sweeper, ...opened].map((connection) => connection.close()));
    },
  };
}
