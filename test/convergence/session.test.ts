/** The worker's shell: sessions over a bus that loses, doubles and delays. */
import { OplusError, readRecord, stateJson } from '@oplus/core';
import type { Proposal } from '@oplus/core';
import { expect, test } from 'vitest';
import { SCHEMA, SPACE, stateOf, Table, uncaughtDuring } from './table.ts';

/** The proposals of the log, in order. */
function proposalsOf(table: Table): readonly Proposal[] {
  return table.store.bodies.flatMap((body, i) =>
    readRecord(body, i + 1).entries.flatMap(({ members }) =>
      members.flatMap((member) => ('proposal' in member ? [member.proposal] : [])),
    ),
  );
}

const INC = { patch: { done: { inc: 1 } } };

test('[WK1] what is not answered is said again after 250, 500, 1,000 and then every 2,000 ms', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  const saidAt: number[] = [];
  const startMs = table.clock.nowMs();
  table.passing = (way) => {
    if (way === 'up') saidAt.push(table.clock.nowMs() - startMs);
    return way === 'up' && saidAt.length < 7 ? 0 : 1;
  };
  const answer = worker.newest().propose(INC);
  await table.rest();
  await table.pass(8_000, 250);
  expect(await answer).toMatchObject({ kind: 'committed' });
  expect(saidAt).toEqual([0, 250, 750, 1_750, 3_750, 5_750, 7_750]);
  expect(proposalsOf(table).map(({ n }) => n)).toEqual([1]);
  await coordinator.close();
});

test('[WK1][SURPRISE 23] a verdict that is lost is asked for again, and nothing is committed twice', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const worker = await table.join(replica, 'ann');
  let lostCount = 0;
  table.passing = (way) => (way === 'down' && (lostCount += 1) <= 3 ? 0 : 2);
  const answer = worker.newest().propose(INC);
  await table.pass(2_000, 250);
  expect(await answer).toEqual({ kind: 'committed', revision: 2 });
  expect(stateJson(replica.space())['done']).toBe(1);
  await coordinator.close();
});

test('[WK1] when another coordinator takes over, it hears at once what the one before left unanswered', async () => {
  const table = new Table();
  const first = await table.lead();
  const replica = await table.follow();
  const worker = await table.join(replica, 'ann');
  table.faults.append = () => new Promise(() => undefined);
  const answer = worker.newest().propose(INC);
  await table.rest();
  table.faults.append = undefined;
  const second = await table.lead();
  await table.rest();
  expect(await stateOf(answer)).toBe('resolved');
  expect([await answer, table.clock.nowMs()]).toMatchObject([{ kind: 'committed' }, 0]);
  await worker.close();
  await replica.close();
  await second.close();
  first.close().catch(() => undefined);
});

test('[WK2] proposals of one worker wait for each other and keep their order', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  const view = worker.newest();
  let upCount = 0;
  table.passing = (way) => {
    if (way === 'up') upCount += 1;
    return 1;
  };
  const answers = [1, 2, 3, 4].map((i) => view.propose({ patch: { by: { at: { [`k${i}`]: { inc: i } } } } }));
  await Promise.resolve();
  await Promise.resolve();
  expect(upCount).toBe(1);
  expect((await Promise.all(answers)).map((answer) => answer.kind)).toEqual(['committed', 'committed', 'committed', 'committed']);
  expect(proposalsOf(table).map(({ n, patch }) => [n, Object.keys((patch['by'] as { readonly at: object }).at)])).toEqual(
    [1, 2, 3, 4].map((i) => [i, [`k${i}`]]),
  );
  await coordinator.close();
});

test('[WK3][SURPRISE 26] a view waits for the announcement when the verdict came first', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = await table.follow({ pollMs: 10_000 });
  const worker = await table.join(replica, 'ann');
  const lost = new Set(['announcement']);
  table.passing = (way) => (lost.has(way) ? 0 : 1);
  expect(await worker.newest().propose(INC)).toMatchObject({ revision: 2 });
  const view = worker.view();
  expect(await stateOf(view)).toBe('pending');
  expect(stateJson(worker.newest().space)['done']).toBe(0);
  await table.pass(100);
  expect(stateJson((await view).space)['done']).toBe(1);
  await worker.close();
  await replica.close();
  await coordinator.close();
  expect(table.clock.nextDueMs()).toBe(undefined);
});

test('[WK3] a view that was announced before the verdict is there at once', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = await table.follow();
  const worker = await table.join(replica, 'ann');
  table.passing = (way) => (way === 'down' ? 0 : 1);
  const answer = worker.newest().propose(INC);
  await table.rest();
  expect([await stateOf(answer), stateJson((await worker.view()).space)['done']]).toEqual(['pending', 1]);
  table.passing = () => 1;
  await table.pass(500);
  expect(await answer).toMatchObject({ revision: 2 });
  expect((await worker.view()).space.revision).toBe(2);
  await worker.close();
  await replica.close();
  await coordinator.close();
});

