/**
 * Inclusive ranges of safe integers, as numeric kinds declare them.
 */
import { OplusError } from '../error.ts';
import type { Json } from '../json.ts';

/** Inclusive bounds; safe integers when left out. */
export type RangeOptions = { readonly lo?: number; readonly hi?: number; readonly start?: number };

/** The range with its defaults. Throws `SCHEMA_INVALID` when it is empty, not whole, or does not hold its start. */
export function integerRange(kind: string, options: RangeOptions): { readonly lo: number; readonly hi: number } {
  const lo = options.lo ?? Number.MIN_SAFE_INTEGER;
  const hi = options.hi ?? Number.MAX_SAFE_INTEGER;
  const start = options.start ?? lo;
  if (![lo, hi, start].every(Number.isSafeInteger) || lo > hi || start < lo || start > hi) {
    throw new OplusError('SCHEMA_INVALID', `${kind} has no whole range that holds its start: ${lo} to ${hi}, start ${start}`, {
      hint: 'Give whole numbers with lo <= start <= hi.',
    });
  }
  return { lo, hi };
}

export function isInteger(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}
