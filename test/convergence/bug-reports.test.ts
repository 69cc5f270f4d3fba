/** Public bug reports about shared agent state, restated: those that speak of processes, replays, fencing, sessions or isolation. */
import { cas, counter, foldRecord, emptyShard, loadState, log, map, records, stateJson } from '@oplus/core';
import type { Fields, JsonObject, Space, StateSchema } from '@oplus/core';
import type { Coordinator } from '@oplus/coordinator';
import { sha256 } from '@oplus/protocol';
import type { Worker } from '@oplus/worker';
import { z } from 'zod';
import { expect, test } from 'vitest';
import { SPACE, stateOf, Table } from './table.ts';

const text = z.string().max(40);

type Room = {
  readonly table: Table;
  readonly schema: StateSchema;
  readonly coordinator: Coordinator;
  readonly workers: readonly [Worker, Worker, ...Worker[]];
  /** What the fields hold now. */
  now(): JsonObject;
  space(): Space;
};

/** A coordinator and workers a, b, c, ... on a space with these fields. */
async function roomWith(fields: Fields, workerCount = 2): Promise<Room> {
  const schema = loadState({ name: 'trial', version: 1, fields }, sha256);
  const table = new Table();
  const coordinator = await table.lead({ schemas: new Map([[SPACE, schema]]) });
  const replica = coordinator.replica(SPACE);
  const names = Array.from({ length: workerCount }, (_, i) => String.fromCodePoint(97 + i));
  const workers = (await Promise.all(names.map((name) => table.join(replica, name)))) as [Worker, Worker, ...Worker[]];
  return { table, schema, coordinator, workers, now: () => stateJson(replica.space()), space: () => replica.space() };
}

/** The state after each record of the log, folded anew. */
function replayed({ table, schema }: Room): readonly JsonObject[] {
  let shard = emptyShard(new Map([[SPACE, schema]]));
  return table.store.bodies.map((body, i) => {
    ({ shard } = foldRecord(shard, i + 1, body));
    return stateJson(shard.spaces.get(SPACE) as Space);
  });
}

test('[CO5][BUG 7] two processes that hold one revision and both append: one history, and one of them is told', async () => {
  const { table, schema, coordinator, workers, now } = await roomWith({ count: counter() });
  const [a] = workers;
  const second = await table.lead({ schemas: new Map([[SPACE, schema]]) });
  const answer = a.newest().propose({ patch: { count: { inc: 1 } } });
  expect(await coordinator.ended).toMatchObject({ code: 'FENCED' });
  expect(await answer).toMatchObject({ kind: 'committed' });
  expect(stateJson(second.replica(SPACE).space())).toEqual({ count: 1 });
  expect([now(), await stateOf(second.ended)]).toEqual([{ count: 0 }, 'pending']);
  await second.close();
});

test('[CO9][BUG 8] a request that is delivered three times makes one version, and its repeats get the first receipt', async () => {
  const room = await roomWith({ count: counter() });
  const verdicts: string[] = [];
  room.table.passing = (way, body) => {
    if (way === 'down') verdicts.push(body);
    return way === 'up' ? 3 : 1;
  };
  const { revision } = room.space();
  await room.workers[0].newest().propose({ patch: { count: { inc: 1 } } });
  await room.table.rest();
  expect([room.now(), room.space().revision]).toEqual([{ count: 1 }, revision + 1]);
  expect(new Set(verdicts).size).toBe(1);
  await room.coordinator.close();
});

test('[CVG2][BUG 16] two requests at the same time on different fields both commit, without a retry', async () => {
  const room = await roomWith({ a: cas(text), b: cas(text) });
  const [a, b] = room.workers.map((worker) => worker.newest());
  const answers = await Promise.all([a?.propose({ patch: { a: { set: 'x' } } }), b?.propose({ patch: { b: { set: 'y' } } })]);
  expect(answers).toMatchObject([{ kind: 'committed' }, { kind: 'committed' }]);
  expect(room.now()).toEqual({ a: 'x', b: 'y' });
  await room.coordinator.close();
});

test('[CO2][BUG 17] ten workers that set a key each on one base take one batch and no retry', async () => {
  const room = await roomWith({ r: map(cas(text), { cap: 20 }) }, 10);
  const views = room.workers.map((worker) => worker.newest());
  const { revision } = room.space();
  const answers = await Promise.all(
    views.map((view, i) => view.propose({ patch: { r: { at: { [`w${i}`]: { set: 'here' } } } } })),
  );
  expect(answers.map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => 'committed'));
  expect([Object.keys(room.now()['r'] as object).length, room.space().revision]).toEqual([10, revision + 1]);
  await room.coordinator.close();
});

