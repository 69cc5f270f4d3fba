/**
 * Where the broker of a run is: one that was given, or a server of our own on the store in the run's folder.
 */
import { join } from 'node:path';
import type { LogReader } from '@oplus/protocol';
import { connectNats, natsLogReader, startNatsServer } from '@oplus/transport-nats';
import type { ConnectOptions, NatsServer } from '@oplus/transport-nats';
import { closings, kept } from './closings.ts';
import type { Closings } from './closings.ts';

/** How to connect; of a server of our own also the durability that was read back from it, and when it ends. */
export type Broker = Pick<ConnectOptions, 'url' | 'auth'> & Partial<Pick<NatsServer, 'durability' | 'ended'>>;

/** Name of the channel and of the shard that a team of one process uses. */
export const CHANNEL = 'main';

/** The store of the server that is started for the run in `dir`. */
export function storeFolder(dir: string): string {
  return join(dir, 'nats');
}

/** The broker at `url`, or a server that is started for the run in `dir` and stopped by `opened`. Throws what `startNatsServer` throws. */
export async function brokerOf(given: { readonly dir: string; readonly url?: string }, opened: Closings): Promise<Broker> {
  if (given.url !== undefined) return { url: given.url };
  const server = await startNatsServer({ dir: storeFolder(given.dir) });
  opened.add(() => server.stop());
  return server;
}

/** Opens the log of a run for reading, on its broker. Throws what broker and log throw. */
export async function openBrokerLog(given: {
  readonly dir: string;
  readonly url?: string;
  readonly namespace: string;
}): Promise<LogReader> {
  const opened = closings();
  try {
    const { url, auth } = await brokerOf(given, opened);
    const connection = kept(await connectNats({ url, name: 'oplus reader', ...(auth === undefined ? {} : { auth }) }), opened);
    const log = kept(await natsLogReader(connection, { namespace: given.namespace, shard: CHANNEL }), opened);
    return { tail: log.tail, read: log.read, close: opened.close };
  } catch (error) {
    await opened.close().catch(() => undefined); // The first error is the one that matters.
    throw error;
  }
}
