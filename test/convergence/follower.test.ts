/** Followers: any announcements, one state. */
import { composeRecord, emptyShard, foldRecord, loadState, OplusError, seal, stateJson, counter } from '@oplus/core';
import type { Shard, Space } from '@oplus/core';
import type { ErrorCode } from '@oplus/core';
import { encodeAnnouncement, sha256 } from '@oplus/protocol';
import type { ChannelServer, Replica } from '@oplus/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SCHEMA, SPACE, Table, uncaughtDuring } from './table.ts';

/** A log of some length on the table, and a mouth to announce with. */
async function tableWithLog(
  commits: number,
): Promise<{ readonly table: Table; readonly bodies: readonly string[]; readonly server: ChannelServer }> {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  for (let i = 0; i < commits; i += 1) await worker.newest().propose({ patch: { done: { inc: 1 } } });
  await worker.close();
  await coordinator.close();
  const bodies = [...table.store.bodies];
  return { table, bodies, server: await table.bus().serve('main', () => undefined) };
}

/** A record that folds after `bodies` and that no coordinator wrote. */
function forgedAfter(bodies: readonly string[]): string {
  let shard: Shard = emptyShard(new Map([[SPACE, SCHEMA]]));
  for (const [i, body] of bodies.entries()) shard = foldRecord(shard, i + 1, body).shard;
  const sealed = seal(shard.spaces.get(SPACE) as Space, {
    term: 1,
    events: [{ kind: 'join', agent: 'eve', role: 'agent', session: 'eve-1' }],
    proposals: [],
  });
  return composeRecord(shard, 1, [sealed]).body;
}

const doneOf = (replica: Replica): unknown => stateJson(replica.space())['done'];

test('[WK20] announcements that are lost, doubled or overtaken lead to the state of the log, each revision told once', async () => {
  const { bodies } = await tableWithLog(6);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bodies.length - 1), { maxLength: 30 }), fc.nat(bodies.length), async (announced, start) => {
      const table = new Table();
      table.store.bodies.push(...bodies.slice(0, start));
      const server = await table.bus().serve('main', () => undefined);
      const replica = await table.follow();
      const told: number[] = [];
      const from = replica.space().revision;
      replica.onChange((_, sealed) => told.push(sealed?.revision ?? -1));
      table.store.bodies.push(...bodies.slice(start));
      for (const [i, index] of announced.entries()) {
        server.announce(encodeAnnouncement(index + 1, bodies[index] as string));
        if (i % 3 === 0) await table.rest();
      }
      await table.pass(1_000, 1_000);
      expect(doneOf(replica)).toBe(6);
      expect(told).toEqual(Array.from({ length: replica.space().revision - from }, (_, i) => from + 1 + i));
      await replica.close();
      expect(table.clock.nextDueMs()).toBe(undefined);
    }),
    { numRuns: 100 },
  );
});

test('[WK20] what is announced in order is folded without reading the log', async () => {
  const { bodies } = await tableWithLog(4);
  const table = new Table();
  const server = await table.bus().serve('main', () => undefined);
  const replica = await table.follow();
  table.store.bodies.push(...bodies);
  table.faults.read = () => new OplusError('BROKER_UNREACHABLE', 'no reading needed');
  for (const [i, body] of bodies.entries()) server.announce(encodeAnnouncement(i + 1, body));
  await table.rest();
  expect([doneOf(replica), replica.failure()]).toEqual([4, undefined]);
  await replica.close();
});

test('[WK21] a log that does not answer is asked again at the next look, and at the opening it is an error', async () => {
  const { bodies } = await tableWithLog(3);
  const table = new Table();
  const replica = await table.follow();
  table.store.bodies.push(...bodies);
  table.faults.read = () => new OplusError('TRANSPORT_TIMEOUT', 'not now');
  await table.pass(3_000, 1_000);
  expect([replica.space().revision, replica.failure()]).toEqual([-1, undefined]);
  await expect(table.follow()).rejects.toMatchObject({ code: 'TRANSPORT_TIMEOUT' });
  table.faults.read = undefined;
  await table.pass(1_000, 1_000);
  expect(doneOf(replica)).toBe(3);
  await replica.close();
  expect(table.clock.nextDueMs()).toBe(undefined);
});

test('[WK22] a log that cannot be folded makes the follower fail, and say so once', async () => {
  const { bodies } = await tableWithLog(3);
  const damages: readonly (readonly [ErrorCode, (body: string) => string])[] = [
    ['LOG_DAMAGED', () => 'x'],
    ['LOG_DIVERGED', (body) => body.replace('"inc":1', '"inc":2')],
  ];
  for (const [code, damage] of damages) {
    const table = new Table();
    const replica = await table.follow();
    const told: (number | undefined)[] = [];
    replica.onChange((_, sealed) => told.push(sealed?.revision));
    table.store.bodies.push(...bodies.map((body, i) => (i === bodies.length - 2 ? damage(body) : body)));
    await table.pass(3_000, 1_000);
    expect(replica.failure()).toMatchObject({ code });
    expect([doneOf(replica), told.at(-1), told.filter((one) => one === undefined).length]).toEqual([1, undefined, 1]);
    expect(table.clock.nextDueMs()).toBe(undefined);
    await expect(table.follow()).rejects.toMatchObject({ code });
    await replica.close();
  }
});

test('[WK22] a failure that comes while workers wait surfaces in their views', async () => {
  const { bodies } = await tableWithLog(3);
  const table = new Table();
  table.store.bodies.push(...bodies.slice(0, -1));
  const coordinator = await table.lead();
  const replica = await table.follow();
  const worker = await table.join(replica, 'ann', { session: 'ann-2' });
  const next = worker.viewAfter(worker.newest());
  next.catch(() => undefined);
  table.store.bodies.push('x');
  await table.pass(1_000, 100);
  await expect(next).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  await expect(worker.view()).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  await worker.close();
  await coordinator.close();
  await replica.close();
});