test('[WK2][BUG 19] two proposals of one agent within one millisecond commit in its own order; no clock is asked', async () => {
  const room = await roomWith({ x: cas(text), log: log(text, { keep: 5 }) });
  const view = room.workers[0].newest();
  const startMs = room.table.clock.nowMs();
  const answers = await Promise.all(
    ['first', 'second'].map((word) => view.propose({ patch: { x: { set: word }, log: { append: [word] } } })),
  );
  expect(answers).toMatchObject([{ kind: 'committed' }, { kind: 'committed' }]);
  expect([room.now(), room.table.clock.nowMs()]).toEqual([{ x: 'second', log: ['first', 'second'] }, startMs]);
  await room.coordinator.close();
});

test('[CVG2][BUG 22] what an outsider writes between an agent`s view and its proposal has an author, and both stand', async () => {
  const room = await roomWith({ pending: log(text, { keep: 5 }), x: counter() });
  const [agent, outsider] = room.workers;
  const view = agent.newest();
  const { revision } = view.space;
  expect(await outsider.newest().propose({ patch: { pending: { append: ['wait'] } } })).toMatchObject({ revision: revision + 1 });
  expect(await view.propose({ patch: { x: { inc: 1 } } })).toMatchObject({ kind: 'committed', revision: revision + 2 });
  expect(room.now()).toEqual({ pending: ['wait'], x: 1 });
  expect(room.table.store.bodies.at(-2)).toContain('"agent":"b"');
  await room.coordinator.close();
});

test('[WK2][BUG 23] several calls of one turn leave a valid state after each, as in one serial order', async () => {
  const room = await roomWith({ e: records({ name: cas(text), links: counter() }, { cap: 10 }) });
  const view = room.workers[0].newest();
  const calls: readonly JsonObject[] = [
    { put: { a: { name: { set: 'A' } } } },
    { put: { b: { name: { set: 'B' } } } },
    { patch: { a: { links: { inc: 1 } } } },
    { drop: ['b'] },
  ];
  const answers = await Promise.all(calls.map((call) => view.propose({ patch: { e: call } })));
  const states = replayed(room)
    .slice(-4)
    .map(({ e }) => JSON.stringify(e));
  expect(answers.map(({ kind }) => kind)).toEqual(['committed', 'committed', 'committed', 'committed']);
  expect(states).toEqual([
    '{"a":{"links":0,"name":"A"}}',
    '{"a":{"links":0,"name":"A"},"b":{"links":0,"name":"B"}}',
    '{"a":{"links":1,"name":"A"},"b":{"links":0,"name":"B"}}',
    '{"a":{"links":1,"name":"A"}}',
  ]);
  await room.coordinator.close();
});

test('[CVG2][BUG 25] two sessions that create a task at once both have theirs, under ids that the coordinator issued', async () => {
  const room = await roomWith({ tasks: records({ title: cas(text) }, { cap: 10 }) });
  const views = room.workers.map((worker) => worker.newest());
  const answers = await Promise.all(
    views.map((view, i) => view.propose({ patch: { tasks: { add: [{ title: { set: i === 0 ? 'foo' : 'bar' } }] } } })),
  );
  const ids = answers.flatMap((answer) =>
    answer.kind === 'committed'
      ? Object.values(answer.outcomes ?? {}).map((outcome) => ('id' in outcome ? outcome.id : undefined))
      : [],
  );
  const tasks = room.now()['tasks'] as { readonly [id: string]: { readonly title: string } };
  expect(new Set(ids).size).toBe(2);
  expect(ids.map((id) => tasks[id ?? '']?.title)).toEqual(['foo', 'bar']);
  await room.coordinator.close();
});

test('[CVG1][BUG 26] two messages that are appended at once are both there, in the same order on every replay', async () => {
  const room = await roomWith({ inbox: log(text, { keep: 10 }) });
  const views = room.workers.map((worker) => worker.newest());
  await Promise.all(views.map((view, i) => view.propose({ patch: { inbox: { append: [`m${i}`] } } })));
  const { inbox } = room.now();
  expect((inbox as readonly string[]).toSorted()).toEqual(['m0', 'm1']);
  for (let i = 0; i < 3; i += 1) expect(replayed(room).at(-1)).toEqual({ inbox });
  await room.coordinator.close();
});

