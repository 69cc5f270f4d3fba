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

test('[WK1][CO9][SURPRISE 23] siblings whose messages and answers overtake each other are decided in the order of arrival, and each hears its first verdict', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const [one, other] = [await table.join(replica, 'tab-1'), await table.join(replica, 'tab-2')];
  const [mine, theirs] = [one.newest(), other.newest()];
  const heard = new Map<string, string[]>([
    ['tab-1', []],
    ['tab-2', []],
  ]);
  let upCount = 0;
  table.passing = (way, body) => {
    // The first message of the first sibling is lost, so the second one is heard first.
    if (way === 'up') return body.includes('"agent":"tab-1"') && (upCount += 1) === 1 ? 0 : 1;
    if (way !== 'down') return 1;
    const said = heard.get(body.includes('"agent":"tab-1"') ? 'tab-1' : 'tab-2') as string[];
    said.push(body);
    return said.length < 3 ? 0 : 1;
  };
  const first = mine.propose({ patch: { lead: { set: 'tab-1' }, done: { inc: 1 } } });
  const second = theirs.propose({ patch: { lead: { set: 'tab-2' }, done: { inc: 10 } } });
  await table.pass(6_000, 250);
  expect(await second).toMatchObject({ kind: 'committed' });
  expect(await first).toMatchObject({ kind: 'rejected', issues: [{ path: '/lead', code: 'conflict', by: 'tab-2' }] });
  for (const said of heard.values()) expect([said.length, new Set(said).size]).toEqual([3, 1]);
  expect(stateJson(replica.space())).toMatchObject({ lead: 'tab-2', done: 10 });
  await coordinator.close();
});

test('[WK20][CO2][SURPRISE 26] a batch of several agents is one change, also to a follower that missed its announcement', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const late = await table.follow({ pollMs: 1_000 });
  const workers = await Promise.all(['ann', 'bob', 'cy'].map((name) => table.join(replica, name)));
  await table.rest();
  const seen: unknown[] = [];
  for (const one of [replica, late]) one.onChange((space) => seen.push([space.revision, stateJson(space)]));
  const { revision } = replica.space();
  table.passing = (way) => (way === 'announcement' ? 0 : 1);
  const answers = await Promise.all(
    workers.map((worker, i) =>
      worker.newest().propose({ patch: { done: { inc: 1 }, by: { at: { [`k${i}`]: { inc: 1 } } }, budget: { inc: 1 } } }),
    ),
  );
  await table.pass(2_000, 250);
  expect(answers.map(({ kind }) => kind)).toEqual(['committed', 'committed', 'committed']);
  const whole = [revision + 1, { budget: 3, by: { k0: 1, k1: 1, k2: 1 }, done: 3, lead: null }];
  expect(seen).toEqual([whole, whole]);
  await late.close();
  await coordinator.close();
});
