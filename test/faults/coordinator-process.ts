/**
 * A coordinator in a process of its own, to be killed, or to kill itself. Its arguments are JSON, a `Stand` and a `Death` or null. Says `ready`
 * when its code is loaded, waits for a line, then says `leading <term>`, and at last `ended <code>`.
 */
import { flushCompileCache } from 'node:module';
import { createInterface } from 'node:readline';
import { openCoordinator } from '@oplus/coordinator';
import type { Bus, Log } from '@oplus/protocol';
import { systemClock } from '@oplus/transport-memory';
import { connectNats, natsBus, natsLog } from '@oplus/transport-nats';
import { socketBus } from '@oplus/transport-socket';
import { sqliteLog } from '@oplus/transport-sqlite';
import { OplusError } from '@oplus/core';
import { CHANNEL, NAMESPACE, SCHEMA, SPACE } from './crew.ts';
import type { Death, Stand } from './crew.ts';

const [stand, death] = process.argv.slice(2).map((text) => JSON.parse(text) as unknown) as [Stand, Death | null];
const input = createInterface({ input: process.stdin });
// Whoever started us is gone: nobody is left to kill us.
input.once('close', () => process.exit(0));
// Whoever is killed writes nothing at its end.
flushCompileCache();
say('ready');
await new Promise((resolve) => input.once('line', resolve));
try {
  const { log, bus } = await open();
  const coordinator = await openCoordinator({
    log: mortal(log),
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

/** The log, at one append of which this process dies. */
function mortal(log: Log): Log {
  let appendCount = 0;
  return {
    ...log,
    async append(tail, body) {
      appendCount += 1;
      const isLast = appendCount === death?.append;
      if (isLast && death.at === 'before') process.kill(process.pid, 'SIGKILL');
      const outcome = await log.append(tail, body);
      if (isLast) process.kill(process.pid, 'SIGKILL');
      return outcome;
    },
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
