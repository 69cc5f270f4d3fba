/**
 * What a run's log and prompts add up to.
 */
import type { StepResult } from '@oplus/agent';
import type { Sealed, Space } from '@oplus/core';
import type { Replica } from '@oplus/protocol';

/**
 * `repaired` counts steps that were refused at least once and then committed. `concurrent` counts committed proposals that had
 * not seen another commit which stands before them: merged side by side. Tokens are of prompts, one count per step with all
 * its attempts.
 */
export type RunTally = {
  readonly proposals: number;
  readonly committed: number;
  readonly rejected: number;
  readonly repaired: number;
  readonly stalled: number;
  readonly concurrent: number;
  readonly prompts: number;
  readonly tokens: { readonly total: number; readonly perStepMean: number; readonly perStepMax: number; readonly perPromptMax: number };
};

export type Tally = {
  step(result: StepResult): void;
  read(): RunTally;
  close(): void;
};

/** Follows a replica from now on. */
export function tallyOf(replica: Replica): Tally {
  const counts = { proposals: 0, committed: 0, rejected: 0, repaired: 0, stalled: 0, concurrent: 0, prompts: 0, tokens: 0, tokensMax: 0, promptMax: 0, steps: 0 };
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
      const tokens = result.attempts.reduce((sum, attempt) => sum + attempt.tokens.total, 0);
      counts.steps += 1;
      counts.prompts += result.attempts.length;
      counts.tokens += tokens;
      counts.tokensMax = Math.max(counts.tokensMax, tokens);
      for (const attempt of result.attempts) counts.promptMax = Math.max(counts.promptMax, attempt.tokens.total);
      if (result.outcome === 'stalled') counts.stalled += 1;
      else if (result.attempts.length > 1) counts.repaired += 1;
    },
    read: () => {
      const { proposals, committed, rejected, repaired, stalled, concurrent, prompts } = counts;
      const perStepMean = counts.steps === 0 ? 0 : Math.round(counts.tokens / counts.steps);
      return { proposals, committed, rejected, repaired, stalled, concurrent, prompts, tokens: { total: counts.tokens, perStepMean, perStepMax: counts.tokensMax, perPromptMax: counts.promptMax } };
    },
    close: end,
  };
}
