/** Rehearsals over real shells: what would come of a draft, and nothing comes of it. */
import { stateJson, trieAt } from '@oplus/core';
import { expect, test } from 'vitest';
import { SPACE, Table } from './table.ts';

const INC = { patch: { done: { inc: 1 } } };

test('[WK17] a rehearsal tells what would come of a draft, in turn with proposals, and nothing comes of it', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const [ann, bob] = [await table.join(replica, 'ann'), await table.join(replica, 'bob')];
  const view = await ann.view();
  const records = table.store.bodies.length;
  const spend = { patch: { budget: { inc: 2 } } };
  expect(await view.rehearse(spend)).toMatchObject({ kind: 'committed' });
  expect(await view.rehearse({ patch: { budget: { inc: 4 } } })).toMatchObject({ kind: 'rejected', issues: [{ code: 'bound' }] });
  expect(await view.rehearse({ patch: { nothing: { of: 'ours' } } })).toMatchObject({ issues: [{ code: 'schema' }] });
  expect((await ann.view()).space).toBe(view.space);
  expect(table.store.bodies.length).toBe(records);
  await (await bob.view()).propose(spend);
  const [rehearsed, proposed, again] = await Promise.all([view.rehearse(spend), view.propose(INC), view.rehearse(INC)]);
  expect(rehearsed).toMatchObject({ kind: 'rejected', issues: [{ code: 'bound' }] });
  expect([proposed, again]).toMatchObject([{ kind: 'committed' }, { kind: 'committed' }]);
  expect(['ann', 'bob'].map((agent) => trieAt(replica.space().agents, agent)?.n)).toEqual([1, 1]);
  expect(stateJson(replica.space())).toMatchObject({ budget: 2, done: 1 });
  await coordinator.close();
});

test('[WK17] a rehearsal is said again until it is answered, and rejects when the session ends', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  let upCount = 0;
  table.passing = (way) => (way === 'up' && (upCount += 1) < 3 ? 0 : 1);
  const answer = worker.newest().rehearse(INC);
  await table.pass(1_000, 250);
  expect([await answer, upCount]).toMatchObject([{ kind: 'committed' }, 3]);
  table.passing = () => 0;
  const lost = worker.newest().rehearse(INC);
  await table.rest();
  const closed = worker.close();
  await expect(lost).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  await closed;
  await coordinator.close();
});