test('[WK3] viewAfter waits for a newer revision, by whomever', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const [ann, bob] = [await table.join(replica, 'ann'), await table.join(replica, 'bob')];
  const view = await ann.view();
  const next = ann.viewAfter(view);
  expect(await stateOf(next)).toBe('pending');
  await bob.newest().propose(INC);
  expect((await next).space.revision).toBe(view.space.revision + 1);
  await table.pass(400);
  await Promise.all([ann.close(), bob.close()]);
  expect(table.clock.nextDueMs()).toBe(undefined);
  await coordinator.close();
});

test('[WK4] a welcome that is lost is said again to the same session', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  let lostCount = 0;
  table.passing = (way) => (way === 'down' && (lostCount += 1) <= 2 ? 0 : 1);
  const joining = table.join(replica, 'ann');
  await table.pass(1_000);
  const worker = await joining;
  expect(await worker.newest().propose(INC)).toMatchObject({ kind: 'committed' });
  expect(proposalsOf(table)).toMatchObject([{ incarnation: 1, n: 1 }]);
  await coordinator.close();
});

test('[WK5][SURPRISE 9] of two live sessions of one name the younger goes on, and nothing more of the older one counts', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const older = await table.join(replica, 'ann');
  await older.newest().propose(INC);
  table.passing = (way, body) => (way === 'up' && body.includes('"inc":7') ? 0 : 1);
  const open = older.newest().propose({ patch: { done: { inc: 7 } } });
  open.catch(() => undefined);
  const younger = await table.join(replica, 'ann', { session: 'ann-2' });
  await table.rest();
  expect(await younger.newest().propose(INC)).toMatchObject({ kind: 'committed' });
  table.passing = () => 1;
  await table.pass(500);
  expect(proposalsOf(table).map(({ incarnation, n }) => [incarnation, n])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(stateJson(replica.space())['done']).toBe(2);
  await older.close();
  await coordinator.close();
});

test('[WK8] a proposal carries the view that it was made on', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const [ann, bob] = [await table.join(replica, 'ann'), await table.join(replica, 'bob')];
  const view = await ann.view();
  const { revision, head } = view.space;
  await bob.newest().propose({ patch: { lead: { set: 'bob' } } });
  expect(await view.propose({ patch: { lead: { set: 'ann' } } })).toMatchObject({
    kind: 'rejected',
    issues: [{ path: '/lead', code: 'conflict', by: 'bob' }],
  });
  expect(proposalsOf(table)[1]?.base).toEqual({ revision, digest: head.slice(0, 16) });
  expect(Object.keys(view).toSorted()).toEqual(['pass', 'project', 'propose', 'rehearse', 'space']);
  await coordinator.close();
});

test('[WK9] what repeats the view is left out, and a patch of nothing else is answered too', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  await worker.newest().propose({ patch: { lead: { set: 'ann' }, done: { inc: 2 } } });
  const view = await worker.view();
  await view.propose({ patch: { lead: { set: 'ann' }, budget: { inc: 1 } } });
  await (await worker.view()).propose({ patch: { lead: { set: 'ann' } } });
  await (await worker.view()).propose({ patch: { lead: { set: 'ann' } }, action: { name: 'wait', args: {} } });
  expect(proposalsOf(table).map(({ patch }) => patch)).toEqual([
    { lead: { set: 'ann' }, done: { inc: 2 } },
    { budget: { inc: 1 } },
    { lead: { set: 'ann' } },
    {},
  ]);
  await coordinator.close();
});

test('[WK10] a pass that is lost is said again, and no longer once the round is over', async () => {
  const table = new Table();
  const coordinator = await table.lead({ barrier: { agents: 2 } });
  const replica = coordinator.replica(SPACE);
  const [ann, bob] = await Promise.all([table.join(replica, 'ann'), table.join(replica, 'bob')]);
  let passCount = 0;
  table.passing = (way, body) => {
    if (way === 'up' && body.includes('"pass"')) passCount += 1;
    return way === 'up' && body.includes('"pass"') && passCount < 3 ? 0 : 1;
  };
  const answer = ann.newest().propose(INC);
  await bob.newest().pass();
  await table.pass(700);
  expect(await stateOf(answer)).toBe('pending');
  await table.pass(100);
  expect(await answer).toMatchObject({ kind: 'committed' });
  await table.pass(5_000, 500);
  expect(passCount).toBe(3);
  await coordinator.close();
});

test('[WK11] leave waits for the answer, resolves when it is in the log, and may be said twice', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const worker = await table.join(replica, 'ann');
  const view = worker.newest();
  let lostCount = 0;
  table.passing = (way, body) => (way === 'down' && body.includes('"left"') && (lostCount += 1) <= 1 ? 0 : 1);
  const answer = view.propose(INC);
  const leaving = [worker.leave(), worker.leave()];
  const late = view.propose(INC);
  late.catch(() => undefined);
  expect(await answer).toMatchObject({ kind: 'committed' });
  await table.pass(500);
  await Promise.all([...leaving, worker.leave(), worker.close()]);
  await expect(late).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  await expect(worker.view()).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  expect(table.store.bodies.filter((body) => body.includes('"leave"')).length).toBe(1);
  expect(table.clock.nextDueMs()).toBe(undefined);
  await coordinator.close();
});

