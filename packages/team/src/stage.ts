/**
 * A stage: the log, bus and blobs that a team stands on, opened together and closed together.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs, Bus, Clock, Durability, Log } from '@oplus/protocol';
import { memoryBlobs, memoryBus, memoryLog, systemClock } from '@oplus/transport-memory';
import { connectNats, natsBlobs, natsBus, natsLog, startNatsServer } from '@oplus/transport-nats';
import type { BrokerConnection, NatsServer } from '@oplus/transport-nats';
import { sqliteBlobs, sqliteLog } from '@oplus/transport-sqlite';

/** Where a team's log lives. `dir` must exist for `sqlite`; `nats` without `url` starts a server whose store is in `dir`. */
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
  close(): Promise<void>;
};

/** Name of the log file of a stage of kind `sqlite`. */
export const LOG_FILE = 'log.sqlite';

/** Opens a stage. Throws what its adapters throw: `LOG_LOCKED`, `LOG_DAMAGED`, `BROKER_MISSING`, `BROKER_UNREACHABLE` ... */
export async function openStage(options: StageOptions): Promise<Stage> {
  switch (options.kind) {
    case 'memory':
      return openMemory();
    case 'sqlite':
      return openSqlite(options.dir);
    case 'nats':
      return openNats(options);
  }
}

/** Closes in order, all of them, and throws the first error at the end. */
async function closeAll(closings: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closings) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

async function openMemory(): Promise<Stage> {
  const log = memoryLog();
  const bus = memoryBus();
  const blobs = memoryBlobs();
  return {
    kind: 'memory',
    log,
    coordinatorBus: bus,
    workerBus: bus,
    blobs,
    clock: systemClock(),
    durability: log.durability,
    summary: 'memory: nothing survives the end of this process',
    close: () => closeAll([() => bus.close(), () => log.close(), () => blobs.close()]),
  };
}

async function openSqlite(dir: string): Promise<Stage> {
  await mkdir(dir, { recursive: true });
  const log = await sqliteLog(join(dir, LOG_FILE));
  const bus = memoryBus();
  const blobs = await sqliteBlobs(join(dir, 'blobs.sqlite'));
  const { sqliteVersion, journalMode } = log.settings();
  return {
    kind: 'sqlite',
    log,
    coordinatorBus: bus,
    workerBus: bus,
    blobs,
    clock: systemClock(),
    durability: log.durability,
    summary: `SQLite ${sqliteVersion}, ${journalMode} and synchronous=FULL: survives a power cut`,
    close: () => closeAll([() => bus.close(), () => log.close(), () => blobs.close()]),
  };
}

async function openNats(options: Extract<StageOptions, { kind: 'nats' }>): Promise<Stage> {
  const server = options.url === undefined ? await startNatsServer({ dir: join(options.dir, 'nats') }) : undefined;
  const closings: (() => Promise<void>)[] = server === undefined ? [] : [() => server.stop()];
  try {
    const connect = async (name: string): Promise<BrokerConnection> => {
      const connection = await connectNats({
        url: options.url ?? (server as NatsServer).url,
        name,
        ...(server === undefined ? {} : { auth: server.auth }),
      });
      closings.unshift(() => connection.close());
      return connection;
    };
    const forCoordinator = await connect('oplus coordinator');
    const forWorkers = await connect('oplus workers');
    const { namespace } = options;
    const log = await natsLog(forCoordinator, { namespace, shard: 'main', ...(server === undefined ? {} : { durability: server.durability }) });
    closings.unshift(() => log.close());
    const blobs = await natsBlobs(forWorkers, { namespace });
    closings.unshift(() => blobs.close());
    const coordinatorBus = natsBus(forCoordinator, { namespace });
    const workerBus = natsBus(forWorkers, { namespace });
    closings.unshift(
      () => workerBus.close(),
      () => coordinatorBus.close(),
    );
    return {
      kind: 'nats',
      log,
      coordinatorBus,
      workerBus,
      blobs,
      clock: systemClock(),
      durability: log.durability,
      summary: `NATS ${forCoordinator.version()} at ${forCoordinator.address}: ${log.durability === 'power' ? 'survives a power cut' : 'survives kill -9 of everything, not a power cut'}`,
      close: () => closeAll(closings),
    };
  } catch (error) {
    await closeAll(closings).catch(() => undefined);
    throw error;
  }
}
