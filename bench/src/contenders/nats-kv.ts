/**
 * NATS key-value, compare-and-set on one document: read the entry, change it, `update` with the revision that was read,
 * and on "wrong last sequence" read again and repeat, as the documentation of the bucket's `update` describes.
 *
 * The first try starts from the watched entry, which saves a read; each retry reads the bucket.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { JetStreamApiError, jetstream } from '@nats-io/jetstream';
import type { KV, KvEntry } from '@nats-io/kv';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { connect } from '@nats-io/transport-node';

import { OplusError } from '@oplus/core';

import type { Board, BoardView, Patch } from '../board.ts';
import { fold, initialBoard, refusalOf, viewOf } from '../board.ts';
import type { Answer, Contender, OpenOptions, Session, Writer } from '../contender.ts';
import { cpuMsOfTree, createWireMeter } from '../instruments.ts';
import { followerCount, serving } from '../replica.ts';
import type { ServerProcess } from '../server-process.ts';
import { findBinary, freePort, startServer } from '../server-process.ts';

/** Retries at once, as documented. */
export const natsKv: Contender = contender('nats-kv', 'retries at once', () => undefined);
/** Waits a random time before each retry, up to 2, 4, 8 and at last 200 ms: not in its documentation, and kinder to it under contention. */
export const natsKvBackoff: Contender = contender('nats-kv-backoff', 'retries after a random wait', (retryCount) =>
  sleep(Math.random() * Math.min(PAUSE_MS_MAX, 2 * 2 ** retryCount)),
);

/** Before the retry that follows `retryCount` earlier ones. */
type Pause = (retryCount: number) => Promise<void> | undefined;

function contender(name: string, manner: string, pause: Pause): Contender {
  return {
    name,
    description: `NATS key-value, compare-and-set on one document, file storage, followers by watch, ${manner}`,
    durability: 'process',
    missing: () => (natsBinary() === undefined ? INSTALL : undefined),
    open: async (options) => {
      const port = await freePort();
      const server = await startNats(options, port);
      const wire = createWireMeter();
      const connections: NatsConnection[] = [];
      try {
        for (let index = 0; index < followerCount(options); index += 1)
          connections.push(await connect({ servers: `127.0.0.1:${port}` }));
        await createDocument(serving(connections, 0));
        const buckets = await Promise.all(connections.map(openBucket));
        const documents = await Promise.all(buckets.map(followDocument));
        const writers = Array.from({ length: options.writerCount }, (_, index): Writer => {
          const document = serving(documents, index);
          const bucket = serving(buckets, index);
          return { view: document.view, board: document.board, commit: (patch) => commit(bucket, document, patch, pause) };
        });
        const session: Session = {
          writer: (index) => serving(writers, index),
          finalState: async () => decode(await readEntry(serving(buckets, 0))),
          cpuMs: cpuMsOfTree,
          bytesOnWire: wire.bytes,
          close: () => close(connections, server, wire.close),
        };
        return session;
      } catch (error) {
        await close(connections, server, wire.close);
        throw error;
      }
    },
  };
}

/** What to install for every contender over NATS. */
export const INSTALL = 'nats-server (Debian: apt-get install nats-server), or name its path in OPLUS_NATS_SERVER';
const BUCKET = 'bench';
const KEY = 'board';
/** The server's code for an update on another revision than the newest. */
const WRONG_LAST_SEQUENCE = 10_071;
const PAUSE_MS_MAX = 200;

/** The newest entry that a follower got, decoded when somebody looks. */
type Document = { readonly entry: () => KvEntry; readonly board: () => Board; readonly view: () => BoardView };

/** Path of the server that every contender over NATS runs on. */
export function natsBinary(): string | undefined {
  return process.env['OPLUS_NATS_SERVER'] ?? findBinary('nats-server', ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin']);
}

async function startNats({ directory }: OpenOptions, port: number): Promise<ServerProcess> {
  const binary = natsBinary();
  if (binary === undefined) throw new OplusError('BROKER_MISSING', 'no nats-server found', { hint: `Install ${INSTALL}.` });
  const store = join(directory, 'nats');
  mkdirSync(store);
  const config = join(directory, 'nats.conf');
  writeFileSync(config, `host: "127.0.0.1"\nport: ${port}\njetstream { store_dir: "${store}" }\n`);
  return startServer({ binary, args: ['--config', config], port, stopSignal: 'SIGTERM' });
}

async function createDocument(connection: NatsConnection): Promise<void> {
  const bucket = await new Kvm(jetstream(connection)).create(BUCKET);
  await bucket.create(KEY, JSON.stringify(initialBoard()));
}

function openBucket(connection: NatsConnection): Promise<KV> {
  return new Kvm(jetstream(connection)).open(BUCKET);
}

async function followDocument(bucket: KV): Promise<Document> {
  let newest = await readEntry(bucket);
  let decoded: { readonly entry: KvEntry; readonly board: Board } | undefined;
  const board = (): Board => {
    if (decoded?.entry !== newest) decoded = { entry: newest, board: decode(newest) };
    return decoded.board;
  };
  const updates = await bucket.watch({ key: KEY });
  void (async (): Promise<void> => {
    for await (const update of updates) if (update.revision > newest.revision) newest = update;
  })();
  return { entry: () => newest, board, view: () => viewOf(board()) };
}

async function commit(bucket: KV, document: Document, patch: Patch, pause: Pause): Promise<Answer> {
  let entry = document.entry();
  for (let retryCount = 0; ; retryCount += 1) {
    const board = decode(entry);
    if (refusalOf(viewOf(board), patch) !== undefined) return { outcome: 'refused', retryCount };
    fold(board, patch.operations);
    try {
      await bucket.update(KEY, JSON.stringify(board), entry.revision);
      return { outcome: 'committed', retryCount };
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== WRONG_LAST_SEQUENCE) throw error;
    }
    await pause(retryCount);
    entry = await readEntry(bucket);
  }
}

async function readEntry(bucket: KV): Promise<KvEntry> {
  const entry = await bucket.get(KEY);
  if (entry === null) throw new OplusError('INVARIANT', 'the document is created before anybody reads it');
  return entry;
}

function decode(entry: KvEntry): Board {
  return entry.json<Board>();
}

async function close(connections: readonly NatsConnection[], server: ServerProcess, stopMeter: () => void): Promise<void> {
  await Promise.all(connections.map((connection) => connection.close()));
  await server.stop();
  stopMeter();
}
