/**
 * A small clock that moves only when told to, and the same clock with one fault each: the contract suite must pass the first and fail every other.
 */
import { assertDelay } from '../ports/guard.ts';
import type { ClockStore } from './clock-contract.ts';

/** Every fault, with the rule of the contract that forbids it. */
export const CLOCK_FAULTS: readonly { readonly fault: ClockFault; readonly rule: string }[] = [
  { fault: 'runs a zero delay at once', rule: 'CLK1' },
  { fault: 'runs a zero delay as a microtask', rule: 'CLK1' },
  { fault: 'repeats', rule: 'CLK1' },
  { fault: 'wraps at 2^31', rule: 'CLK1' },
  { fault: 'ignores a cancel', rule: 'CLK2' },
  { fault: 'runs in the order of the calls', rule: 'CLK3' },
  { fault: 'stands still', rule: 'CLK3' },
  { fault: 'ignores what a callback sets', rule: 'CLK3' },
  { fault: 'takes any delay', rule: 'CLK4' },
];

export type ClockFault =
  | 'none'
  | 'runs a zero delay at once'
  | 'runs a zero delay as a microtask'
  | 'repeats'
  | 'wraps at 2^31'
  | 'ignores a cancel'
  | 'runs in the order of the calls'
  | 'stands still'
  | 'ignores what a callback sets'
  | 'takes any delay';

/** A clock with that fault. */
export async function brokenClockStore(fault: ClockFault): Promise<ClockStore> {
  const startMs = 1_000_000;
  let elapsedMs = 0;
  let isPassing = false;
  let due: { readonly atMs: number; readonly run: () => void }[] = [];
  return {
    clock: {
      nowMs: () => (fault === 'stands still' ? startMs : startMs + elapsedMs),
      after(delayMs, then) {
        if (fault !== 'takes any delay') assertDelay(delayMs);
        if (fault === 'runs a zero delay at once' && delayMs === 0) then();
        if (fault === 'runs a zero delay as a microtask' && delayMs === 0) queueMicrotask(then);
        if (fault === 'ignores what a callback sets' && isPassing) return () => undefined;
        const timer = { atMs: elapsedMs + (fault === 'wraps at 2^31' ? delayMs % 2 ** 31 : delayMs), run: then };
        due.push(timer);
        return () => {
          if (fault !== 'ignores a cancel') due = due.filter((other) => other !== timer);
        };
      },
    },
    async pass(durationMs) {
      const untilMs = elapsedMs + durationMs;
      isPassing = true;
      for (;;) {
        if (fault !== 'runs in the order of the calls') due.sort((a, b) => a.atMs - b.atMs);
        const next = due.find((timer) => timer.atMs <= untilMs);
        if (next === undefined) break;
        due = due.filter((timer) => timer !== next);
        elapsedMs = Math.max(elapsedMs, next.atMs);
        next.run();
        if (fault === 'repeats' && untilMs === next.atMs + 5) next.run();
      }
      isPassing = false;
      elapsedMs = untilMs;
    },
    destroy: async () => void due.splice(0),
  };
}
