/**
 * Contract of the port `Bus` (protocol SPEC, rules BUS1 to BUS11). Everything here is the quiet case: nothing fails, nobody is overrun.
 *
 * Order is never asserted: a bus may overtake. What must not be heard is waited for with a message that must be heard.
 */
import { expect } from 'vitest';
import type { Attachment, Bus, ChannelServer } from '../ports/bus.ts';
import { MESSAGE_BYTES_MAX } from '../ports/bus.ts';
import { check, expectCode, registerContract } from './check.ts';
import type { Check, Destroyable, OpenStore, Wait } from './check.ts';

/** One place where buses meet: a broker, a socket path, an object in memory. Nobody is there at first. */
export interface BusStore extends Destroyable {
  /** `one`: a second `serve` of a channel by another bus rejects with `PORT_BUSY`. `many`: both hear every message. */
  readonly servers: 'one' | 'many';
  /** A bus with its own connection, as another process would have it. Works before and after any other is there. */
  open(): Promise<Bus>;
}

/** Registers the checks below as tests. */
export function busContract(name: string, open: OpenStore<BusStore>): void {
  registerContract(name, busChecks, open);
}

/** Every check of the port. */
export const busChecks: readonly Check<BusStore>[] = [
  check<BusStore>('BUS1', 'the server hears each message with the name of its sender', async (store, wait) => {
    const { heard } = await serveOn(await store.open(), 'channel');
    const bus = await store.open();
    const alice = await attachTo(bus, 'channel', 'alice');
    const bob = await attachTo(await store.open(), 'channel', 'bob');
    alice.end.send('from alice');
    bob.end.send('from bob');
    await wait.until(() => heard.length >= 2, 'both messages');
    await wait.settle();
    expect(sorted(heard)).toEqual(['alice: from alice', 'bob: from bob']);
  }),

  check<BusStore>('BUS1', 'names that mean something to an object or a broker are plain names', async (store, wait) => {
    const names = ['__proto__', 'constructor', 'a', '0', '-', '_', '_inbox', 'x'.repeat(64)];
    const { server, heard } = await serveOn(await store.open(), '__proto__');
    const bus = await store.open();
    const ends = await Promise.all(names.map((name) => attachTo(bus, '__proto__', name)));
    for (const { end } of ends) end.send('hello');
    await wait.until(() => heard.length >= names.length, 'a message from each');
    expect(sorted(heard)).toEqual(sorted(names.map((name) => `${name}: hello`)));
    for (const name of names) server.send(name, `to ${name}`);
    await wait.until(() => ends.every((end) => end.heard.length > 0), 'an answer to each');
    await wait.settle();
    expect(ends.map((end) => end.heard)).toEqual(names.map((name) => [`to ${name}`]));
  }),

  check<BusStore>('BUS2', 'an answer goes to the address of the sender, and nobody else hears it', async (store, wait) => {
    const { server, heard: served } = await serveOn(await store.open(), 'channel');
    const bus = await store.open();
    const names = ['alice', 'alice-2', 'ali', 'bob'];
    const ends = await Promise.all(names.map((name) => attachTo(bus, 'channel', name)));
    const apart = await attachTo(await store.open(), 'channel', 'carol');
    const listener = await listenTo(await store.open(), 'channel');
    server.send('alice', 'only for alice');
    server.send('nobody', 'for nobody');
    for (const name of [...names, 'carol']) server.send(name, 'for each');
    await wait.until(() => [...ends, apart].every((end) => end.heard.includes('for each')), 'the message for each');
    await wait.until(() => ends[0]?.heard.length === 2, 'the answer for alice');
    await wait.settle();
    expect(ends.map((end) => sorted(end.heard))).toEqual([
      ['for each', 'only for alice'],
      ['for each'],
      ['for each'],
      ['for each'],
    ]);
    expect(apart.heard).toEqual(['for each']);
    expect(listener.heard).toEqual([]);
    expect(served).toEqual([]);
  }),

  check<BusStore>('BUS2', 'of two under one name the newest hears', async (store, wait) => {
    const { server } = await serveOn(await store.open(), 'channel');
    await attachTo(await store.open(), 'channel', 'alice');
    const newest = await attachTo(await store.open(), 'channel', 'alice');
    server.send('alice', 'for the newest');
    await wait.until(() => newest.heard.length > 0, 'the message');
    expect(newest.heard).toEqual(['for the newest']);
  }),

  check<BusStore>('BUS3', 'nothing is delivered inside the caller', async (store, wait) => {
    let isInside = false;
    const calls: string[] = [];
    const note = (what: string): void => void calls.push(isInside ? `${what} inside` : what);
    // All ends on one bus: a transport may take a short cut inside a process, and this rule is about that.
    const bus = await store.open();
    const server = await bus.serve('channel', () => note('served'));
    const end = await bus.attach('channel', 'alice', () => note('answered'));
    await bus.listen('channel', () => note('announced'));
    isInside = true;
    end.send('x');
    server.send('alice', 'x');
    server.announce('x');
    isInside = false;
    await wait.until(() => calls.length >= 3, 'all three deliveries');
    expect(sorted(calls)).toEqual(['announced', 'answered', 'served']);
  }),

  check<BusStore>('BUS4', 'every listener hears an announcement, nobody else does', async (store, wait) => {
    const near = await store.open();
    const { server, heard: served } = await serveOn(near, 'channel');
    const listeners = [
      await listenTo(near, 'channel'),
      await listenTo(await store.open(), 'channel'),
      await listenTo(await store.open(), 'channel'),
    ];
    const end = await attachTo(await store.open(), 'channel', 'alice');
    server.announce('news');
    await wait.until(() => listeners.every((listener) => listener.heard.length > 0), 'the announcement');
    server.send('alice', 'last');
    await wait.until(() => end.heard.length > 0, 'the message after it');
    await wait.settle();
    expect(listeners.map((listener) => listener.heard)).toEqual([['news'], ['news'], ['news']]);
    expect(end.heard).toEqual(['last']);
    expect(served).toEqual([]);
  }),

  check<BusStore>('BUS5', 'channels do not hear each other', async (store, wait) => {
    const channels = Array.from({ length: 12 }, (_, k) => `channel-${k}`);
    const serving = await store.open();
    const others = await store.open();
    const servers = await Promise.all(channels.map((channel) => serveOn(serving, channel)));
    const ends = await Promise.all(channels.map((channel) => attachTo(others, channel, 'alice')));
    const listeners = await Promise.all(channels.map((channel) => listenTo(others, channel)));
    for (const [k, { end }] of ends.entries()) end.send(`up ${k}`);
    for (const [k, { server }] of servers.entries()) {
      server.send('alice', `down ${k}`);
      server.announce(`news ${k}`);
    }
    await wait.until(() => [...servers, ...ends, ...listeners].every(({ heard }) => heard.length > 0), 'one message on each end');
    await wait.settle();
    expect(servers.map(({ heard }) => heard)).toEqual(channels.map((_, k) => [`alice: up ${k}`]));
    expect(ends.map(({ heard }) => heard)).toEqual(channels.map((_, k) => [`down ${k}`]));
    expect(listeners.map(({ heard }) => heard)).toEqual(channels.map((_, k) => [`news ${k}`]));
  }),

  check<BusStore>('BUS6', 'names that are no address are refused', async (store) => {
    const bus = await store.open();
    const { server } = await serveOn(bus, 'channel');
    for (const name of ['', ' ', '*', '>', 'a.b', 'a/b', 'A', 'é', 'a b', 'a\n', '\u0000', '..', 'x'.repeat(65)]) {
      await expectCode('USAGE', () => bus.serve(name, () => undefined));
      await expectCode('USAGE', () => bus.attach(name, 'alice', () => undefined));
      await expectCode('USAGE', () => bus.attach('channel', name, () => undefined));
      await expectCode('USAGE', () => bus.listen(name, () => undefined));
      await expectCode('USAGE', () => server.send(name, 'x'));
    }
  }),

  check<BusStore>('BUS7', 'bodies arrive byte for byte, up to the limit', async (store, wait) => {
    const { server, heard } = await serveOn(await store.open(), 'channel');
    const bus = await store.open();
    const alice = await attachTo(bus, 'channel', 'alice');
    const listener = await listenTo(bus, 'channel');
    const bodies = [
      '',
      '\n',
      'two\nlines\r\n',
      '\u0000',
      '{"a":"\\u0000"}',
      '\uFEFFmark',
      'Grüße, 状態 \u{1F600}',
      'e\u0301',
      'x'.repeat(MESSAGE_BYTES_MAX),
      '状'.repeat(Math.floor(MESSAGE_BYTES_MAX / 3)),
    ];
    for (const [k, body] of bodies.entries()) {
      alice.end.send(body);
      server.send('alice', body);
      server.announce(body);
      await wait.until(() => heard.length > k && alice.heard.length > k && listener.heard.length > k, `message ${k} on each way`);
      expect([heard[k] === `alice: ${body}`, alice.heard[k] === body, listener.heard[k] === body]).toEqual([true, true, true]);
    }
  }),

  check<BusStore>('BUS7', 'a message above the limit or ill-formed is refused, and the end stays usable', async (store, wait) => {
    const { server, heard } = await serveOn(await store.open(), 'channel');
    const alice = await attachTo(await store.open(), 'channel', 'alice');
    for (const body of ['x'.repeat(MESSAGE_BYTES_MAX + 1), 'é'.repeat(MESSAGE_BYTES_MAX / 2 + 1), 'half \ud83d']) {
      await expectCode('USAGE', () => alice.end.send(body));
      await expectCode('USAGE', () => server.send('alice', body));
      await expectCode('USAGE', () => server.announce(body));
    }
    alice.end.send('up');
    server.send('alice', 'down');
    await wait.until(() => heard.length > 0 && alice.heard.length > 0, 'the messages after the refused ones');
    expect([heard, alice.heard]).toEqual([['alice: up'], ['down']]);
  }),

  check<BusStore>(
    'BUS8',
    'after close an end hears nothing, and sending to it or from it is only a lost message',
    async (store, wait) => {
      const { server, heard } = await serveOn(await store.open(), 'channel');
      const bus = await store.open();
      const [alice, bob] = [await attachTo(bus, 'channel', 'alice'), await attachTo(bus, 'channel', 'bob')];
      const [gone, listener] = [await listenTo(bus, 'channel'), await listenTo(bus, 'channel')];
      for (let k = 0; k < 50; k += 1) {
        server.send('alice', `in flight ${k}`);
        server.announce(`in flight ${k}`);
      }
      await Promise.all([alice.end.close(), gone.end.close()]);
      await alice.end.close();
      const counts = [alice.heard.length, gone.heard.length];
      server.send('alice', 'late');
      server.announce('late');
      server.send('bob', 'still here');
      alice.end.send('from a closed end');
      await wait.until(() => bob.heard.includes('still here') && listener.heard.includes('late'), 'what the others hear');
      await wait.settle();
      expect([alice.heard.length, gone.heard.length]).toEqual(counts);
      expect(heard).toEqual([]);
    },
  ),

  check<BusStore>('BUS8', 'a closed server hears nothing, and a new one takes over the channel', async (store, wait) => {
    const bus = await store.open();
    const first = await serveOn(await store.open(), 'channel');
    const alice = await attachTo(bus, 'channel', 'alice');
    await sendUntilHeard(alice.end, first.heard, 'first', wait);
    await first.server.close();
    const count = first.heard.length;
    alice.end.send('nobody serves');
    first.server.send('alice', 'from a closed server');
    first.server.announce('from a closed server');
    const second = await serveOn(await store.open(), 'channel');
    await sendUntilHeard(alice.end, second.heard, 'second', wait);
    second.server.send('alice', 'from the second');
    await wait.until(() => alice.heard.includes('from the second'), 'an answer of the new server');
    expect(first.heard.length).toBe(count);
    expect(alice.heard).not.toContain('from a closed server');
  }),

  check<BusStore>('BUS8', 'closing a bus closes its ends, and it opens no more', async (store, wait) => {
    const bus = await store.open();
    const { server } = await serveOn(await store.open(), 'channel');
    const [alice, listener] = [await attachTo(bus, 'channel', 'alice'), await listenTo(bus, 'channel')];
    const bob = await attachTo(await store.open(), 'channel', 'bob');
    await wait.ends(bus.close(), 'close');
    await wait.ends(bus.close(), 'the second close');
    server.send('alice', 'late');
    server.announce('late');
    server.send('bob', 'still here');
    await wait.until(() => bob.heard.length > 0, 'what the other hears');
    await wait.settle();
    expect([alice.heard, listener.heard]).toEqual([[], []]);
    await expectCode('TRANSPORT_CLOSED', () => bus.serve('channel', () => undefined));
    await expectCode('TRANSPORT_CLOSED', () => bus.attach('channel', 'alice', () => undefined));
    await expectCode('TRANSPORT_CLOSED', () => bus.listen('channel', () => undefined));
  }),

  check<BusStore>(
    'BUS9',
    'a thousand messages from sixteen senders all arrive, once, and so do the answers',
    async (store, wait) => {
      const counts = new Map<string, number>();
      const server: ChannelServer = await (
        await store.open()
      ).serve('channel', (from, body) => {
        counts.set(`${from} ${body}`, (counts.get(`${from} ${body}`) ?? 0) + 1);
        server.send(from, body);
      });
      const names = Array.from({ length: 16 }, (_, k) => `sender-${k}`);
      const buses = [await store.open(), await store.open()];
      const ends = await Promise.all(names.map((name, k) => attachTo(buses[k % 2] as Bus, 'channel', name)));
      for (let n = 0; n < 1_000; n += 1) ends[n % 16]?.end.send(`message ${n}`);
      await wait.until(() => ends.reduce((sum, { heard }) => sum + heard.length, 0) >= 1_000, 'a thousand answers');
      await wait.settle();
      expect([counts.size, ...new Set(counts.values())]).toEqual([1_000, 1]);
      for (const [k, { heard }] of ends.entries()) {
        const sent = Array.from({ length: 1_000 }, (_, n) => n).filter((n) => n % 16 === k);
        expect(sorted(heard)).toEqual(sorted(sent.map((n) => `message ${n}`)));
      }
    },
  ),

  check<BusStore>('BUS10', 'attaching and listening work before anybody serves', async (store, wait) => {
    const bus = await store.open();
    const alice = await wait.ends(attachTo(bus, 'channel', 'alice'), 'attach without a server');
    const listener = await wait.ends(listenTo(bus, 'channel'), 'listen without a server');
    alice.end.send('lost');
    await wait.settle();
    const { server, heard } = await serveOn(await store.open(), 'channel');
    await sendUntilHeard(alice.end, heard, 'now', wait);
    server.send('alice', 'answer');
    await wait.until(() => alice.heard.includes('answer'), 'an answer');
    for (let n = 0; listener.heard.length === 0 && n < REPEATS_MAX; n += 1) {
      server.announce('news');
      await wait.settle();
    }
    expect(listener.heard).toContain('news');
  }),

  check<BusStore>('BUS11', 'a second server is refused, or hears every message as well', async (store, wait) => {
    const first = await serveOn(await store.open(), 'channel');
    if (store.servers === 'one') {
      const rival = await store.open();
      await expectCode('PORT_BUSY', () => rival.serve('channel', () => undefined));
      const alice = await attachTo(rival, 'channel', 'alice');
      alice.end.send('to the first');
      await wait.until(() => first.heard.length > 0, 'the message');
      expect(first.heard).toEqual(['alice: to the first']);
      return;
    }
    const second = await serveOn(await store.open(), 'channel');
    const alice = await attachTo(await store.open(), 'channel', 'alice');
    alice.end.send('to both');
    await wait.until(() => first.heard.length > 0 && second.heard.length > 0, 'the message on both');
    expect([first.heard, second.heard]).toEqual([['alice: to both'], ['alice: to both']]);
  }),
];

