/**
 * What a run's log and prompts add up to.
 */
import type { StepResult } from '@oplus/agent';
import type { Sealed, Space } from '@oplus/core';
import type { Replica } from '@oplus/protocol';

/**
 * - `proposals`: what the log decided, `committed` and `rejected`.
 * - `concurrent`: committed proposals that had not seen another commit which stands before them: merged side by side.
 * - `repaired`: events that ended in a commit after at least one attempt that was unreadable, refused or rejected.
 * - `stalled`: events that were given up.
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

/**
 * Tokens of prompts. A step is one turn of the loop, one prompt; an event takes one step, and one more for every repair. Means
 * are rounded to whole tokens. A repair has the issues of the attempt before in its prompt, so its largest one is told apart; it is
 * 0 when nothing was repaired.
 */
export type TokenTally = {
  readonly prompts: number;
  readonly total: number;
  readonly perStepMean: number;
  readonly perStepMax: number;
  readonly firstPromptMax: number;
  readonly repairPromptMax: number;
  readonly perEventMean: number;
  readonly perEventMax: number;
};

export type Tally = {
  /** Counts a closed event. */
  step(result: StepResult): void;
  read(): RunTally;
  close(): void;
};

/** Follows a replica from now on. */
export function tallyOf(replica: Replica): Tally {
  const counts = { proposals: 0, committed: 0, rejected: 0, repaired: 0, stalled: 0, concurrent: 0 };
  const tokens = { total: 0, prompts: 0, firstMax: 0, repairMax: 0, events: 0, eventMax: 0 };
  let newestCommit = -1;
  const end = replica.onChange((_space: Space, sealed: Sealed | undefined) => {
    for (const { admitted, verdict } of sealed?.decided ?? []) {
      counts.proposals += 1;
      if (verdict.kind === 'rejected') {
        counts.rejected += 1;
        continue;
      }
      counts.committed += 1;
      if (newestCommit > admitted.proposal.base.revision) counts.concurrent += 1;
      newestCommit = verdict.revision;
    }
  });
  return {
    step: (result) => {
      const prompts = result.attempts.map((attempt) => attempt.tokens.total);
      const eventTotal = prompts.reduce((sum, count) => sum + count, 0);
      tokens.total += eventTotal;
      tokens.prompts += prompts.length;
      tokens.firstMax = Math.max(tokens.firstMax, prompts[0] ?? 0);
      tokens.repairMax = Math.max(tokens.repairMax, ...prompts.slice(1));
      tokens.events += 1;
      tokens.eventMax = Math.max(tokens.eventMax, eventTotal);
      if (result.outcome === 'stalled') counts.stalled += 1;
      else if (result.outcome !== 'passed' && result.attempts.length > 1) counts.repaired += 1;
    },
    read: () => ({
      ...counts,
      tokens: {
        prompts: tokens.prompts,
        total: tokens.total,
        perStepMean: mean(tokens.total, tokens.prompts),
        perStepMax: Math.max(tokens.firstMax, tokens.repairMax),
        firstPromptMax: tokens.firstMax,
        repairPromptMax: tokens.repairMax,
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
