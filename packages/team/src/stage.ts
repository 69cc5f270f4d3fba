/**
 * A stage: the log, bus and blobs that a team stands on, opened together and closed together.
 */
import { join } from 'node:path';
import { OplusError } from '@oplus/core';
import type { Blobs, Bus, Clock, Durability, Log } from '@oplus/protocol';
import { memoryBlobs, memoryBus, memoryLog, systemClock } from '@oplus/transport-memory';
import { connectNats, natsBlobs, natsBus, natsLog } from '@oplus/transport-nats';
import type { BrokerConnection } from '@oplus/transport-nats';
import { sqliteBlobs, sqliteLog } from '@oplus/transport-sqlite';
import { closings, kept } from './closings.ts';
import type { Closings } from './closings.ts';
import { makeFolder } from './file-error.ts';
import { brokerOf, CHANNEL, storeFolder } from './run-broker.ts';

/** Where a team's log lives. `dir` is made for `sqlite`; `nats` without `url` starts a server whose store is in `dir`. */
export type StageOptions =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly dir: string }
  | { readonly kind: 'nats'; readonly dir: string; readonly namespace: string; readonly url?: string };

/** `coordinatorBus` and `workerBus` reach each other; over a broker they are two connections. */
export type Stage = {
  readonly kind: StageOptions['kind'];
  readonly log: Log;
  readonly coordinatorBus: Bus;
  readonly workerBus: Bus;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly durability: Durability;
  /** One line for people: what the log is and what an acknowledged append survives. */
  readonly summary: string;
  /** Of the broker that was given, without credentials. */
  readonly address: string | undefined;
  /** Resolves when a part has ended that will not come back: a server of our own. A broker that was given may come back. */
  readonly lost: Promise<OplusError>;
  /** Closes everything, what was opened last first, also when something fails on the way; then throws the first error. Idempotent. */
  close(): Promise<void>;
};

/** Name of the log file of a stage of kind `sqlite`. */
export const LOG_FILE = 'log.sqlite';

/**
 * Opens a stage. Throws what its adapters throw (`LOG_LOCKED`, `LOG_DAMAGED`, `BROKER_MISSING`, `BROKER_UNREACHABLE` ...), after
 * closing what it had opened.
 */
export async function openStage(options: StageOptions): Promise<Stage> {
  const opened = closings();
  try {
    return { ...(await open(options, opened)), clock: systemClock(), close: opened.close };
  } catch (error) {
    await opened.close().catch(() => undefined); // The first error is the one that matters.
    throw error;
  }
}

type Opened = Omit<Stage, 'clock' | 'close'>;

function open(options: StageOptions, opened: Closings): Promise<Opened> {
  switch (options.kind) {
    case 'memory':
      return openMemory(opened);
    case 'sqlite':
      return openSqlite(options.dir, opened);
    case 'nats':
      return openNats(options, opened);
  }
}

async function openMemory(opened: Closings): Promise<Opened> {
  const blobs = kept(memoryBlobs(), opened);
  const log = kept(memoryLog(), opened);
  const bus = kept(memoryBus(), opened);
  return {
    kind: 'memory',
    log,
    coordinatorBus: bus,
    workerBus: bus,
    blobs,
    durability: log.durability,
    summary: 'memory: nothing survives the end of this process',
    address: undefined,
    lost: never(),
  };
}

async function openSqlite(dir: string, opened: Closings): Promise<Opened> {
  await makeFolder(dir);
  const blobs = kept(await sqliteBlobs(join(dir, BLOBS_FILE)), opened);
  const log = kept(await sqliteLog(join(dir, LOG_FILE)), opened);
  const bus = kept(memoryBus(), opened);
  const { sqliteVersion, journalMode } = log.settings();
  return {
    kind: 'sqlite',
    log,
    coordinatorBus: bus,
    workerBus: bus,
    blobs,
    durability: log.durability,
    summary: `SQLite ${sqliteVersion}, ${journalMode} and synchronous=FULL: survives a power cut`,
    address: undefined,
    lost: never(),
  };
}

async function openNats(options: Extract<StageOptions, { kind: 'nats' }>, opened: Closings): Promise<Opened> {
  const { namespace } = options;
  const { url, auth, durability, ended } = await brokerOf(options, opened);
  const connect = async (name: string): Promise<BrokerConnection> =>
    kept(await connectNats({ url, name, ...(auth === undefined ? {} : { auth }) }), opened);
  const forWorkers = await connect('oplus workers');
  const forCoordinator = await connect('oplus coordinator');
  const blobs = kept(await natsBlobs(forWorkers, { namespace }), opened);
  const settings = durability === undefined ? {} : { durability };
  const log = kept(await natsLog(forCoordinator, { namespace, shard: CHANNEL, ...settings }), opened);
  const workerBus = kept(natsBus(forWorkers, { namespace }), opened);
  const coordinatorBus = kept(natsBus(forCoordinator, { namespace }), opened);
  const survives = log.durability === 'power' ? 'survives a power cut' : 'survives kill -9 of everything, not a power cut';
  return {
    kind: 'nats',
    log,
    coordinatorBus,
    workerBus,
    blobs,
    durability: log.durability,
    summary: `NATS ${forCoordinator.version()} at ${forCoordinator.address}: ${survives}`,
    address: options.url === undefined ? undefined : forCoordinator.address,
    lost: ended === undefined ? never() : ended.then(() => serverEnded(options.dir)),
  };
}

function serverEnded(dir: string): OplusError {
  return new OplusError('BROKER_UNREACHABLE', 'the nats-server of this run has ended', {
    path: storeFolder(dir),
    hint: 'Its last words are in nats-server.out there. What it has acknowledged is in its store: oplus replay reads it.',
  });
}

/** One for each stage: whoever waits for it is forgotten with it. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

const BLOBS_FILE = 'blobs.sqlite';
