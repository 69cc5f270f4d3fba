import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openStage } from './stage.ts';
import { openTeam } from './team.ts';
import type { TeamOptions } from './team.ts';
import { boardSchema, withBoardTeam } from './testing/board.ts';
import { recordsOf } from './testing/play.ts';

async function optionsOf(
  over: Partial<TeamOptions> = {},
): Promise<TeamOptions & { readonly stage: Awaited<ReturnType<typeof openStage>> }> {
  const stage = await openStage({ kind: 'memory' });
  const agents = ['ann', 'bob'].map((name) => ({ name, role: 'agent' }));
  return { space: 'board', schema: boardSchema, agents, session: 's', nonce: '', isBarrier: false, ...over, stage };
}

test.each([false, true])('[TM50] everybody joins, and leaves in the log (barrier %s)', async (isBarrier) => {
  const options = await optionsOf({ isBarrier });
  const team = await openTeam(options);
  expect(team.workers.map(({ agent }) => agent)).toEqual(['ann', 'bob']);
  await team.leave();
  await team.close();
  await team.close();
  const log = (await recordsOf(options.stage.log)).join('\n');
  expect(log.match(/"kind":"join"/g)).toHaveLength(2);
  expect(log.match(/"kind":"leave"/g)).toHaveLength(2);
  await options.stage.close();
});

test.each([false, true])(
  '[TM51] when one cannot join, nobody stays, and the reason is thrown (barrier %s)',
  async (isBarrier) => {
    const agents = [
      { name: 'ann', role: 'agent' },
      { name: 'bob', role: 'nobody' },
      { name: 'cem', role: 'agent' },
    ];
    const options = await optionsOf({ isBarrier, agents });
    await expect(openTeam(options)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('role') });
    // The channel is free again.
    const server = await options.stage.coordinatorBus.serve('main', () => undefined);
    await server.close();
    await options.stage.close();
  },
);

test('[TM50] a closed team proposes nothing, and who waits is told', async () => {
  await withBoardTeam(async (team) => {
    const [worker] = team.workers;
    const view = worker?.newest();
    await team.close();
    await nextTurn();
    await expect(view?.propose({ patch: { done: { inc: 1 } } })).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
    await expect(team.leave()).resolves.toBeUndefined();
  });
});

test('[TM51] two agents of one name are refused before anybody joins', async () => {
  const agents = [
    { name: 'ann', role: 'agent' },
    { name: 'ann', role: 'agent' },
  ];
  const options = await optionsOf({ agents });
  await expect(openTeam(options)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('ann') });
  expect(await options.stage.log.tail()).toBe(0);
  await options.stage.close();
});
