/** Sessions whose name is taken over on a bus that lets the newest of one name hear alone. */
import { expect, test } from 'vitest';
import { SPACE, Table } from './table.ts';

const INC = { patch: { done: { inc: 1 } } };

test('[WK5] a session whose bus lets a younger one hear alone ends with FENCED: with an answer open, proposing, leaving, joining', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const older = await table.join(replica, 'ann');
  table.passing = (way, body) => (way === 'up' && body.includes('"inc":7') ? 0 : 1);
  const open = older.newest().propose({ patch: { done: { inc: 7 } } });
  const idle = await table.join(replica, 'bob');
  const [younger] = [
    await table.join(replica, 'ann', { session: 'ann-2' }),
    await table.join(replica, 'bob', { session: 'bob-2' }),
  ];
  open.catch(() => undefined);
  await table.pass(500);
  await expect(open).rejects.toMatchObject({ code: 'FENCED' });
  await expect(idle.newest().propose(INC)).rejects.toMatchObject({ code: 'FENCED' });
  await idle.leave();
  expect(await younger.newest().propose(INC)).toMatchObject({ kind: 'committed' });
  const joining = [table.join(replica, 'cy', { session: 'cy-1' }), table.join(replica, 'cy', { session: 'cy-2' })];
  const settled = Promise.allSettled(joining);
  await table.pass(3_000);
  expect((await settled).map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await coordinator.close();
});