test('[WK12] close ends whatever waits, without a word and without a timer', async () => {
  const uncaught = await uncaughtDuring(async () => {
    const table = new Table();
    const coordinator = await table.lead();
    const worker = await table.join(coordinator.replica(SPACE), 'ann');
    const upBefore: string[] = [];
    table.passing = (way, body) => {
      if (way === 'up') upBefore.push(body);
      return way === 'up' ? 0 : 1;
    };
    const view = worker.newest();
    const waiting = [view.propose(INC), view.propose(INC), worker.viewAfter(view)];
    const settled = Promise.allSettled(waiting);
    await table.rest();
    await Promise.all([worker.close(), worker.close()]);
    expect((await settled).map((one) => one.status === 'rejected' && (one.reason as OplusError).code)).toEqual(
      Array.from({ length: 3 }, () => 'TRANSPORT_CLOSED'),
    );
    expect(table.clock.nextDueMs()).toBe(undefined);
    await table.pass(3_000, 500);
    expect(upBefore.length).toBe(1);
    await coordinator.close();
  });
  expect(uncaught).toEqual([]);
});

test('[WK13] a hello that is refused says why, and leaves nothing behind', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const schema = { ...SCHEMA, id: '0'.repeat(16) };
  const elsewhere = { ...replica, space: () => ({ ...replica.space(), name: 'other' }) };
  const foreign = { ...replica, space: () => ({ ...replica.space(), schema }) };
  await expect(table.join(replica, 'Ann')).rejects.toMatchObject({ code: 'USAGE' });
  await expect(table.join(replica, 'ann', { session: 'S 1' })).rejects.toMatchObject({ code: 'USAGE' });
  await expect(table.join(replica, 'ann', { role: 'boss' })).rejects.toMatchObject({
    code: 'USAGE',
    hint: 'The roles are agent.',
  });
  await expect(table.join(elsewhere, 'ann')).rejects.toMatchObject({ code: 'USAGE' });
  await expect(table.join(foreign, 'ann')).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
  expect(table.clock.nextDueMs()).toBe(undefined);
  await coordinator.close();
});

test('[WK13] a signal ends the wait for a welcome, and is nothing to a session that has one', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const control = new AbortController();
  const worker = await table.join(replica, 'bob', { signal: control.signal });
  await coordinator.close();
  const waiting = table.join({ ...replica, failure: () => undefined }, 'ann', { signal: control.signal });
  waiting.catch(() => undefined);
  await table.pass(3_000, 500);
  expect(await stateOf(waiting)).toBe('pending');
  control.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(table.join(replica, 'ann', { signal: control.signal })).rejects.toThrow('enough');
  await worker.close();
  expect(table.clock.nextDueMs()).toBe(undefined);
});

test('[WK14] a draft that JSON cannot say is refused, and the session goes on', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  const view = worker.newest();
  const impossible: readonly unknown[] = [
    { done: { inc: undefined } },
    { done: { inc: Number.NaN } },
    { lead: { set: () => 1 } },
    { lead: { set: 1n } },
  ];
  for (const patch of impossible) await expect(view.propose({ patch: patch as never })).rejects.toMatchObject({ code: 'USAGE' });
  expect(await view.propose({ patch: { lead: { set: '\ud83d' } } })).toMatchObject({
    kind: 'refused',
    issues: [{ code: 'string' }],
  });
  expect(await view.propose({ patch: { by: { at: { [`k${'x'.repeat(70_000)}`]: { inc: 1 } } } } })).toMatchObject({
    kind: 'refused',
    issues: [{ code: 'too_large' }],
  });
  expect(await view.propose(INC)).toEqual({ kind: 'committed', revision: 2 });
  await coordinator.close();
});

test('[WK15] a replica that has failed ends views, answers and welcomes with its error', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const failure = new OplusError('LOG_DIVERGED', 'the replica failed');
  let hasFailed = false;
  const listeners = new Set<() => void>();
  const own = coordinator.replica(SPACE);
  const replica = {
    ...own,
    failure: () => (hasFailed ? failure : undefined),
    onChange: (listener: Parameters<typeof own.onChange>[0]) => {
      const call = (): void => listener(own.space(), undefined);
      listeners.add(call);
      const end = own.onChange(listener);
      return () => {
        listeners.delete(call);
        end();
      };
    },
  };
  const worker = await table.join(replica, 'ann');
  table.passing = (way) => (way === 'up' ? 0 : 1);
  const joining = table.join(replica, 'bob');
  const answer = worker.newest().propose(INC);
  const next = worker.viewAfter(worker.newest());
  const settled = Promise.allSettled([joining, answer, next]);
  await table.rest();
  hasFailed = true;
  for (const call of listeners) call();
  await table.pass(300);
  for (const one of await settled) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'LOG_DIVERGED' } });
  await expect(worker.view()).rejects.toMatchObject({ code: 'LOG_DIVERGED' });
  expect(table.clock.nextDueMs()).toBe(undefined);
  await coordinator.close();
});
