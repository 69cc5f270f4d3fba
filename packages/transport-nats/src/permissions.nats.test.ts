import { describe, expect, test } from 'vitest';
import { expectCode } from '@oplus/protocol/testing';
import { natsBlobs } from './blobs.ts';
import { natsBus } from './bus.ts';
import { connectNats } from './connection.ts';
import type { BrokerConnection } from './connection.ts';
import { natsLog, natsLogReader } from './log.ts';
import { COORDINATOR_INBOX, coordinatorPermissions, workerInbox, workerPermissions } from './permissions.ts';
import type { NatsServer } from './server.ts';
import { connectTo, serversUnderTest, until, withServer } from './testing/servers.ts';

const scope = { namespace: 'ns', channel: 'c' };
const shard = '0';
const SMALL = 16_777_216;
const users = [
  { user: 'coordinator', password: 'pw', permissions: coordinatorPermissions({ ...scope, shard }) },
  { user: 'alice', password: 'pw', permissions: workerPermissions({ ...scope, agent: 'alice' }) },
  { user: 'bob', password: 'pw', permissions: workerPermissions({ ...scope, agent: 'bob', readableShard: shard }) },
];

for (const binary of await serversUnderTest()) {
  describe(`nats-server ${binary.version}`, () => {
    const withTeam = (body: (scene: Scene) => Promise<void>) => () =>
      withServer(
        binary,
        async (server) => {
          const connections = {
            coordinator: await as(server, 'coordinator', COORDINATOR_INBOX),
            alice: await as(server, 'alice', workerInbox('alice')),
            bob: await as(server, 'bob', workerInbox('bob')),
            owner: await connectTo(server),
          };
          await body({ server, ...connections });
          await Promise.all(Object.values(connections).map((connection) => connection.close()));
        },
        { users },
      );

    test(
      '[NPM2] coordinator and workers do their work with these permissions, and are refused nothing',
      withTeam(async ({ coordinator, alice, bob }) => {
        const log = await natsLog(coordinator, { ...scope, shard, bytesMax: SMALL });
        const digest = await (await natsBlobs(coordinator, { ...scope, bytesMax: SMALL })).put(Buffer.from('snapshot'));
        const heard: string[] = [];
        const server = await natsBus(coordinator, scope).serve('c', (from, body) => {
          server.send(from, `re: ${body}`);
          server.announce(`${from} said ${body}`);
        });
        const ends = await Promise.all(
          [alice, bob].map(async (connection, k) => {
            const bus = natsBus(connection, scope);
            await bus.listen('c', (body) => heard.push(body));
            return bus.attach('c', k === 0 ? 'alice' : 'bob', (body) => heard.push(body));
          }),
        );
        for (const end of ends) end.send('hi');
        await until(() => heard.length === 6, 'two answers and four announcements');
        expect(heard.sort()).toEqual(['alice said hi', 'alice said hi', 'bob said hi', 'bob said hi', 're: hi', 're: hi']);
        expect(await log.append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
        const reader = await natsLogReader(bob, { ...scope, shard });
        for await (const record of reader.read(1)) expect(record).toEqual({ index: 1, body: 'a' });
        expect(await reader.tail()).toBe(1);
        expect(Buffer.from((await (await natsBlobs(bob, { ...scope, mayCreate: false })).get(digest)) ?? []).toString()).toBe(
          'snapshot',
        );
        expect([coordinator, alice, bob].map((connection) => connection.refusals())).toEqual([0, 0, 0]);
      }),
    );

    test(
      '[NPM3] a worker cannot forge: no announcement, no answer, no message of another, no record',
      withTeam(async ({ coordinator, alice, owner }) => {
        const log = await natsLog(coordinator, { ...scope, shard, bytesMax: SMALL });
        const subject = `ns.LOG.${shard}.*`;
        const leaked: string[] = [];
        owner.client.subscribe('ns.>', { callback: (_, msg) => void leaked.push(msg.subject) });
        await owner.client.flush();
        const birth = (await owner.client.request('$JS.API.STREAM.INFO.ns_LOG_0')).json<{ config: { subjects: string[] } }>()
          .config.subjects[0] as string;
        expect(birth).toMatch(new RegExp(`^${subject.replace('*', '[0-9a-f]+')}$`));
        const forged = [
          'ns.c.log',
          'ns.c.down.bob',
          'ns.c.down.alice',
          'ns.c.up.bob',
          birth,
          'ns.BLOB.x',
          'ns.other.up.alice',
          '_INBOX_bob.x',
        ];
        for (const target of forged) alice.client.publish(target, 'forged');
        await alice.client.flush();
        await until(() => alice.refusals() === forged.length, 'every refusal');
        alice.client.publish('ns.c.up.alice', 'allowed');
        await until(() => leaked.length > 0, 'the allowed message');
        expect(leaked).toEqual(['ns.c.up.alice']);
        expect(await log.tail()).toBe(0);
      }),
    );

    test(
      '[NPM4] [BI-075] a worker cannot spy, with a plain or a queue subscription',
      withTeam(async ({ alice, owner }) => {
        const heard: string[] = [];
        const targets = [
          'ns.c.up.*',
          'ns.c.up.>',
          'ns.c.up.bob',
          'ns.c.down.bob',
          'ns.c.down.*',
          'ns.>',
          '>',
          '*.*.*',
          'ns.LOG.>',
          '_INBOX.>',
          '_INBOX_bob.>',
          '$JS.>',
        ];
        let refusedCount = 0;
        for (const subject of targets) {
          for (const queue of [undefined, 'q']) {
            alice.client.subscribe(subject, {
              ...(queue === undefined ? {} : { queue }),
              callback: (error, msg) => {
                if (error === null) heard.push(msg.subject);
                else refusedCount += 1;
              },
            });
          }
        }
        await until(() => refusedCount === 2 * targets.length, 'every refusal');
        for (const subject of ['ns.c.up.bob', 'ns.c.down.bob', 'ns.LOG.0.1', '_INBOX_bob.x'])
          owner.client.publish(subject, 'secret');
        await owner.client.flush();
        await alice.client.flush();
        expect(heard).toEqual([]);
        await expectCode('BROKER_REFUSED', () => natsBus(alice, scope).attach('c', 'bob', () => undefined));
        await expectCode('BROKER_REFUSED', () => natsBus(alice, scope).serve('c', () => undefined));
      }),
    );

    test(
      '[NPM6] no administration: neither worker nor coordinator purges or deletes, a worker makes no consumer, one without a shard reads nothing',
      withTeam(async ({ coordinator, alice, bob }) => {
        const log = await natsLog(coordinator, { ...scope, shard, bytesMax: SMALL });
        await log.append(0, 'a');
        const admin = [
          'STREAM.PURGE.ns_LOG_0',
          'STREAM.DELETE.ns_LOG_0',
          'STREAM.MSG.DELETE.ns_LOG_0',
          'STREAM.UPDATE.ns_LOG_0',
          'STREAM.SNAPSHOT.ns_LOG_0',
        ];
        const push = JSON.stringify({
          stream_name: 'ns_LOG_0',
          config: { deliver_subject: 'ns.c.down.bob', deliver_policy: 'all', ack_policy: 'none' },
        });
        const reading = ['STREAM.INFO.ns_LOG_0', 'STREAM.MSG.GET.ns_LOG_0', 'DIRECT.GET.ns_LOG_0'];
        const calls: readonly [BrokerConnection, readonly string[], string][] = [
          [coordinator, admin, '{"seq":1}'],
          [bob, [...admin, 'STREAM.CREATE.ns_X', 'STREAM.INFO.ns_OTHER', 'STREAM.NAMES', 'STREAM.LIST'], '{"seq":1}'],
          [bob, ['CONSUMER.CREATE.ns_LOG_0', 'CONSUMER.CREATE.ns_LOG_0.c', 'CONSUMER.DURABLE.CREATE.ns_LOG_0.c'], push],
          [alice, [...admin, ...reading], '{"seq":1}'],
        ];
        for (const [connection, names, body] of calls) {
          for (const name of names) {
            const call = connection.ask(name, () => connection.client.request(`$JS.API.${name}`, body, { timeout: 2_000 }));
            await expect(call).rejects.toMatchObject({ code: 'BROKER_REFUSED', hint: expect.stringContaining(name) });
          }
        }
        await expectCode('BROKER_REFUSED', () => natsLogReader(alice, { ...scope, shard }));
        expect(await log.append(1, 'b')).toEqual({ kind: 'appended', index: 2 });
      }),
    );
  });
}

type Scene = {
  readonly server: NatsServer;
  readonly coordinator: BrokerConnection;
  readonly alice: BrokerConnection;
  readonly bob: BrokerConnection;
  readonly owner: BrokerConnection;
};

function as(server: NatsServer, user: string, inboxPrefix: string): Promise<BrokerConnection> {
  return connectNats({ url: server.url, name: user, auth: { kind: 'password', user, password: 'pw' }, inboxPrefix });
}
