import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MESSAGE_BYTES_MAX } from '@oplus/protocol';
import type { Bus } from '@oplus/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { QUEUE_BYTES_MAX } from './connection.ts';
import { encodeFrame, HELLO } from './frame.ts';
import { socketBus, socketPathOf } from './index.ts';
import { startChild } from './testing/children.ts';
import { rawPeer } from './testing/raw-peer.ts';

let folder = '';
let path = '';
let buses: Bus[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oplus-hub-'));
  path = join(folder, 'bus.sock');
});

afterEach(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  buses = [];
  rmSync(folder, { recursive: true });
});

test('[SOC1] the socket has mode 0600 in a folder of mode 0700, which is created', async () => {
  const deep = join(folder, 'a', 'b', 'bus.sock');
  await openBus(deep).serve('channel', () => undefined);
  expect(statSync(deep).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'a', 'b')).mode & 0o777).toBe(0o700);
});

test('[SOC1] a folder where there is no room for folders is USAGE, and soon', async () => {
  // On Linux the platform's recursive mkdir never ends below /proc; elsewhere the path is as impossible.
  await expect(openBus('/proc/oplus-test/bus.sock').serve('channel', () => undefined)).rejects.toMatchObject({ code: 'USAGE' });
});

test('[SOC1] a folder that another user could enter, or a link in its place, is refused for every end', async () => {
  const open = join(folder, 'open');
  mkdirSync(open);
  symlinkSync(folder, `${folder}-link`);
  try {
    for (const mode of [0o755, 0o710, 0o701, 0o777]) {
      chmodSync(open, mode);
      await expectRefusals(join(open, 'bus.sock'), 'USAGE');
    }
    await expectRefusals(join(`${folder}-link`, 'bus.sock'), 'USAGE');
  } finally {
    rmSync(`${folder}-link`);
  }
  expect(existsSync(join(open, 'bus.sock'))).toBe(false);
});

test('[SOC3] a path that is served is PORT_BUSY, in this process and from another, and the first goes on', async () => {
  const served: string[] = [];
  await openBus().serve('channel', (from, body) => served.push(`${from}: ${body}`));
  for (const channel of ['channel', 'another']) {
    await expect(openBus().serve(channel, () => undefined)).rejects.toMatchObject({
      code: 'PORT_BUSY',
      path,
      hint: expect.any(String),
    });
  }
  const child = startChild('serve', path, 'rival');
  child.process.stdin.end();
  await child.ended();
  expect(child.lines).toEqual(['PORT_BUSY']);
  const end = await openBus().attach('channel', 'alice', () => undefined);
  end.send('still there');
  await until(() => served.length > 0);
  expect(served).toEqual(['alice: still there']);
});

test('[SOC3] a socket of another program is PORT_BUSY and left alone; who attaches there is not answered and comes to no harm', async () => {
  const stranger = await strangerAt(path, () => undefined);
  await expect(openBus().serve('channel', () => undefined)).rejects.toMatchObject({ code: 'PORT_BUSY', path });
  expect(statSync(path).isSocket()).toBe(true);
  stranger.close();
  const babbler = await strangerAt(path, (write) => write(Buffer.from('220 mail.example.org ESMTP ready\r\n')));
  const heard: string[] = [];
  const end = await openBus().attach('channel', 'alice', (body) => heard.push(body));
  end.send('hello?');
  await end.close();
  expect(heard).toEqual([]);
  babbler.close();
});

test('[SOC4] something else at the path is refused and left alone', async () => {
  writeFileSync(path, 'notes of somebody');
  await expect(openBus().serve('channel', () => undefined)).rejects.toMatchObject({
    code: 'USAGE',
    path,
    hint: expect.any(String),
  });
  expect(readFileSync(path, 'utf8')).toBe('notes of somebody');
  rmSync(path);
  mkdirSync(path);
  await expect(openBus().serve('channel', () => undefined)).rejects.toMatchObject({ code: 'USAGE', path });
});

test('[SOC4] paths that cannot be a socket are refused for every end', async () => {
  writeFileSync(join(folder, 'file'), 'x');
  for (const bad of [
    '',
    `${folder}/${'x'.repeat(120)}`,
    `${folder}/a\0b`,
    join(folder, 'file', 'bus.sock'),
    join(folder, 'file', 'deeper', 'bus.sock'),
  ]) {
    await expect(openBus(bad).serve('channel', () => undefined)).rejects.toMatchObject({
      code: 'USAGE',
      hint: expect.any(String),
    });
  }
});

