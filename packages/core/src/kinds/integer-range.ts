/**
 * Inclusive ranges of safe integers, as numeric kinds declare them.
 */
import { fault } from '../fault.ts';
import type { Json } from '../json.ts';

/** Inclusive bounds; safe integers when left out. */
export type RangeOptions = { readonly lo?: number; readonly hi?: number; readonly start?: number };

/** The range with its defaults. Throws a fault when it is empty, not whole, or does not hold its start. */
export function integerRange(kind: string, options: RangeOptions): { readonly lo: number; readonly hi: number } {
  const lo = options.lo ?? Number.MIN_SAFE_INTEGER;
  const hi = options.hi ?? Number.MAX_SAFE_INTEGER;
  const start = options.start ?? lo;
  if (![lo, hi, start].every(Number.isSafeInteger) || lo > hi || start < lo || start > hi) {
    throw fault(
      `${kind} has no whole range that holds its start: ${lo} to ${hi}, start ${start}`,
      'Give whole numbers with lo <= start <= hi.',
    );
  }
  return { lo, hi };
}

export function isInteger(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}