test('[CO19][BUG 32] three coordinators that meet a damaged log at once say so and write nothing; of three on a sound one, one leads', async () => {
  const room = await roomWith({ count: counter() });
  await room.workers[0].newest().propose({ patch: { count: { inc: 1 } } });
  await room.coordinator.close();
  const schemas = new Map([[SPACE, room.schema]]);
  const { bodies } = room.table.store;
  const sound = [...bodies];
  bodies[1] = (bodies[1] as string).slice(0, -9);
  const damaged = [...bodies];
  const refused = await Promise.allSettled([1, 2, 3].map(() => room.table.lead({ schemas })));
  expect(refused).toMatchObject([1, 2, 3].map(() => ({ status: 'rejected', reason: { code: 'LOG_DAMAGED' } })));
  expect(bodies).toEqual(damaged);
  bodies.splice(0, bodies.length, ...sound);
  const opened = await Promise.allSettled([1, 2, 3].map(() => room.table.lead({ schemas })));
  const led = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const newest = led.toSorted((x, y) => y.term - x.term)[0] as Coordinator;
  const worker = await room.table.join(newest.replica(SPACE), 'c');
  await (await worker.view()).propose({ patch: { count: { inc: 1 } } });
  for (const one of led) if (one !== newest) expect(await one.ended).toMatchObject({ code: 'FENCED' });
  expect([await stateOf(newest.ended), stateJson(newest.replica(SPACE).space())]).toEqual(['pending', { count: 2 }]);
  await newest.close();
});

test('[CO9][BUG 44] the first branch to finish cancels nobody: what comes after the join commits too', async () => {
  const room = await roomWith({ f: cas(text), s: cas(text), joined: cas(text) }, 3);
  const [first, second, joiner] = room.workers.map((worker) => worker.newest());
  await first?.propose({ patch: { f: { set: 'done' } } });
  await joiner?.propose({ patch: { joined: { set: 'yes' } } });
  await room.workers[0].leave();
  expect(await second?.propose({ patch: { s: { set: 'late' } } })).toMatchObject({ kind: 'committed' });
  expect(room.now()).toEqual({ f: 'done', joined: 'yes', s: 'late' });
  await room.coordinator.close();
});

test('[CO10][BUG 46] two teams on one log see nothing of each other', async () => {
  const schema = loadState({ name: 'trial', version: 1, fields: { topic: cas(text) } }, sha256);
  const table = new Table();
  const coordinator = await table.lead({
    schemas: new Map([
      ['x', schema],
      ['y', schema],
    ]),
  });
  const [x, y] = await Promise.all(['x', 'y'].map((space) => table.join(coordinator.replica(space), `${space}-agent`)));
  const follower = await table.follow({ space: 'y', schema });
  expect(await x?.newest().propose({ patch: { topic: { set: 'secret' } } })).toMatchObject({ kind: 'committed' });
  expect(stateJson(coordinator.replica('x').space())).toEqual({ topic: 'secret' });
  for (const space of [(await y?.view())?.space, follower.space()]) expect(stateJson(space as Space)).toEqual({ topic: null });
  await table.pass(1_000, 1_000);
  expect([stateJson(follower.space()), follower.space().agents.size]).toEqual([{ topic: null }, 1]);
  await follower.close();
  await coordinator.close();
});

test('[CO12][BUG 47] a worker that comes again after a crash hears its last verdict instead of running again', async () => {
  const room = await roomWith({ steps: counter() });
  const [a] = room.workers;
  await a.newest().propose({ patch: { steps: { inc: 1 } } });
  await a.close();
  const welcomes: string[] = [];
  room.table.passing = (way, body) => {
    if (way === 'down' && body.includes('"session":"a-2"')) welcomes.push(body);
    return 1;
  };
  const again = await room.table.join(room.coordinator.replica(SPACE), 'a', { session: 'a-2' });
  expect(JSON.parse(welcomes[0] ?? '{}')).toMatchObject({ n: 1, incarnation: 2, verdict: { kind: 'committed' } });
  expect(stateJson((await again.view()).space)).toEqual({ steps: 1 });
  await room.coordinator.close();
});

test('[WK8][BUG 50] a view stays as it was read, whatever is committed afterwards', async () => {
  const room = await roomWith({ count: counter(), r: map(counter(), { cap: 4 }) });
  const view = room.workers[0].newest();
  const before = JSON.stringify(stateJson(view.space));
  for (let i = 0; i < 3; i += 1)
    await room.workers[1].newest().propose({ patch: { count: { inc: 1 }, r: { at: { k: { inc: 1 } } } } });
  expect(JSON.stringify(stateJson(view.space))).toBe(before);
  await room.coordinator.close();
});