test('[WK22] another definition is named as such', async () => {
  const { table } = await tableWithLog(1);
  const other = loadState({ name: 'other', version: 1, fields: { done: counter() } }, sha256);
  await expect(table.follow({ schema: other })).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
});

test('[WK23] an announcement that is no record, or folds to something else, is settled by the log', async () => {
  const { table, bodies, server } = await tableWithLog(3);
  const last = bodies.at(-1) as string;
  table.store.bodies.pop();
  const replica = await table.follow();
  const lies = ['x', last.replace('"inc":1', '"inc":5'), last.replace(/"prev":"./, '"prev":"0')];
  for (const lie of lies) server.announce(encodeAnnouncement(bodies.length, lie));
  await table.rest();
  expect([doneOf(replica), replica.failure()]).toEqual([2, undefined]);
  table.store.bodies.push(last);
  server.announce(encodeAnnouncement(bodies.length, last));
  await table.rest();
  expect(doneOf(replica)).toBe(3);
  await replica.close();
});

test('[WK23] a record that was announced and never stored gives way to the one that was', async () => {
  const { table, bodies, server } = await tableWithLog(3);
  const [before, last] = [bodies.slice(0, -1), bodies.at(-1) as string];
  table.store.bodies.pop();
  const replica = await table.follow();
  server.announce(encodeAnnouncement(bodies.length, forgedAfter(before)));
  await table.rest();
  expect(replica.space().agents.size).toBe(2); // it was believed so far
  table.store.bodies.push(last, forgedAfter(bodies));
  server.announce(encodeAnnouncement(bodies.length + 1, table.store.bodies.at(-1) as string));
  await table.rest();
  expect([doneOf(replica), replica.failure()]).toEqual([3, undefined]);
  const honest = await table.follow();
  expect(replica.space().head).toBe(honest.space().head);
  await Promise.all([replica.close(), honest.close()]);
});

test('[WK22] a log that ends before what was announced is damaged, or somebody lies: both stop the follower', async () => {
  const { table, bodies, server } = await tableWithLog(2);
  const replica = await table.follow();
  server.announce(encodeAnnouncement(bodies.length + 1, forgedAfter(bodies)));
  await table.rest();
  expect(replica.failure()).toBe(undefined);
  await table.pass(1_000, 1_000);
  expect(replica.failure()).toMatchObject({ code: 'LOG_DAMAGED' });
  await replica.close();
});

test('[WK23] what was announced is confirmed by the log, and read again only from there', async () => {
  const { bodies } = await tableWithLog(5);
  const table = new Table();
  const server = await table.bus().serve('main', () => undefined);
  const replica = await table.follow();
  const reads: number[] = [];
  table.faults.read = (from) => void reads.push(from);
  const announce = async (from: number, to: number): Promise<void> => {
    table.store.bodies.push(...bodies.slice(from, to));
    for (let i = from; i < to; i += 1) server.announce(encodeAnnouncement(i + 1, bodies[i] as string));
    await table.rest();
    await table.pass(1_000, 1_000);
  };
  await announce(0, 4);
  await announce(4, bodies.length);
  expect([doneOf(replica), reads]).toEqual([5, [4, bodies.length]]);
  await replica.close();
});

test('[WK22] a log that is shorter than it was is damaged, and whoever waits is told', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = await table.follow();
  const worker = await table.join(replica, 'ann');
  await worker.newest().propose({ patch: { done: { inc: 1 } } });
  await table.pass(1_000, 1_000);
  await coordinator.close();
  table.store.bodies.splice(2);
  const successor = await table.lead();
  // It has never heard of ann, and says so; ann knows better.
  const answer = worker.newest().propose({ patch: { done: { inc: 1 } } });
  answer.catch(() => undefined);
  await table.pass(4_000, 250);
  expect(replica.failure()).toMatchObject({ code: 'LOG_DAMAGED' });
  await expect(answer).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  await replica.close();
  await successor.close();
  expect(table.clock.nextDueMs()).toBe(undefined);
});

test('[WK24] a follower that cannot be opened leaves nothing behind', async () => {
  const { table } = await tableWithLog(1);
  await expect(table.follow({ pollMs: -1 })).rejects.toMatchObject({ code: 'USAGE' });
  await expect(table.follow({ channel: 'no channel' })).rejects.toMatchObject({ code: 'USAGE' });
  expect(table.clock.nextDueMs()).toBe(undefined);
});

test('[WK24] a closed follower calls back no more, and a listener that throws costs nobody else anything', async () => {
  const { table, bodies, server } = await tableWithLog(3);
  const seen: number[] = [];
  const uncaught = await uncaughtDuring(async () => {
    table.store.bodies.splice(bodies.length - 2);
    const replica = await table.follow();
    replica.onChange(() => {
      throw new Error('a listener broke');
    });
    replica.onChange((space) => seen.push(space.revision));
    server.announce(encodeAnnouncement(bodies.length - 1, bodies.at(-2) as string));
    await table.rest();
    await replica.close();
    server.announce(encodeAnnouncement(bodies.length, bodies.at(-1) as string));
    replica.poke();
    await table.pass(2_000, 500);
  });
  expect(uncaught).toMatchObject([{ message: 'a listener broke' }]);
  expect(seen).toEqual([3]);
  expect(table.clock.nextDueMs()).toBe(undefined);
});