test.each<readonly [string, boolean, Uint8Array]>([
  ['garbage instead of a greeting', false, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ['a frame before the greeting', false, frame('attach', 1, 'channel mallory')],
  ['a greeting of another version', false, frame('hello', 0, 'oplus-bus 0')],
  ['a second greeting', true, frame('hello', 0, HELLO)],
  ['a length above the limit', true, Buffer.from([255, 255, 255, 255, 5, 0, 0, 0, 1])],
  ['text that is no UTF-8', true, Buffer.from([0, 0, 0, 6, 5, 0, 0, 0, 1, 255])],
  ['an attachment without a name', true, frame('attach', 1, 'channel')],
  ['an attachment with a name too many', true, frame('attach', 1, 'channel alice bob')],
  ['a name that is none', true, frame('attach', 1, 'channel Alice')],
  ['a channel that is none', true, frame('listen', 1, '*')],
  ['an end that exists', true, Buffer.concat([frame('attach', 1, 'channel m'), frame('listen', 1, 'channel')])],
  ['an answer, which is the hub’s to send', true, frame('answer', 1, 'forged')],
  ['an announcement, which is the hub’s to send', true, frame('announcement', 1, 'forged')],
])('[SOC5] %s ends that connection and no other', async (_, isGreeting, bytes) => {
  const served: string[] = [];
  const server = await openBus().serve('channel', (from, body) => served.push(`${from}: ${body}`));
  const heard: string[] = [];
  const alice = await openBus().attach('channel', 'alice', (body) => heard.push(body));
  const mallory = await rawPeer(path, isGreeting);
  mallory.write(bytes);
  await mallory.closed;
  alice.send('up');
  server.send('alice', 'down');
  await until(() => served.length > 0 && heard.length > 0);
  expect([served, heard]).toEqual([['alice: up'], ['down']]);
});

test('[SOC6] a connection that claims much and sends little keeps little', async () => {
  await openBus().serve('channel', () => undefined);
  const peers = await Promise.all(Array.from({ length: 20 }, () => rawPeer(path)));
  for (const peer of peers) peer.write(Buffer.from([0x7f, 0xff, 0xff, 0xff, 5]));
  for (const peer of peers) peer.write(Buffer.alloc(100));
  await Promise.all(peers.map((peer) => peer.closed));
  expect(peers.map(({ frames }) => frames.length <= 1)).toEqual(peers.map(() => true));
});

test('[SOC9] the newest of one name speaks and hears, the older ones are told and detached', async () => {
  const served: string[] = [];
  const server = await openBus().serve('channel', (from, body) => served.push(`${from}: ${body}`));
  const [old, young]: [string[], string[]] = [[], []];
  const older = await openBus().attach('channel', 'alice', (body) => old.push(body));
  const raw = await rawPeer(path);
  raw.frame('attach', 5, 'channel alice');
  await until(() => raw.frames.some(({ kind }) => kind === 'ready'));
  const newest = await openBus().attach('channel', 'alice', (body) => young.push(body));
  await until(() => raw.frames.some(({ kind, end }) => kind === 'superseded' && end === 5));
  older.send('from the oldest');
  raw.frame('message', 5, 'from the older');
  await older.close();
  newest.send('from the newest');
  server.send('alice', 'answer');
  await until(() => served.length > 0 && young.length > 0);
  await delay(20);
  expect([served, old, young]).toEqual([['alice: from the newest'], [], ['answer']]);
  raw.destroy();
});

test('[SOC10] a peer that does not read loses messages, takes bounded memory and holds up nobody', async () => {
  const server = await openBus().serve('channel', () => undefined);
  const stuck = await rawPeer(path);
  stuck.frame('listen', 1, 'channel');
  await until(() => stuck.frames.some(({ kind }) => kind === 'ready'));
  stuck.pause();
  let heard = 0;
  await openBus().listen('channel', () => (heard += 1));
  const body = 'x'.repeat(MESSAGE_BYTES_MAX);
  const count = Math.ceil((4 * QUEUE_BYTES_MAX) / MESSAGE_BYTES_MAX);
  for (let n = 1; n <= count; n += 1) {
    server.announce(body);
    await until(() => heard === n);
  }
  stuck.resume();
  for (let isOver = false; !isOver; isOver = stuck.frames.some(({ text }) => text === 'over')) {
    server.announce('over');
    await delay(5);
  }
  // What had been kept for it: the queue, one message that overran it, and what the system holds for a socket.
  const keptBytes = stuck.frames.reduce((sum, { text }) => sum + text.length, 0);
  expect(keptBytes).toBeGreaterThan(QUEUE_BYTES_MAX / 2);
  expect(keptBytes).toBeLessThan(QUEUE_BYTES_MAX + 3 * MESSAGE_BYTES_MAX);
  stuck.destroy();
});

test('[SOC11] what was sent before close arrives, from either side', async () => {
  const served: string[] = [];
  const bus = openBus();
  const server = await bus.serve('channel', (_, body) => served.push(body));
  const heard: string[] = [];
  const [alice, bob] = [openBus(), openBus()];
  const end = await alice.attach('channel', 'alice', () => undefined);
  await bob.attach('channel', 'bob', (body) => heard.push(body));
  for (let n = 0; n < 500; n += 1) end.send(`${n}`);
  await alice.close();
  await until(() => served.length === 500);
  for (let n = 0; n < 500; n += 1) server.send('bob', `${n}`);
  await bus.close();
  await until(() => heard.length === 500);
  expect(heard).toEqual(served);
});

test('[SOC11] a peer that does not read keeps nobody from closing', async () => {
  const bus = openBus();
  const server = await bus.serve('channel', () => undefined);
  const stuck = await rawPeer(path);
  stuck.frame('attach', 1, 'channel alice');
  await until(() => stuck.frames.some(({ kind }) => kind === 'ready'));
  stuck.pause();
  for (let n = 0; n < 5; n += 1) server.send('alice', 'x'.repeat(MESSAGE_BYTES_MAX));
  await bus.close();
  expect(existsSync(path)).toBe(false);
  stuck.destroy();
});

test('[SOC12] a hub of another version is told to who attaches', async () => {
  const stranger = await strangerAt(path, (write) => write(frame('hello', 0, 'oplus-bus 99')));
  await expect(openBus().attach('channel', 'alice', () => undefined)).rejects.toMatchObject({
    code: 'PROTOCOL_VERSION',
    path,
    hint: expect.any(String),
  });
  await expect(openBus().listen('channel', () => undefined)).rejects.toMatchObject({ code: 'PROTOCOL_VERSION' });
  stranger.close();
});

test('[SOC13] one short path for one folder, whatever link leads to it', async () => {
  const deep = join(folder, 'x'.repeat(100), 'y'.repeat(100));
  mkdirSync(deep, { recursive: true });
  symlinkSync(deep, join(folder, 'link'));
  expect(socketPathOf(join(folder, 'link'))).toBe(socketPathOf(deep));
  expect(socketPathOf(deep)).not.toBe(socketPathOf(folder));
  expect(() => socketPathOf(join(folder, 'absent'))).toThrow(expect.objectContaining({ code: 'USAGE' }));
  const short = socketPathOf(deep);
  const served: string[] = [];
  await openBus(short).serve('channel', (from) => served.push(from));
  (await openBus(short).attach('channel', 'alice', () => undefined)).send('x');
  await until(() => served.length > 0);
});

test('[SOC14] a bus serves several channels; with the last the path is free', async () => {
  const bus = openBus();
  const heard: string[] = [];
  const [one, two] = await Promise.all([bus.serve('one', () => undefined), bus.serve('two', (from) => heard.push(from))]);
  await expect(bus.serve('two', () => undefined)).rejects.toMatchObject({ code: 'PORT_BUSY' });
  await one.close();
  (await openBus().attach('two', 'alice', () => undefined)).send('x');
  await until(() => heard.length > 0);
  await two.close();
  expect(existsSync(path)).toBe(false);
  await openBus().serve('three', () => undefined);
});

test('[SOC14] closing while serving begins leaves nothing behind, whenever it comes', async () => {
  for (let steps = 0; steps < 40; steps += 1) {
    const bus = socketBus(path);
    const serving = bus
      .serve('channel', () => undefined)
      .then(
        () => 'serving',
        (error: { readonly code?: string }) => error.code ?? String(error),
      );
    // Opening takes microtasks only, up to the moment when the socket listens.
    for (let n = 0; n < steps; n += 1) await Promise.resolve();
    await bus.close();
    expect(['serving', 'TRANSPORT_CLOSED']).toContain(await serving);
    expect(existsSync(path)).toBe(false);
  }
  await openBus().serve('channel', () => undefined);
});

function openBus(at: string = path): Bus {
  const bus = socketBus(at);
  buses.push(bus);
  return bus;
}

function frame(kind: Parameters<typeof encodeFrame>[0], end: number, text: string): Buffer {
  return Buffer.concat(encodeFrame(kind, end, Buffer.from(text)));
}

async function expectRefusals(at: string, code: string): Promise<void> {
  const bus = openBus(at);
  await expect(bus.serve('channel', () => undefined)).rejects.toMatchObject({ code, path: at, hint: expect.any(String) });
  await expect(bus.attach('channel', 'alice', () => undefined)).rejects.toMatchObject({ code, path: at });
  await expect(bus.listen('channel', () => undefined)).rejects.toMatchObject({ code, path: at });
}

async function strangerAt(at: string, greet: (write: (bytes: Uint8Array) => void) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    greet((bytes) => socket.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(at, resolve));
  return server;
}

async function until(holds: () => boolean): Promise<void> {
  for (let n = 0; !holds(); n += 1) {
    if (n > 10_000) throw new Error('never came true');
    await delay(1);
  }
}
