/**
 * The clock of the machine. Deadlines are measured on its monotonic clock, so a step of the wall clock moves none of them.
 */
import { assertDelay } from '@oplus/protocol';
import type { Clock } from '@oplus/protocol';
import { DeadlineQueue } from './deadline-queue.ts';

/** The process stays alive while a callback waits, and no longer. */
export function systemClock(): Clock {
  const queue = new DeadlineQueue();
  let timer: NodeJS.Timeout | undefined;
  let wakeAtMs = Number.POSITIVE_INFINITY;

  const disarm = (): void => {
    clearTimeout(timer);
    timer = undefined;
    wakeAtMs = Number.POSITIVE_INFINITY;
  };

  // One timer serves all. Waking too early is harmless, so a removed earliest deadline does not move it while others wait.
  const arm = (): void => {
    const next = queue.next();
    if (next === undefined) return disarm();
    if (next.atMs >= wakeAtMs) return;
    clearTimeout(timer);
    wakeAtMs = next.atMs;
    timer = setTimeout(wake, Math.min(Math.max(0, Math.ceil(next.atMs - performance.now())), TIMER_MS_MAX));
  };

  const wake = (): void => {
    disarm();
    // What a callback sets for now waits for the next turn, so that no callback can hold the loop for ever.
    const nowMs = performance.now();
    try {
      for (let due = queue.takeDue(nowMs); due !== undefined; due = queue.takeDue(nowMs)) due.run();
    } finally {
      arm();
    }
  };

  return {
    nowMs: () => Date.now(),
    after(delayMs, then) {
      assertDelay(delayMs);
      const deadline = queue.add(performance.now() + delayMs, then);
      arm();
      return () => {
        queue.remove(deadline);
        if (queue.next() === undefined) disarm();
      };
    },
  };
}

/** Longest delay of a timer of Node; a longer one would run at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
