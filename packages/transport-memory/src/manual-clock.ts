/**
 * A clock that moves only when told to: same calls, same order of callbacks, in every run.
 */
import { OplusError } from '@oplus/core';
import { assertDelay } from '@oplus/protocol';
import type { Clock } from '@oplus/protocol';
import { DeadlineQueue } from './deadline-queue.ts';

export interface ManualClock extends Clock {
  /**
   * Moves time on by `durationMs` and runs what is due, earliest first, each at its own time; what they set runs too when it is due.
   * Returns when all of that has run; promises that they settle continue afterwards. Throws `USAGE` inside a callback of this clock.
   * When a callback throws, time stands at its deadline and the rest stays due.
   */
  advance(durationMs: number): void;
  /** Time of the earliest callback that waits, in milliseconds since the Unix epoch; `undefined` when none does. */
  nextDueMs(): number | undefined;
}

/** Starts at `startMs`, in milliseconds since the Unix epoch. */
export function manualClock(startMs: number = 0): ManualClock {
  const queue = new DeadlineQueue();
  let nowMs = startMs;
  let isAdvancing = false;
  return {
    nowMs: () => nowMs,
    after(delayMs, then) {
      assertDelay(delayMs);
      const deadline = queue.add(nowMs + delayMs, then);
      return () => queue.remove(deadline);
    },
    advance(durationMs) {
      assertDelay(durationMs);
      if (isAdvancing) throw new OplusError('USAGE', 'a callback of the clock may not advance it');
      const untilMs = nowMs + durationMs;
      isAdvancing = true;
      try {
        for (let due = queue.takeDue(untilMs); due !== undefined; due = queue.takeDue(untilMs)) {
          nowMs = due.atMs;
          due.run();
        }
        nowMs = untilMs;
      } finally {
        isAdvancing = false;
      }
    },
    nextDueMs: () => queue.next()?.atMs,
  };
}
