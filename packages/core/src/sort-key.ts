/**
 * Texts that sort as what they stand for: keys of ordered maps.
 *
 * Numbers are padded to one length, negative ones counted up from the least, so the order by code unit is that of the values
 * on every platform. SPEC: STP4.
 */
import type { Stamp } from './stamp.ts';

/** 17 characters whose order is that of safe integers. */
export function integerSortKey(value: number): string {
  return value < 0
    ? `0${String(value + Number.MAX_SAFE_INTEGER).padStart(DIGITS, '0')}`
    : `1${String(value).padStart(DIGITS, '0')}`;
}

/** A text whose order is the win order of stamps. The comma ends the name: it comes before all that a name may hold. */
export function stampSortKey({ depth, priority, spin, agent, n }: Stamp): string {
  return `${integerSortKey(depth)}${integerSortKey(priority)}${integerSortKey(spin)}${agent},${integerSortKey(n)}`;
}

/** As many as the greatest safe integer has. */
const DIGITS = 16;
