/**
 * Contract of the port `Clock` (protocol SPEC, rules CLK1 to CLK4).
 */
import { expect } from 'vitest';
import type { Clock } from '../ports/clock.ts';
import { check, expectCode, registerContract } from './check.ts';
import type { Check, Destroyable, OpenStore } from './check.ts';

/** A clock and the way to let its time pass. */
export interface ClockStore extends Destroyable {
  readonly clock: Clock;
  /** Resolves when at least `durationMs` more have passed on `clock`, and what was due by then has run. */
  pass(durationMs: number): Promise<void>;
}

/** Registers the checks below as tests. */
export function clockContract(name: string, open: OpenStore<ClockStore>): void {
  registerContract(name, clockChecks, open);
}

/** Every check of the port. No check asserts that little time has passed, so a slow machine changes nothing. */
export const clockChecks: readonly Check<ClockStore>[] = [
  check<ClockStore>('CLK1', 'a callback runs once, later, and never inside the caller', async ({ clock, pass }) => {
    for (const delayMs of [0, 1, 5]) {
      let runs = 0;
      clock.after(delayMs, () => (runs += 1));
      expect(runs).toBe(0);
      await Promise.resolve();
      expect(runs).toBe(0);
      await pass(delayMs + 5);
      expect(runs).toBe(1);
      await pass(20);
      expect(runs).toBe(1);
    }
  }),

  check<ClockStore>(
    'CLK1',
    'a callback does not run before its delay, also beyond 2^31 milliseconds',
    async ({ clock, pass }) => {
      const delaysMs = [3_600_000, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 5, 2 ** 32 + 1, 2 ** 40];
      const early: number[] = [];
      const cancels = delaysMs.map((delayMs) => clock.after(delayMs, () => early.push(delayMs)));
      await pass(20);
      expect(early).toEqual([]);
      for (const cancel of cancels) cancel();
    },
  ),

  check<ClockStore>(
    'CLK2',
    'a cancelled callback never runs, and cancelling again or too late does nothing',
    async ({ clock, pass }) => {
      const ran: string[] = [];
      const cancelled = clock.after(2, () => ran.push('cancelled'));
      const kept = clock.after(2, () => ran.push('kept'));
      cancelled();
      cancelled();
      await pass(10);
      expect(ran).toEqual(['kept']);
      kept();
      let cancelSibling: () => void = () => undefined;
      clock.after(1, () => cancelSibling());
      cancelSibling = clock.after(30, () => ran.push('sibling'));
      await pass(60);
      expect(ran).toEqual(['kept']);
    },
  ),

  check<ClockStore>('CLK3', 'earlier deadlines run first, and time goes on meanwhile', async ({ clock, pass }) => {
    const startMs = clock.nowMs();
    const ran: number[] = [];
    const seenMs: number[] = [];
    for (const delayMs of [40, 10, 25]) {
      clock.after(delayMs, () => {
        ran.push(delayMs);
        seenMs.push(clock.nowMs());
      });
    }
    await pass(60);
    expect(ran).toEqual([10, 25, 40]);
    // Not how far apart they are: on a busy machine several run late, at one time.
    expect(seenMs.every((ms) => Number.isFinite(ms) && ms > startMs)).toBe(true);
  }),

  check<ClockStore>('CLK3', 'a callback may set the next one', async ({ clock, pass }) => {
    const ran: string[] = [];
    clock.after(1, () => {
      ran.push('first');
      clock.after(1, () => ran.push('second'));
    });
    await pass(20);
    await pass(20);
    expect(ran).toEqual(['first', 'second']);
  }),

  check<ClockStore>('CLK4', 'a delay that is negative or not finite is refused', async ({ clock, pass }) => {
    let runs = 0;
    for (const delayMs of [-1, -0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expectCode('USAGE', () => clock.after(delayMs, () => (runs += 1)));
    }
    await pass(5);
    expect(runs).toBe(0);
  }),
];
