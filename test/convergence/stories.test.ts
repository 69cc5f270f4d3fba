/**
 * Single stories of faults, move by move.
 */
import { expect, test } from 'vitest';
import * as planted from './planted-faults.ts';
import { play } from './schedule.ts';
import * as stories from './stories.ts';
import type { Story } from './stories.ts';

/** Plays a story to its end: no violation, and every increment landed once. */
function tell({ options, schedule }: Story): ReturnType<typeof play> {
  const outcome = play(options, schedule);
  expect(outcome.violation).toBe(undefined);
  expect(outcome.cluster.totals()).toEqual({ counts: [options.incrementCount], total: options.incrementCount });
  return outcome;
}

test('[CVG3] a deposed coordinator that never heard of a worker does not end its session', () => {
  tell(stories.DEPOSED_ANSWERS);
  const { options, schedule } = stories.DEPOSED_ANSWERS;
  expect(play({ ...options, step: planted.timelessRefusals }, schedule).violation).toMatch(/ended for no reason/);
});

test('[CVG1][BUG 7] two coordinators that append the same revision leave one line of history', () => {
  const { cluster } = tell(stories.TWO_APPEND);
  expect(cluster.auditor.tally()).toMatchObject({ voids: 0, terms: 2 });
});

test('[CVG2][BUG 8] a proposal that is delivered three times is decided once and answered alike', () => {
  const { cluster } = tell(stories.DELIVERED_THRICE);
  expect(cluster.auditor.tally().repeatedVerdicts).toBe(1);
});

test('[CVG2][BUG 74] an append whose answer is lost is found in the log, not appended again', () => {
  const { cluster } = tell(stories.RECEIPT_LOST);
  expect(cluster.auditor.tally()).toMatchObject({ voids: 0, terms: 1 });
});

test('[CVG2] an attempt that arrives after it was repeated counts once', () => {
  tell(stories.ATTEMPT_LATE);
});

test('[CVG3][BUG 88] a commit that nobody was told of is answered by the successor', () => {
  const { cluster } = tell(stories.KILLED_BEFORE_ANNOUNCING);
  expect(cluster.auditor.tally()).toMatchObject({ repeatedVerdicts: 0, terms: 2 });
});

test('[CVG3] a welcome that is lost after the join is said again', () => {
  const { cluster } = tell(stories.WELCOME_LOST);
  expect(cluster.auditor.tally().fencedSessions).toBe(0);
});

test('[CVG4][BUG 82] a hello of a dead session that arrives late takes nothing over', () => {
  tell(stories.HELLO_OF_THE_DEAD);
  const { options, schedule } = stories.HELLO_OF_THE_DEAD;
  expect(play({ ...options, step: planted.helloWithoutOrder }, schedule).violation).toMatch(/took over from a younger one/);
});

test('[CVG2] what a dead session had proposed is decided before its successor joins, or never', () => {
  tell(stories.DIES_PROPOSING);
});
