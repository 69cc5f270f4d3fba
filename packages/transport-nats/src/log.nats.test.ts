import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamManager, StreamConfig } from '@nats-io/jetstream';
import type { AppendOutcome, Log, LogReader } from '@oplus/protocol';
import { expectCode } from '@oplus/protocol/testing';
import { natsBlobs } from './blobs.ts';
import { connectNats } from './connection.ts';
import type { BrokerConnection } from './connection.ts';
import { natsLog, natsLogReader } from './log.ts';
import { logStream } from './subjects.ts';
import { connectTo, freshNamespace, serversUnderTest, withBareServer, withServer } from './testing/servers.ts';
import { SYNC_INTERVAL_SINCE, isAtLeast } from './version.ts';

const SMALL = 16_777_216;

for (const binary of await serversUnderTest()) {
  describe(`nats-server ${binary.version}`, () => {
    const withLog = (body: (scene: Scene) => Promise<void>) => () =>
      withServer(binary, async (server) => {
        const opened: BrokerConnection[] = [];
        const connect = async () => {
          const connection = await connectTo(server);
          opened.push(connection);
          return connection;
        };
        const at = { namespace: freshNamespace(), shard: 'one' };
        const manager = await jetstreamManager((await connect()).client, { checkAPI: false });
        await body({
          connect,
          manager,
          at,
          stream: logStream(at.namespace, at.shard),
          open: async (options = {}) => natsLog(await connect(), { ...at, bytesMax: SMALL, ...options }),
        });
        await Promise.all(opened.map((connection) => connection.close()));
      });

    test(
      '[NLG1] the stream is a file, refuses rather than forgets, has one limit, and lets nobody delete a record',
      withLog(async ({ open, manager, stream }) => {
        await open();
        const { config } = await manager.streams.info(stream);
        expect(config).toMatchObject({
          storage: 'file',
          retention: 'limits',
          discard: 'new',
          deny_delete: true,
          max_bytes: SMALL,
          max_msgs: -1,
          max_age: 0,
          num_replicas: 1,
          max_msgs_per_subject: -1,
          duplicate_window: 2_000_000_000,
        });
      }),
    );

    test(
      '[NLG2] a stream of that name with other settings is refused by their names, and left as it is',
      withLog(async ({ open, manager, stream, at }) => {
        const foreign: readonly [Partial<StreamConfig>, string][] = [
          [{ discard: 'old' as never }, 'discard'],
          [{ deny_delete: false }, 'deny_delete'],
          [{ max_msgs: 5 }, 'max_msgs'],
          [{ storage: 'memory' as never }, 'storage'],
          [{ subjects: [`${at.namespace}.LOG.${at.shard}.12`, 'elsewhere'] }, 'subjects'],
          [{ subjects: ['elsewhere'] }, 'subjects'],
          [{ allow_rollup_hdrs: true }, 'allow_rollup_hdrs'],
        ];
        for (const [setting, name] of foreign) {
          const sound = { ...(await soundConfig(open, manager, stream)), ...setting };
          await manager.streams.add(sound as StreamConfig & { name: string });
          const before = JSON.stringify((await manager.streams.info(stream)).config);
          await expect(open()).rejects.toMatchObject({
            code: 'BROKER_REFUSED',
            message: expect.stringContaining(name),
            path: stream,
          });
          expect(JSON.stringify((await manager.streams.info(stream)).config)).toBe(before);
          await manager.streams.delete(stream);
        }
      }),
    );

    test(
      '[NLG2] of many that open a new log at once all get the same one',
      withLog(async ({ open }) => {
        const logs = await Promise.all(Array.from({ length: 8 }, () => open()));
        expect(await logs[0]?.append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
        expect(await Promise.all(logs.map((log) => bodiesOf(log)))).toEqual(logs.map(() => ['a']));
      }),
    );

    test(
      '[NLG3] two writers that race for 200 records have one winner each, and both know who',
      withLog(async ({ open }) => {
        const logs = [await open(), await open()] as const;
        const winners: string[] = [];
        for (let tail = 0; tail < 200; tail += 1) {
          const outcomes = await Promise.all(logs.map((log, k) => log.append(tail, `${tail} by ${k}`)));
          expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['appended', 'conflict']);
          winners.push(`${tail} by ${outcomes.findIndex(({ kind }) => kind === 'appended')}`);
        }
        expect(await bodiesOf(logs[0])).toEqual(winners);
      }),
    );

    test(
      '[NLG3] a writer that slept while the log moved on gets a conflict for each of its old records',
      withLog(async ({ open }) => {
        const sleeper = await open();
        const awake = await open();
        await append(sleeper, 0, ['a', 'b']);
        await append(awake, 2, ['c', 'd', 'e']);
        for (const tail of [2, 3, 4, 0]) expect(await sleeper.append(tail, 'zombie')).toEqual({ kind: 'conflict', tail: 5 });
        expect(await bodiesOf(awake)).toEqual(['a', 'b', 'c', 'd', 'e']);
        expect(await sleeper.append(5, 'f')).toEqual({ kind: 'appended', index: 6 });
      }),
    );

    test(
      '[NLG6] at the limit of the stream an append is LOG_FULL, stores nothing, and the log stays readable',
      withLog(async ({ open }) => {
        const log = await open({ bytesMax: 20_000 });
        const body = 'x'.repeat(3_000);
        let tail = 0;
        let thrown: unknown;
        while (thrown === undefined && tail < 100) {
          const outcome = await log.append(tail, body).catch((error: unknown) => error);
          if ((outcome as AppendOutcome).kind === 'appended') tail += 1;
          else thrown = outcome;
        }
        expect(thrown).toMatchObject({ code: 'LOG_FULL', hint: expect.any(String) });
        expect(tail).toBeGreaterThan(3);
        expect(await log.tail()).toBe(tail);
        expect(await bodiesOf(log)).toEqual(Array.from({ length: tail }, () => body));
        await expectCode('LOG_FULL', () => log.append(tail, body));
        expect(await log.append(tail - 1, 'x')).toEqual({ kind: 'conflict', tail });
      }),
    );

    test(
      '[NLG6] a log that asks for more than the server may store is LOG_FULL at opening',
      withLog(async ({ open }) => {
        await expectCode('LOG_FULL', () => open({ bytesMax: 2 ** 50 }));
      }),
    );

    test(
      '[NLG7] records that are missing are LOG_DAMAGED, for those who have the log open and for those who open it',
      withLog(async ({ open, manager, stream }) => {
        const log = await open();
        await append(log, 0, ['a', 'b', 'c', 'd']);
        await manager.streams.purge(stream, { seq: 3 });
        for (const call of [() => log.tail(), () => bodiesOf(log), () => open(), () => log.append(0, 'x')]) {
          await expect(call()).rejects.toMatchObject({ code: 'LOG_DAMAGED', path: stream, hint: expect.any(String) });
        }
        await manager.streams.purge(stream);
        await expectCode('LOG_DAMAGED', () => open());
      }),
    );

    test(
      '[NLG7] a deleted stream is LOG_DAMAGED, and an append stores nothing',
      withLog(async ({ open, manager, stream }) => {
        const log = await open();
        await append(log, 0, ['a']);
        await manager.streams.delete(stream);
        await expectCode('LOG_DAMAGED', () => log.append(1, 'b'));
        await expectCode('LOG_DAMAGED', () => log.tail());
        await expectCode('LOG_DAMAGED', () => bodiesOf(log));
      }),
    );

    test(
      '[NLG7] a stream made anew, as long as the old one, takes no record from a writer of the old one',
      withLog(async ({ open, manager, stream }) => {
        const zombie = await open();
        await append(zombie, 0, ['a', 'b']);
        await manager.streams.delete(stream);
        const log = await open();
        await append(log, 0, ['A', 'B']);
        await expectCode('LOG_DAMAGED', () => zombie.append(2, 'c'));
        await expectCode('LOG_DAMAGED', () => zombie.tail());
        await expectCode('LOG_DAMAGED', () => bodiesOf(zombie));
        expect(await bodiesOf(log)).toEqual(['A', 'B']);
      }),
    );

    test(
      '[NLG7] a body that is no UTF-8 is LOG_DAMAGED, never repaired',
      withLog(async ({ open, connect, manager, stream }) => {
        const log = await open();
        await append(log, 0, ['a']);
        const subject = (await manager.streams.info(stream)).config.subjects[0] as string;
        await (await connect()).client.request(subject, new Uint8Array([0x61, 0xff]));
        await expectCode('LOG_DAMAGED', () => bodiesOf(log));
      }),
    );

    test(
      '[NLG8] only a server that can write through gives durability power',
      withLog(async ({ open }) => {
        if (isAtLeast(binary.version, SYNC_INTERVAL_SINCE))
          expect((await open({ durability: 'power' })).durability).toBe('power');
        else await expectCode('BROKER_REFUSED', () => open({ durability: 'power' }));
        expect((await open()).durability).toBe('process');
      }),
    );

    test(
      '[NLG9] a second append before the first is answered is refused, and the first goes on',
      withLog(async ({ open }) => {
        const log = await open();
        const first = log.append(0, 'a');
        await expectCode('USAGE', () => log.append(0, 'b'));
        expect(await first).toEqual({ kind: 'appended', index: 1 });
        expect(await log.append(1, 'c')).toEqual({ kind: 'appended', index: 2 });
        expect(await bodiesOf(log)).toEqual(['a', 'c']);
      }),
    );

    test(
      '[NLG10] a reader follows a log, and is told when there is none',
      withLog(async ({ open, connect, at }) => {
        await expectCode('USAGE', async () => natsLogReader(await connect(), at));
        const log = await open();
        const reader = await natsLogReader(await connect(), at);
        await append(log, 0, ['a', 'b']);
        expect(await bodiesOf(reader)).toEqual(['a', 'b']);
        expect('append' in reader).toBe(false);
      }),
    );

    test('[NLG11] a broker without JetStream, or for small messages only, is refused with a hint', async () => {
      for (const [config, word] of [
        [{}, 'jetstream'],
        [{ jetstream: {}, max_payload: 500_000 }, 'max_payload'],
      ] as const) {
        const dir = await mkdtemp(join(tmpdir(), 'oplus-log-test-'));
        const filled = 'jetstream' in config ? { ...config, jetstream: { store_dir: dir } } : config;
        await withBareServer(binary, filled, async (url) => {
          const connection = await connectNats({ url, name: 'oplus test' });
          const refusal = { code: 'BROKER_REFUSED', hint: expect.stringContaining(word) };
          await expect(natsLog(connection, { namespace: 'ns', shard: '0' })).rejects.toMatchObject(refusal);
          await expect(natsBlobs(connection, { namespace: 'ns' })).rejects.toMatchObject(refusal);
          await connection.close();
        });
        await rm(dir, { recursive: true, force: true });
      }
    });

    test(
      '[NLG12] a long log is read whole and in order, in small and in large records',
      withLog(async ({ open }) => {
        const log = await open();
        const bodies = Array.from({ length: 700 }, (_, k) => `${k} ${'x'.repeat(k % 97 === 0 ? 100_000 : k)}`);
        await append(log, 0, bodies);
        expect((await bodiesOf(log)).every((body, k) => body === bodies[k])).toBe(true);
        expect((await bodiesOf(log, 650)).length).toBe(51);
      }),
    );

    test(
      '[NLG13] names that are no token are USAGE',
      withLog(async ({ connect }) => {
        const connection = await connect();
        for (const bad of ['', 'a.b', '*', '>', 'A', 'a b', 'é', 'x'.repeat(65)]) {
          await expectCode('USAGE', () => natsLog(connection, { namespace: bad, shard: 'one' }));
          await expectCode('USAGE', () => natsLog(connection, { namespace: 'fine', shard: bad }));
        }
      }),
    );
  });
}

type Scene = {
  readonly manager: JetStreamManager;
  readonly at: { readonly namespace: string; readonly shard: string };
  readonly stream: string;
  connect(): Promise<BrokerConnection>;
  open(options?: Partial<Parameters<typeof natsLog>[1]>): Promise<Log>;
};

/** The configuration of a stream of ours, which is gone again afterwards. */
async function soundConfig(open: Scene['open'], manager: JetStreamManager, stream: string): Promise<StreamConfig> {
  await open();
  const { config } = await manager.streams.info(stream);
  await manager.streams.delete(stream);
  return config;
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