test('[WK20][BUG 52] a watcher that misses a revision notices and catches up', async () => {
  const room = await roomWith({ count: counter() });
  const watcher = await room.table.follow({ schema: room.schema });
  let lost = 0;
  room.table.passing = (way) => (way === 'announcement' && (lost += 1) === 1 ? 0 : 1);
  for (let i = 0; i < 2; i += 1) await room.workers[0].newest().propose({ patch: { count: { inc: 1 } } });
  await room.table.rest();
  expect([watcher.space().revision, watcher.space().head]).toEqual([room.space().revision, room.space().head]);
  await watcher.close();
  await room.coordinator.close();
});

test('[CO20][BUG 76] a log that lost an acknowledged record stops the coordinator; nothing is issued under its number', async () => {
  const room = await roomWith({ count: counter() });
  await room.workers[0].newest().propose({ patch: { count: { inc: 1 } } });
  room.table.store.bodies.pop();
  const length = room.table.store.bodies.length;
  room.workers[1]
    .newest()
    .propose({ patch: { count: { inc: 1 } } })
    .catch(() => undefined);
  expect(await room.coordinator.ended).toMatchObject({ code: 'LOG_DAMAGED' });
  expect(room.table.store.bodies.length).toBe(length);
  await Promise.all(room.workers.map((worker) => worker.close()));
});

test('[WK7][CO9][BUG 77] a refused proposal that was mended is judged afresh, identical bytes get the old answer', async () => {
  const room = await roomWith({ x: cas(text) });
  const [sent, heard, lengths]: [string[], string[], number[]] = [[], [], []];
  // The first answer to each proposal is lost, so that the worker says the very same bytes again.
  room.table.passing = (way, body) => {
    if (way === 'up') sent.push(body);
    if (way !== 'down') return 1;
    heard.push(body);
    lengths.push(room.table.store.bodies.length);
    return heard.length % 2 === 1 ? 0 : 1;
  };
  const view = room.workers[0].newest();
  expect(await view.propose({ patch: { x: { set: 'y'.repeat(70_000) } } })).toMatchObject({ kind: 'refused' });
  expect(sent).toEqual([]);
  const answers = ['y'.repeat(50), 'y'].map((value) => view.propose({ patch: { x: { set: value } } }));
  await room.table.pass(1_000, 250);
  expect(await Promise.all(answers)).toMatchObject([{ kind: 'rejected', issues: [{ code: 'bound' }] }, { kind: 'committed' }]);
  const [refused = '', , mended] = sent;
  const [refusal, , receipt] = heard;
  expect([sent, heard]).toEqual([
    [refused, refused, mended, mended],
    [refusal, refusal, receipt, receipt],
  ]);
  expect([refused === mended, lengths[1], lengths[3]]).toEqual([false, lengths[0], lengths[2]]);
  // Once its agent has gone on, the refused bytes are not taken for a new attempt.
  const end = await room.table.bus().attach('main', 'a', () => undefined);
  end.send(refused);
  await room.table.rest();
  expect(heard.slice(4)).toEqual([expect.stringContaining('"replayed"')]);
  expect([room.now(), room.table.store.bodies.length]).toEqual([{ x: 'y' }, lengths[3]]);
  await room.coordinator.close();
});

test('[WK20][BUG 89] announcements that overtake each other never take a reader back', async () => {
  const room = await roomWith({ count: counter() });
  const watcher = await room.table.follow({ schema: room.schema });
  const seen: number[] = [];
  watcher.onChange((space) => seen.push(space.revision));
  const late: string[] = [];
  room.table.passing = (way, body) => {
    if (way === 'announcement') late.push(body);
    return way === 'announcement' ? 0 : 1;
  };
  for (let i = 0; i < 3; i += 1) await room.workers[0].newest().propose({ patch: { count: { inc: 1 } } });
  room.table.passing = () => 1;
  const server = await room.table.bus().serve('main', () => undefined);
  for (const body of late.toReversed()) server.announce(body);
  await room.table.rest();
  expect(seen).toEqual(seen.toSorted((x, y) => x - y));
  expect(watcher.space().revision).toBe(room.space().revision);
  await watcher.close();
  await room.coordinator.close();
});
