/** Known surprises of systems that merge, as far as they need a coordinator and workers to show. */
import { stateJson } from '@oplus/core';
import type { Log } from '@oplus/protocol';
import { expect, test } from 'vitest';
import { SPACE, stateOf, Table } from './table.ts';

test('[CO12][CO19][SURPRISE 8] nobody is welcomed before the log has been folded, and who waits is then shown all of it', async () => {
  const table = new Table();
  const first = await table.lead();
  const ann = await table.join(first.replica(SPACE), 'ann');
  await (await ann.view()).propose({ patch: { done: { inc: 5 } } });
  await first.close();
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const log = table.log();
  const slow: Log = {
    ...log,
    async *read(from) {
      await gate;
      yield* log.read(from);
    },
  };
  const heard: string[] = [];
  table.passing = (way, body) => {
    if (way === 'down') heard.push(body);
    return 1;
  };
  const opening = table.lead({ log: slow });
  const replica = await table.follow();
  const joining = table.join(replica, 'bob');
  await table.pass(1_000, 250);
  expect([await stateOf(opening), await stateOf(joining), heard]).toEqual(['pending', 'pending', []]);
  goOn();
  const coordinator = await opening;
  await table.pass(2_500, 250);
  const bob = await joining;
  expect(stateJson((await bob.view()).space)).toMatchObject({ done: 5 });
  expect(heard.some((body) => body.includes('"kind":"welcome"'))).toBe(true);
  await replica.close();
  await coordinator.close();
});

test('[WK20][JDG2][SURPRISE 25] a follower is told of a patch of several fields once, with all of them', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = await table.follow();
  const seen: unknown[] = [];
  replica.onChange((space) => seen.push(stateJson(space)));
  const ann = await table.join(coordinator.replica(SPACE), 'ann');
  await (await ann.view()).propose({ patch: { done: { inc: 1 }, lead: { set: 'ann' }, by: { at: { ann: { inc: 1 } } } } });
  await table.rest();
  expect(seen).toEqual([
    { budget: 0, by: {}, done: 0, lead: null },
    { budget: 0, by: { ann: 1 }, done: 1, lead: 'ann' },
  ]);
  await replica.close();
  await coordinator.close();
});