const REPEATS_MAX = 200;

async function serveOn(bus: Bus, channel: string): Promise<{ server: ChannelServer; heard: string[] }> {
  const heard: string[] = [];
  return { heard, server: await bus.serve(channel, (from, body) => heard.push(`${from}: ${body}`)) };
}

async function attachTo(bus: Bus, channel: string, as: string): Promise<{ end: Attachment; heard: string[] }> {
  const heard: string[] = [];
  return { heard, end: await bus.attach(channel, as, (body) => heard.push(body)) };
}

async function listenTo(bus: Bus, channel: string): Promise<{ end: { close(): Promise<void> }; heard: string[] }> {
  const heard: string[] = [];
  return { heard, end: await bus.listen(channel, (body) => heard.push(body)) };
}

/** A channel that changes hands may lose messages, so a sender repeats itself, as a worker does. */
async function sendUntilHeard(end: Attachment, heard: readonly string[], body: string, wait: Wait): Promise<void> {
  for (let n = 0; n < REPEATS_MAX; n += 1) {
    end.send(body);
    await wait.settle();
    if (heard.some((line) => line.endsWith(`: ${body}`))) return;
  }
  throw new Error(`never heard: ${body}`);
}

function sorted(lines: readonly string[]): string[] {
  return [...lines].sort();
}
