import type { Attempt, StepResult } from '@oplus/agent';
import { expect, test } from 'vitest';
import { tallyOf } from './tally.ts';
import type { Team } from './team.ts';
import { withBoardTeam } from './testing/board.ts';

type Worker = Team['workers'][number];
type View = Awaited<ReturnType<Worker['view']>>;

/** Proposes on a view that was taken before: what an agent may do, or what it may not. */
async function propose(view: View, isAllowed = true): Promise<string> {
  return (await view.propose({ patch: { [isAllowed ? 'done' : 'budget']: { inc: 1 } } })).kind;
}

test('[TM30] proposals, committed and rejected are those of the log', async () => {
  await withBoardTeam(async (team) => {
    const tally = tallyOf(team.replica);
    const [a, b] = team.workers as readonly [Worker, Worker];
    expect(await propose(await a.view())).toBe('committed');
    expect(await propose(await a.view(), false)).toBe('rejected');
    // Refused by the gate: it never was a proposal.
    const huge = { cards: { at: { c1: { set: 'x'.repeat(200_000) } } } };
    expect(await (await b.view()).propose({ patch: huge })).toMatchObject({ kind: 'refused' });
    expect(tally.read()).toMatchObject({ proposals: 2, committed: 1, rejected: 1 });
    tally.close();
    await propose(await b.view());
    expect(tally.read()).toMatchObject({ proposals: 2 });
  });
});

test('[TM31] concurrent are the committed proposals that had not seen another commit before them', async () => {
  await withBoardTeam(async (team) => {
    const tally = tallyOf(team.replica);
    const [a, b, c] = team.workers as readonly [Worker, Worker, Worker];
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
    await propose(await a.view());
    await propose(old);
    expect(tally.read()).toMatchObject({ committed: 7, concurrent: 3 });
    // On a view that has missed a refusal and a departure: there is no commit that it has not seen.
    const blind = await a.view();
    expect(await propose(await b.view(), false)).toBe('rejected');
    await c.leave();
    expect(await propose(blind)).toBe('committed');
    expect(tally.read()).toMatchObject({ committed: 8, concurrent: 3 });
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
    expect(tally.read().tokens).toEqual({
      prompts: 0,
      total: 0,
      perStepMean: 0,
      perStepMax: 0,
      firstPromptMax: 0,
      repairPromptMax: 0,
      perEventMean: 0,
      perEventMax: 0,
    });
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
      firstPromptMax: 101,
      repairPromptMax: 130,
      perEventMean: 167,
      perEventMax: 300,
    });
  });
});
