import { setImmediate as nextTurn } from 'node:timers/promises';
import { actionKey } from '@oplus/agent';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commitOrder } from './commit-order.ts';
import { withBoardTeam } from './testing/board.ts';

/** What each agent proposes in its turn: something it may do or not, with an action or without, and how late it hears of its verdict. */
const turn = fc.record({ isAllowed: fc.boolean(), isActing: fc.boolean(), lateTurns: fc.nat({ max: 4 }) });

test('[TM1] actions run in the order of the log, once each, however late their agents hear of their verdicts', async () => {
  const seen = { committed: 0, rejected: 0, overtaken: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(turn, { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 4 }), async (rounds) => {
      await withBoardTeam(async (team) => {
        const order = commitOrder(team.replica);
        const due: string[] = [];
        const asked: string[] = [];
        const ran: string[] = [];
        team.replica.onChange((_, sealed) => {
          for (const { admitted, verdict } of sealed?.decided ?? []) {
            if (verdict.kind === 'rejected' || admitted.proposal.action === undefined) continue;
            due.push(`${actionKey('board', admitted.proposal)} at r${verdict.revision}`);
          }
        });
        const results = await Promise.all(
          team.workers.map(async (worker, i) => {
            const results: string[] = [];
            let n = 0;
            for (const { isAllowed, isActing, lateTurns } of rounds.map((round) => round[i] as (typeof round)[number])) {
              const view = await worker.view();
              const patch = { [isAllowed ? 'done' : 'budget']: { inc: 1 } };
              const verdict = await view.propose({ patch, ...(isActing ? { action: { name: 'move', args: {} } } : {}) });
              n += 1;
              seen[verdict.kind === 'committed' ? 'committed' : 'rejected'] += 1;
              if (verdict.kind !== 'committed' || !isActing) continue;
              for (let late = 0; late < lateTurns; late += 1) await nextTurn();
              const key = actionKey('board', { agent: worker.agent, n });
              asked.push(key);
              results.push(
                await order.run(key, (revision) => {
                  ran.push(`${key} at r${revision}`);
                  return `${key} at r${revision}`;
                }),
              );
            }
            return results;
          }),
        );
        order.close();
        expect(ran).toEqual(due);
        expect(results.flat().toSorted()).toEqual(due.toSorted());
        if (asked.some((key, i) => !(due[i] as string).startsWith(`${key} `))) seen.overtaken += 1;
      });
    }),
    { numRuns: 60 },
  );
  expect(seen.committed).toBeGreaterThan(100);
  expect(seen.rejected).toBeGreaterThan(50);
  expect(seen.overtaken).toBeGreaterThan(10);
});
