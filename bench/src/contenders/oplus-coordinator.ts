/**
 * The coordinator of `oplus-nats`, in a process of its own: it waits for its order, leads until its parent lets go of it, and
 * tells how many bytes its sockets have moved.
 */
import { openCoordinator } from '@oplus/coordinator';
import { loadState } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { systemClock } from '@oplus/transport-memory';
import { connectNats, natsBus, natsLog } from '@oplus/transport-nats';
import type { NatsAuth } from '@oplus/transport-nats';

import { createWireMeter } from '../instruments.ts';
import { boardDefinition } from './oplus-board.ts';
import { CHANNEL, SHARD, SPACE } from './oplus-names.ts';

/** What the parent sends once. */
export type CoordinatorOrder = { readonly url: string; readonly auth: NatsAuth; readonly namespace: string };

/** What the parent hears, every `WORD_MS` once it is ready. */
export type CoordinatorWord = { readonly isReady: boolean; readonly bytes: number };

const WORD_MS = 50;

process.once('message', (order: CoordinatorOrder) => void lead(order));
process.once('disconnect', () => process.exit(0));

async function lead({ url, auth, namespace }: CoordinatorOrder): Promise<void> {
  const wire = createWireMeter();
  const connection = await connectNats({ url, auth, name: 'coordinator' });
  const log = await natsLog(connection, { namespace, shard: SHARD });
  await openCoordinator({
    log,
    bus: natsBus(connection, { namespace }),
    clock: systemClock(),
    channel: CHANNEL,
    schemas: new Map([[SPACE, loadState(boardDefinition, sha256)]]),
  });
  // With a callback, a parent that is gone is no error here: `disconnect` ends this process.
  const tell = (): void =>
    void process.send?.({ isReady: true, bytes: wire.bytes() } satisfies CoordinatorWord, undefined, undefined, () => undefined);
  setInterval(tell, WORD_MS);
  tell();
}
