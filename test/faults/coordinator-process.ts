/**
 * A coordinator in a process of its own, to be killed. Its one argument is JSON, a `Stand`. Says `ready` when its code is loaded, waits for a
 * line, then says `leading <term>`, and at last `ended <code>`.
 */
import { createInterface } from 'node:readline';
import { openCoordinator } from '@oplus/coordinator';
import type { Bus, Log } from '@oplus/protocol';
import { systemClock } from '@oplus/transport-memory';
import { connectNats, natsBus, natsLog } from '@oplus/transport-nats';
import { socketBus } from '@oplus/transport-socket';
import { sqliteLog } from '@oplus/transport-sqlite';
import { OplusError } from '@oplus/core';
import { CHANNEL, NAMESPACE, SCHEMA, SPACE } from './crew.ts';
import type { Stand } from './crew.ts';

const stand = JSON.parse(process.argv[2] ?? '') as Stand;
const input = createInterface({ input: process.stdin });
// Whoever started us is gone: nobody is left to kill us.
input.once('close', () => process.exit(0));
say('ready');
await new Promise((resolve) => input.once('line', resolve));
try {
  const { log, bus } = await open();
  const coordinator = await openCoordinator({
    log,
    bus,
    clock: systemClock(),
    channel: CHANNEL,
    schemas: new Map([[SPACE, SCHEMA]]),
  });
  say(`leading ${coordinator.term}`);
  say(`ended ${(await coordinator.ended)?.code ?? ''}`);
} catch (error) {
  say(`ended ${error instanceof OplusError ? error.code : String(error)}`);
}
process.exit(0);

async function open(): Promise<{ readonly log: Log; readonly bus: Bus }> {
  if (stand.kind === 'sqlite') return { log: await sqliteLog(stand.file), bus: socketBus(stand.socket) };
  const connection = await connectNats({
    url: stand.url,
    auth: { kind: 'password', user: stand.user, password: stand.password },
    name: 'coordinator',
  });
  return {
    log: await natsLog(connection, { namespace: NAMESPACE, shard: 'main' }),
    bus: natsBus(connection, { namespace: NAMESPACE }),
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
