import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Log, LogReader } from '@oplus/protocol';
import { connectNats } from './connection.ts';
import { natsLog } from './log.ts';
import { startNatsServer } from './server.ts';
import type { NatsServer } from './server.ts';
import type { NatsServerBinary } from './server-binary.ts';
import { openProxy } from './testing/proxy.ts';
import { connectTo, freshNamespace, serversUnderTest, startAgain, until, withServer } from './testing/servers.ts';

const SMALL = 16_777_216;
const KILLS = 5;
const APPENDS_BETWEEN_KILLS = 40;

for (const binary of await serversUnderTest()) {
  describe(`nats-server ${binary.version}`, () => {
    test('[NLG4] when the acknowledgement does not arrive the outcome is unknown, and reading tells that the record is there', () =>
      withServer(binary, async (server) => {
        const { log, witness, proxy, end } = await throughProxy(server);
        await append(log, 0, ['a']);
        proxy.hold('down');
        expect(await log.append(1, 'b')).toMatchObject({ kind: 'unknown', why: expect.any(String) });
        expect(await bodiesOf(witness)).toEqual(['a', 'b']);
        proxy.release('down');
        expect(await log.tail()).toBe(2);
        expect(await log.append(2, 'c')).toEqual({ kind: 'appended', index: 3 });
        expect(await bodiesOf(log)).toEqual(['a', 'b', 'c']);
        await end();
      }));

    test('[NLG4] an append of unknown outcome that arrives late finds its place taken, and is stored once or never', () =>
      withServer(binary, async (server) => {
        const { log, witness, proxy, end } = await throughProxy(server);
        await append(log, 0, ['a']);
        proxy.hold('up');
        expect(await log.append(1, 'late')).toMatchObject({ kind: 'unknown' });
        expect(await witness.tail()).toBe(1);
        expect(await witness.append(1, 'b')).toEqual({ kind: 'appended', index: 2 });
        proxy.release('up');
        expect(await log.append(1, 'again')).toEqual({ kind: 'conflict', tail: 2 });
        expect(await bodiesOf(log)).toEqual(['a', 'b']);
        await end();
      }));

    test('[NLG4] an append of unknown outcome whose place is free when it arrives is stored, once', () =>
      withServer(binary, async (server) => {
        const { log, witness, proxy, end } = await throughProxy(server);
        proxy.hold('up');
        expect(await log.append(0, 'late')).toMatchObject({ kind: 'unknown' });
        proxy.sever(true);
        await until(async () => (await witness.tail()) === 1, 'the late record');
        proxy.release('up');
        // Waits for the next link.
        expect(await log.tail()).toBe(1);
        expect(await log.append(0, 'again')).toEqual({ kind: 'conflict', tail: 1 });
        expect(await bodiesOf(log)).toEqual(['late']);
        await end();
      }));

    test('[NLG4] when the link breaks the outcome is unknown at once, and without a link nothing is sent', () =>
      withServer(binary, async (server) => {
        const { log, witness, proxy, end, connection } = await throughProxy(server, 600_000);
        proxy.hold('up');
        const lost = log.append(0, 'lost');
        proxy.sever(false);
        expect(await lost).toMatchObject({ kind: 'unknown' });
        await until(() => !connection.isUp(), 'the break to be noticed');
        const sentCount = connection.client.stats().outMsgs;
        expect(await log.append(0, 'never sent')).toMatchObject({ kind: 'unknown' });
        expect(connection.client.stats().outMsgs).toBe(sentCount);
        proxy.release('up');
        expect(await log.tail()).toBe(0);
        expect(await log.append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
        expect(await bodiesOf(witness)).toEqual(['a']);
        await end();
      }));

    test('[NLG5] [NLG4] the server is killed again and again during appends: what was acknowledged stays, in order, once; the rest is settled by reading', () =>
      withStore(async (dir) => {
        let server = await startNatsServer({ dir, binary: binary.path });
        const connection = await connectTo(server);
        const log = await natsLog(connection, { namespace: freshNamespace(), shard: 'one', bytesMax: SMALL, appendMsMax: 1_000 });
        const bodies: string[] = [];
        let unknownCount = 0;
        const appendNext = async (): Promise<void> => {
          const body = `record ${bodies.length + 1}`;
          for (;;) {
            const outcome = await log.append(bodies.length, body);
            if (outcome.kind === 'appended') break;
            // As a coordinator must: never resend before the tail was read and compared.
            unknownCount += 1;
            expect(outcome.kind).toBe('unknown');
            if ((await log.tail()) === bodies.length) continue;
            expect(await bodiesOf(log, bodies.length + 1)).toEqual([body]);
            break;
          }
          bodies.push(body);
        };
        for (let kill = 0; kill < KILLS; kill += 1) {
          const before = unknownCount;
          const restarting = killedAndStarted(server, binary, 3 + 4 * kill);
          while (unknownCount === before) await appendNext();
          server = await restarting;
          for (let n = 0; n < APPENDS_BETWEEN_KILLS; n += 1) await appendNext();
        }
        expect(await bodiesOf(log)).toEqual(bodies);
        expect(unknownCount).toBeGreaterThanOrEqual(KILLS);
        await connection.close();
        await server.stop();
      }));

    test('[NLG5] a restart of the server keeps log and index, for a log that stays open and for a new one', () =>
      withStore(async (dir) => {
        const server = await startNatsServer({ dir, binary: binary.path });
        const at = { namespace: freshNamespace(), shard: 'one', bytesMax: SMALL };
        const connection = await connectTo(server);
        const log = await natsLog(connection, at);
        await append(log, 0, ['a', 'b']);
        await server.stop();
        const again = await startAgain(server, binary);
        expect(await log.tail()).toBe(2);
        expect(await log.append(2, 'c')).toEqual({ kind: 'appended', index: 3 });
        const other = await connectTo(again);
        expect(await bodiesOf(await natsLog(other, at))).toEqual(['a', 'b', 'c']);
        await Promise.all([connection.close(), other.close()]);
        await again.stop();
      }));

    test('[NLG7] [BUG 76] a store that was set back behind what was acknowledged is LOG_DAMAGED', () =>
      withStore(async (dir) => {
        const server = await startNatsServer({ dir, binary: binary.path });
        const connection = await connectTo(server);
        const at = { namespace: freshNamespace(), shard: 'one', bytesMax: SMALL };
        const log = await natsLog(connection, at);
        await append(log, 0, ['a', 'b']);
        await server.stop();
        const copy = `${dir}.copy`;
        await cp(join(server.dir, 'store'), copy, { recursive: true });
        const second = await startAgain(server, binary);
        expect(await log.tail()).toBe(2);
        await append(log, 2, ['c', 'd']);
        await second.stop();
        await rm(join(server.dir, 'store'), { recursive: true });
        await cp(copy, join(server.dir, 'store'), { recursive: true });
        await rm(copy, { recursive: true });
        const third = await startAgain(server, binary);
        await expect(log.tail()).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
        await expect(log.append(4, 'e')).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
        await connection.close();
        await third.stop();
      }));
  });
}

/** A log behind a relay, and a witness with a link of its own. */
/** The time is long enough for an append on a busy machine, which must not become `unknown`. */
async function throughProxy(server: NatsServer, appendMsMax = 1_500) {
  const proxy = await openProxy(server.url);
  const at = { namespace: freshNamespace(), shard: 'one', bytesMax: SMALL };
  const connection = await connectNats({ url: proxy.url, auth: server.auth, name: 'relayed' });
  const direct = await connectTo(server);
  const log = await natsLog(connection, { ...at, appendMsMax });
  const witness = await natsLog(direct, at);
  return {
    log,
    witness,
    proxy,
    connection,
    async end() {
      await Promise.all([connection.close(), direct.close()]);
      await proxy.close();
    },
  };
}

async function withStore(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-log-faults-'));
  try {
    await body(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Kills the server a little later, while appends are under way, and starts it again. */
async function killedAndStarted(server: NatsServer, binary: NatsServerBinary, delayMs: number): Promise<NatsServer> {
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  process.kill(server.pid, 'SIGKILL');
  await server.ended;
  return startAgain(server, binary);
}

async function append(log: Log, tail: number, bodies: readonly string[]): Promise<void> {
  for (const [k, body] of bodies.entries())
    expect(await log.append(tail + k, body)).toEqual({ kind: 'appended', index: tail + k + 1 });
}

async function bodiesOf(log: LogReader, from = 1): Promise<string[]> {
  const bodies: string[] = [];
  for await (const { body } of log.read(from)) bodies.push(body);
  return bodies;
}
