import type { Attempt, StepResult } from '@oplus/agent';
import type { Verdict } from '@oplus/core';
import { expect, test } from 'vitest';
import { tallyOf } from './tally.ts';
import type { Team } from './team.ts';
import { withBoardTeam } from './testing/board.ts';

/** Proposes on a view that was taken before. */
async function propose(
  view: Awaited<ReturnType<Team['workers'][number]['view']>>,
  card?: string,
): Promise<Verdict['kind'] | 'refused'> {
  const patch = card === undefined ? { done: { inc: 1 } } : { cards: { at: { [card]: { set: `by ${view.space.revision}` } } } };
  return (await view.propose({ patch })).kind;
}

test('[TM30] proposals, committed and rejected are those of the log', async () => {
  await withBoardTeam(async (team) => {
    const tally = tallyOf(team.replica);
    const [a, b] = await Promise.all(team.workers.slice(0, 2).map((worker) => worker.view()));
    if (a === undefined || b === undefined) throw new Error('two views were asked for');
    expect(await propose(a, 'c1')).toBe('committed');
    expect(await b.propose({ patch: { cards: { at: { c1: { set: 'another' } } } } })).toMatchObject({ kind: 'rejected' });
    // Refused by the gate: it never was a proposal.
    expect(await b.propose({ patch: { cards: { at: { c2: { set: 'x'.repeat(200_000) } } } } })).toMatchObject({
      kind: 'refused',
    });
    expect(tally.read()).toMatchObject({ proposals: 2, committed: 1, rejected: 1 });
    tally.close();
    await propose(await (team.workers[2] as Team['workers'][number]).view());
    expect(tally.read()).toMatchObject({ proposals: 2 });
  });
});

test('[TM31] concurrent are the committed proposals that had not seen another commit before them', async () => {
  await withBoardTeam(async (team) => {
    const tally = tallyOf(team.replica);
    const [a, b, c] = team.workers as readonly [Team['workers'][number], Team['workers'][number], Team['workers'][number]];
    const views = await Promise.all([a.view(), b.view(), c.view()]);
    // In one round: the first stands beside nobody, the two others beside it.
    await Promise.all(views.map((view) => propose(view)));
    expect(tally.read()).toMatchObject({ committed: 3, concurrent: 2 });
    // One after the other, each on the newest view: nothing is concurrent.
    await propose(await a.view());
    await propose(await b.view());
    expect(tally.read()).toMatchObject({ committed: 5, concurrent: 2 });
    // On a view that has missed a commit: merged beside it.
    const old = await c.view();
    await propose(await a.view(), 'c1');
    await propose(old);
    expect(tally.read()).toMatchObject({ committed: 7, concurrent: 3 });
    // On a view that has missed a refusal and a departure: there is no commit that it has not seen.
    const stale = await a.view();
    await propose(await b.view(), 'c2');
    const fresh = await a.view();
    expect(await stale.propose({ patch: { cards: { at: { c2: { set: 'late' } } } } })).toMatchObject({ kind: 'rejected' });
    await c.leave();
    const before = tally.read();
    expect(await propose(fresh)).toBe('committed');
    expect(tally.read()).toMatchObject({ committed: before.committed + 1, concurrent: before.concurrent });
  });
});

const attempt = (total: number, kind: 'committed' | 'rejected' | 'passed' | 'unreadable' = 'committed'): Attempt => ({
  tokens: { procedure: 0, state: 0, observation: 0, total },
  end:
    kind === 'committed'
      ? { kind, revision: 1 }
      : kind === 'passed'
        ? { kind }
        : kind === 'rejected'
          ? { kind, revision: 1, issues: [] }
          : { kind, issues: [] },
});

test('[TM32] repaired are the events that were committed after a failed attempt, stalled those given up', async () => {
  await withBoardTeam(async (team) => {
    const tally = tallyOf(team.replica);
    const committed = { outcome: 'committed', verdict: { kind: 'committed', revision: 1 } } as const;
    const results: readonly StepResult[] = [
      { step: 1, attempts: [attempt(1)], ...committed },
      { step: 2, attempts: [attempt(1, 'unreadable'), attempt(1)], ...committed },
      { step: 3, attempts: [attempt(1, 'rejected'), attempt(1, 'passed')], outcome: 'passed' },
      { step: 4, attempts: [attempt(1, 'rejected'), attempt(1, 'rejected')], outcome: 'stalled', issues: [] },
    ];
    for (const result of results) tally.step(result);
    expect(tally.read()).toMatchObject({ repaired: 1, stalled: 1 });
  });
});

test('[TM33] a step is one prompt, an event all of its prompts; means are rounded', async () => {
  await withBoardTeam(async (team) => {
    const tally = tallyOf(team.replica);
    expect(tally.read().tokens).toEqual({ prompts: 0, total: 0, perStepMean: 0, perStepMax: 0, perEventMean: 0, perEventMax: 0 });
    const verdict = { kind: 'committed', revision: 1 } as const;
    tally.step({ step: 1, attempts: [attempt(100)], outcome: 'committed', verdict });
    tally.step({
      step: 2,
      attempts: [attempt(90, 'rejected'), attempt(130, 'rejected'), attempt(80)],
      outcome: 'committed',
      verdict,
    });
    tally.step({ step: 3, attempts: [attempt(101, 'passed')], outcome: 'passed' });
    expect(tally.read().tokens).toEqual({
      prompts: 5,
      total: 501,
      perStepMean: 100,
      perStepMax: 130,
      perEventMean: 167,
      perEventMax: 300,
    });
  });
});
