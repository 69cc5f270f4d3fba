import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { expectCode } from '@oplus/protocol/testing';
import { LinkLost } from './broker-error.ts';
import { connectNats } from './connection.ts';
import { openProxy } from './testing/proxy.ts';
import { connectTo, serversUnderTest, startAgain, until, withServer } from './testing/servers.ts';

for (const binary of await serversUnderTest()) {
  describe(`nats-server ${binary.version}`, () => {
    test('[NCN2] refused credentials are BROKER_REFUSED with a hint, at once even with patience', () =>
      withServer(binary, async (server) => {
        const wrong = [
          undefined,
          { kind: 'token', token: 'x' },
          { kind: 'password', user: 'oplus', password: 'x' },
          { kind: 'nkey', seed: 'SUAMLK2ZNL35WSMW37E7UD4VZ7ELPKW7DHC3BWBSD2GCZ7IUQQXZIORRBU' },
        ] as const;
        for (const auth of wrong) {
          await expect(
            connectNats({ url: server.url, name: 'intruder', patienceMs: 60_000, ...(auth === undefined ? {} : { auth }) }),
          ).rejects.toMatchObject({ code: 'BROKER_REFUSED', hint: expect.stringContaining('password') });
        }
      }));

    test('[NCN2] credentials may be in the address', () =>
      withServer(binary, async (server) => {
        if (server.auth.kind !== 'password') throw new Error('a supervised server has a password');
        const url = server.url.replace('nats://', `nats://${server.auth.user}:${server.auth.password}@`);
        const connection = await connectNats({ url, name: 'oplus test' });
        expect(connection.version()).toBe(binary.version);
        expect(url).toContain(connection.address);
        expect(connection.address).not.toContain(server.auth.password);
        await connection.close();
      }));

    test('[NCN3] patience reaches a broker that starts later', () =>
      withServer(binary, async (first) => {
        const auth = first.auth;
        await first.stop();
        const connecting = connectNats({ url: first.url, auth, name: 'early', patienceMs: 30_000 });
        const second = await startAgain({ ...first, dir: 'temporary' }, binary);
        const connection = await connecting;
        expect(connection.isUp()).toBe(true);
        await connection.close();
        await second.stop();
      }));

    test('[NCN5] an awaited answer fails as soon as the link breaks, long before its time-out', () =>
      withServer(binary, async (server) => {
        const proxy = await openProxy(server.url);
        const connection = await connectTo(server, { url: proxy.url });
        proxy.hold('down');
        const answer = connection.whileUp(connection.client.request('$JS.API.INFO', '', { timeout: 600_000 }));
        const outcome = answer.then(
          () => 'answered',
          (error: unknown) => error,
        );
        proxy.sever(false);
        expect(await outcome).toBeInstanceOf(LinkLost);
        proxy.release('down');
        await connection.close();
        await proxy.close();
      }));

    test('[NCN5] a question survives a restart of the broker, and BROKER_UNREACHABLE says that it did not come back', () =>
      withServer(binary, async (temporary) => {
        const connection = await connectTo(temporary);
        const info = () => connection.client.request('$JS.API.INFO', '', { timeout: 1_000 });
        await temporary.stop();
        await until(() => !connection.isUp(), 'the break to be noticed');
        await expect(connection.ask('no account', info, 300)).rejects.toMatchObject({
          code: 'BROKER_UNREACHABLE',
          message: expect.stringContaining(connection.address),
          hint: expect.any(String),
        });
        const asked = connection.ask('no account', info, 30_000);
        const again = await startAgain({ ...temporary, dir: 'temporary' }, binary);
        expect((await asked).json()).toMatchObject({ memory: 0 });
        expect(connection.isUp()).toBe(true);
        await connection.close();
        await again.stop();
      }));

    test('[NCN6] close is idempotent, and what is asked afterwards is TRANSPORT_CLOSED', () =>
      withServer(binary, async (server) => {
        const connection = await connectTo(server);
        await Promise.all([connection.close(), connection.close()]);
        await connection.close();
        expect(connection.isUp()).toBe(false);
        await expectCode('TRANSPORT_CLOSED', () => connection.ask('nothing', () => connection.client.request('x')));
      }));

    test('[NCN6] close ends while the broker is away', () =>
      withServer(binary, async (server) => {
        const connection = await connectTo(server);
        await server.stop();
        await until(() => !connection.isUp(), 'the break to be noticed');
        await connection.close();
        expect(connection.client.isClosed()).toBe(true);
      }));
  });
}

test('[NCN1] an address where nothing listens is BROKER_UNREACHABLE with a hint', async () => {
  const server = await silentServer();
  await server.close();
  for (const url of [server.url, 'nats://no-such-host.invalid:4222']) {
    await expect(connectNats({ url, name: 'lost' })).rejects.toMatchObject({
      code: 'BROKER_UNREACHABLE',
      message: expect.stringContaining(new URL(url).host),
      hint: expect.stringContaining('nats-server'),
    });
  }
});

test('[NCN2] credentials that cannot be used are USAGE, before anything is sent', async () => {
  const server = await silentServer();
  for (const auth of [
    { kind: 'nkey', seed: 'no seed' },
    { kind: 'credentials', file: '/no/such/file' },
    { kind: 'credentials', file: import.meta.filename },
  ] as const) {
    await expectCode('USAGE', () => connectNats({ url: server.url, name: 'lost', auth }));
  }
  await server.close();
});

test('[NCN1] a program there that does not speak NATS is BROKER_UNREACHABLE', async () => {
  for (const greeting of ['', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'INFO {"half\r\n']) {
    const server = await silentServer(greeting);
    await expectCode('BROKER_UNREACHABLE', () => connectNats({ url: server.url, name: 'lost', connectMsMax: 200 }));
    await server.close();
  }
});

async function silentServer(greeting = ''): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (greeting !== '') socket.write(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `nats://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
