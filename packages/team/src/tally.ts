/**
 * What a run's log and prompts add up to.
 */
import type { StepResult } from '@oplus/agent';
import type { Sealed, Space } from '@oplus/core';
import type { Replica } from '@oplus/protocol';

/**
 * `repaired` counts steps that were refused at least once and then committed. `concurrent` counts committed proposals that had
 * not seen another commit which stands before them: merged side by side. Tokens are those of prompts: a step is one turn of
 * the loop, one prompt; an event takes one step, and one more for every repair.
 */
export type RunTally = {
  readonly proposals: number;
  readonly committed: number;
  readonly rejected: number;
  readonly repaired: number;
  readonly stalled: number;
  readonly concurrent: number;
  readonly tokens: TokenTally;
};

export type TokenTally = {
  readonly total: number;
  readonly perStepMean: number;
  readonly perStepMax: number;
  readonly perEventMean: number;
  readonly perEventMax: number;
};

export type Tally = {
  step(result: StepResult): void;
  read(): RunTally;
  close(): void;
};

/** Follows a replica from now on. */
export function tallyOf(replica: Replica): Tally {
  const counts = { proposals: 0, committed: 0, rejected: 0, repaired: 0, stalled: 0, concurrent: 0 };
  const tokens = { total: 0, steps: 0, stepMax: 0, events: 0, eventMax: 0 };
  const end = replica.onChange((_space: Space, sealed: Sealed | undefined) => {
    let committedBefore = 0;
    for (const { admitted, verdict } of sealed?.decided ?? []) {
      counts.proposals += 1;
      if (verdict.kind === 'rejected') {
        counts.rejected += 1;
        continue;
      }
      counts.committed += 1;
      if (committedBefore > 0 || admitted.proposal.base.revision < verdict.revision - 1) counts.concurrent += 1;
      committedBefore += 1;
    }
  });
  return {
    step: (result) => {
      const steps = result.attempts.map((attempt) => attempt.tokens.total);
      const eventTotal = steps.reduce((sum, count) => sum + count, 0);
      tokens.total += eventTotal;
      tokens.steps += steps.length;
      tokens.stepMax = Math.max(tokens.stepMax, ...steps);
      tokens.events += 1;
      tokens.eventMax = Math.max(tokens.eventMax, eventTotal);
      if (result.outcome === 'stalled') counts.stalled += 1;
      else if (result.attempts.length > 1) counts.repaired += 1;
    },
    read: () => ({
      ...counts,
      tokens: {
        total: tokens.total,
        perStepMean: mean(tokens.total, tokens.steps),
        perStepMax: tokens.stepMax,
        perEventMean: mean(tokens.total, tokens.events),
        perEventMax: tokens.eventMax,
      },
    }),
    close: end,
  };
}

function mean(total: number, count: number): number {
  return count === 0 ? 0 : Math.round(total / count);
}
