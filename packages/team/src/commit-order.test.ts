import { setImmediate as nextTurn } from 'node:timers/promises';
import { actionKey } from '@oplus/agent';
import { expect, test } from 'vitest';
import { commitOrder } from './commit-order.ts';
import type { Team } from './team.ts';
import { withBoardTeam } from './testing/board.ts';

/** Proposes one increment with an action, and gives the key of it. */
async function committedKey(team: Team, i: number): Promise<string> {
  const worker = team.workers[i] as Team['workers'][number];
  const answer = await (await worker.view()).propose({ patch: { done: { inc: 1 } }, action: { name: 'move', args: {} } });
  expect(answer.kind).toBe('committed');
  return actionKey('board', { agent: worker.agent, n: 1 });
}

test('[TM1] a job that throws fails alone', async () => {
  await withBoardTeam(async (team) => {
    const order = commitOrder(team.replica);
    const [first, second] = [await committedKey(team, 0), await committedKey(team, 1)];
    const after = order.run(second, () => 'second');
    const before = order.run(first, () => {
      throw new Error('the first');
    });
    await expect(before).rejects.toThrow('the first');
    expect(await after).toBe('second');
  });
});

test('[TM2] behind an action that nobody will run no other runs, and whoever waits is told why', async () => {
  await withBoardTeam(async (team) => {
    const order = commitOrder(team.replica);
    await committedKey(team, 0);
    const second = await committedKey(team, 1);
    let hasRun = false;
    const waiting = order.run(second, () => {
      hasRun = true;
    });
    order.abandon('c', new Error('c is gone, and owes nothing'));
    await nextTurn();
    order.abandon('a', new Error('a is gone'));
    await expect(waiting).rejects.toThrow('a is gone');
    const third = await committedKey(team, 2);
    await expect(order.run(third, () => undefined)).rejects.toThrow('a is gone');
    expect(hasRun).toBe(false);
  });
});

test('[TM2] an agent that is gone before its commit is missed as soon as its action is due', async () => {
  await withBoardTeam(async (team) => {
    const order = commitOrder(team.replica);
    order.abandon('a', new Error('a is gone'));
    const first = await committedKey(team, 1);
    expect(await order.run(first, (revision) => revision)).toBe(team.replica.space().revision);
    await committedKey(team, 0);
    const third = await committedKey(team, 2);
    await expect(order.run(third, () => undefined)).rejects.toThrow('a is gone');
  });
});

test('[TM3] when the coordinator ends, whoever waits for its turn is told', async () => {
  await withBoardTeam(async (team) => {
    const order = commitOrder(team.replica);
    await committedKey(team, 0);
    const waiting = order.run(await committedKey(team, 1), () => undefined);
    void team.coordinator.close();
    await expect(waiting).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  });
});
