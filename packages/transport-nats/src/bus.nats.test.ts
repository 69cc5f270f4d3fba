import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { headers } from '@nats-io/nats-core';
import type { Bus } from '@oplus/protocol';
import { MESSAGE_BYTES_MAX } from '@oplus/protocol';
import { expectCode } from '@oplus/protocol/testing';
import { natsBus } from './bus.ts';
import type { NatsBus } from './bus.ts';
import type { BrokerConnection } from './connection.ts';
import type { NatsServer } from './server.ts';
import { connectTo, freshNamespace, serversUnderTest, startAgain, until, withServer } from './testing/servers.ts';

for (const binary of await serversUnderTest()) {
  describe(`nats-server ${binary.version}`, () => {
    const withBus = (body: (scene: Scene) => Promise<void>) => () =>
      withServer(binary, async (server) => {
        const namespace = freshNamespace();
        const [near, raw] = [await connectTo(server), await connectTo(server)];
        await body({ server, namespace, near, raw, bus: natsBus(near, { namespace }) });
        await Promise.all([near.close(), raw.close()]);
      });

    test(
      '[NBU1] the sender is the last token of the subject, whatever the body says',
      withBus(async ({ bus, raw, namespace }) => {
        const heard: string[] = [];
        await bus.serve('c', (from, body) => heard.push(`${from}: ${body}`));
        raw.client.publish(`${namespace}.c.up.mallory`, '{"agent":"alice"}');
        await until(() => heard.length > 0, 'the message');
        expect(heard).toEqual(['mallory: {"agent":"alice"}']);
      }),
    );

    test(
      '[NBU2] [BI-072] [BI-073] a message with a reply subject is dropped and counted, and nothing goes to that subject',
      withBus(async ({ bus, raw, namespace }) => {
        const heard: string[] = [];
        const leaked: string[] = [];
        const victims = [`${namespace}.c.log`, `${namespace}.c.down.bob`, '_INBOX_bob.x'];
        for (const victim of victims) raw.client.subscribe(victim, { callback: (_, msg) => void leaked.push(msg.subject) });
        await raw.client.flush();
        const server = await bus.serve('c', (from, body) => {
          heard.push(body);
          server.send(from, `answer to ${body}`);
        });
        const alice: string[] = [];
        await bus.attach('c', 'alice', (body) => alice.push(body));
        for (const victim of victims) raw.client.publish(`${namespace}.c.up.alice`, 'with reply', { reply: victim });
        raw.client.publish(`${namespace}.c.up.alice`, 'without');
        await until(() => alice.length > 0, 'the answer');
        expect([heard, alice, leaked]).toEqual([['without'], ['answer to without'], []]);
        expect(bus.losses()).toMatchObject({ reply: victims.length });
      }),
    );

    test(
      '[NBU3] [BI-076] a message with headers is dropped and counted, a request to trace it among them',
      withBus(async ({ bus, raw, namespace }) => {
        const heard: string[] = [];
        await bus.serve('c', (_, body) => heard.push(body));
        for (const [name, value] of [
          ['Nats-Trace-Dest', `${namespace}.c.elsewhere`],
          ['X-Any', 'thing'],
        ] as const) {
          const carried = headers();
          carried.set(name, value);
          raw.client.publish(`${namespace}.c.up.alice`, 'with headers', { headers: carried });
        }
        raw.client.publish(`${namespace}.c.up.alice`, 'without');
        await until(() => heard.length > 0, 'the plain message');
        expect(heard).toEqual(['without']);
        expect(bus.losses()).toMatchObject({ headers: 2 });
      }),
    );

    test(
      '[NBU4] what is too large, is no UTF-8 or has a sender that is no name is dropped and counted, never repaired',
      withBus(async ({ bus, raw, namespace }) => {
        const heard: string[] = [];
        await bus.serve('c', (from, body) => heard.push(`${from}: ${body}`));
        raw.client.publish(`${namespace}.c.up.alice`, 'x'.repeat(MESSAGE_BYTES_MAX + 1));
        for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x61, 0xe2, 0x82]])
          raw.client.publish(`${namespace}.c.up.alice`, new Uint8Array(bytes));
        for (const name of ['Alice', 'é', 'x'.repeat(65), 'a@b']) raw.client.publish(`${namespace}.c.up.${name}`, 'hello');
        raw.client.publish(`${namespace}.c.up.alice`, 'fine');
        await until(() => heard.length > 0, 'the sound message');
        expect(heard).toEqual(['alice: fine']);
        expect(bus.losses()).toEqual({ reply: 0, headers: 0, name: 4, size: 1, encoding: 4, unsent: 0 });
      }),
    );

    test('[NBU5] after a restart of the broker every end hears again, and what was sent meanwhile is lost and counted', () =>
      withServer(binary, async (first) => {
        const namespace = freshNamespace();
        const connections = [await connectTo(first), await connectTo(first)] as const;
        const [near, far] = connections.map((connection) => natsBus(connection, { namespace })) as [NatsBus, NatsBus];
        const [served, answered, announced]: [string[], string[], string[]] = [[], [], []];
        const server = await near.serve('c', (_, body) => served.push(body));
        const alice = await far.attach('c', 'alice', (body) => answered.push(body));
        await far.listen('c', (body) => announced.push(body));
        process.kill(first.pid, 'SIGKILL');
        await first.ended;
        await until(() => connections.every((connection) => !connection.isUp()), 'both breaks to be noticed');
        alice.send('lost');
        server.send('alice', 'lost');
        server.announce('lost');
        expect([far.losses().unsent, near.losses().unsent]).toEqual([1, 2]);
        const second = await startAgain({ ...first, dir: 'temporary' }, binary);
        await until(() => connections.every((connection) => connection.isUp()), 'both links to be back');
        // A link is up before the broker has read the subscriptions that go out with it; when it answers a ping it has.
        await Promise.all(connections.map((connection) => connection.client.flush()));
        alice.send('up again');
        server.send('alice', 'down again');
        server.announce('news again');
        await until(() => served.length > 0 && answered.length > 0 && announced.length > 0, 'all three messages');
        expect([served, answered, announced]).toEqual([['up again'], ['down again'], ['news again']]);
        await Promise.all(connections.map((connection) => connection.close()));
        await second.stop();
      }));

    test('[NBU5] an end can be opened while the broker is away for a moment', () =>
      withServer(binary, async (first) => {
        const connection = await connectTo(first);
        const bus: Bus = natsBus(connection, { namespace: freshNamespace() });
        await first.stop();
        await until(() => !connection.isUp(), 'the break to be noticed');
        const heard: string[] = [];
        const attaching = bus.attach('c', 'alice', (body) => heard.push(body));
        const second = await startAgain({ ...first, dir: 'temporary' }, binary);
        await attaching;
        const server = await bus.serve('c', () => undefined);
        server.send('alice', 'hello');
        await until(() => heard.length > 0, 'the message');
        await connection.close();
        await second.stop();
      }));

    test(
      '[NBU6] a callback that throws is reported as uncaught, and the connection goes on hearing',
      withBus(async ({ server, namespace }) => {
        const script = join(import.meta.dirname, 'testing', 'throwing-listener.ts');
        const child = spawn(process.execPath, [
          '--conditions=@oplus/source',
          script,
          server.url,
          JSON.stringify(server.auth),
          namespace,
        ]);
        let output = '';
        child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
        await new Promise((resolve) => child.once('exit', resolve));
        expect(output.trim().split('\n').sort()).toEqual(['heard: second', 'uncaught: from the callback']);
      }),
    );

    test(
      '[NBU7] closing the connection closes the bus',
      withBus(async ({ bus, near }) => {
        const server = await bus.serve('c', () => undefined);
        await near.close();
        await expectCode('TRANSPORT_CLOSED', () => bus.attach('c', 'alice', () => undefined));
        server.announce('nobody hears');
        await server.close();
        await bus.close();
      }),
    );
  });
}

type Scene = {
  readonly server: NatsServer;
  readonly namespace: string;
  readonly bus: NatsBus;
  readonly near: BrokerConnection;
  readonly raw: BrokerConnection;
};
