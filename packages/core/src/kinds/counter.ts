/**
 * Counters: `counter` is a sum of signed increments, `quota` a sum that stays within its range.
 *
 * There is no absolute set in the vocabulary; exactly-once comes from the dedupe of dots, so one integer is enough.
 * `quota` admits in canonical order and refuses what would cross; it never clamps, because clamping neither commutes nor
 * keeps anybody's intent. Source: Balegas et al. 2015, "Extending Eventually Consistent Cloud Databases for Enforcing
 * Numeric Invariants", for the kinds of bounded counters. SPEC: CNT1-CNT3, QTA1-QTA2.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import { affirmed } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Field, FieldKind, Grade } from '../field-kind.ts';
import { checkOptions } from '../field-options.ts';
import { readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import { malformed, outOfBounds } from '../refusal.ts';
import { escrow } from './escrow.ts';
import type { EscrowIntent, EscrowOptions, EscrowView } from './escrow.ts';
import { integerRange, isInteger } from './integer-range.ts';
import type { RangeOptions } from './integer-range.ts';
import { markedValue } from './marked-value.ts';
import type { MarkedValue } from './marked-value.ts';

export type CounterIntent = { readonly inc: number };

/** A sum without bounds other than those of safe integers. */
export function counter(options: { readonly start?: number } = {}): Field<number, CounterIntent> {
  return fieldFrom(() => {
    checkOptions('counter', 'Use counter() or counter({ start: 5 }).', z.object({ start: z.int().optional() }), options);
    return sum('counter', { start: options.start ?? 0 }, { letter: 'A', why: 'a sum of whole numbers' });
  });
}

/** A quota that admits: each increment that fits, in the order of the log. */
export type AdmitOptions = Required<RangeOptions> & { readonly mode?: 'admit' };

/**
 * A sum that stays within `lo` and `hi`, both inclusive; what would cross is refused. In mode `admit`, the default, each
 * increment is judged from the sum as it stands; in mode `escrow` each agent spends its own share (escrow.ts).
 */
export function quota(options: AdmitOptions): Field<number, CounterIntent>;
export function quota(options: EscrowOptions): Field<EscrowView, EscrowIntent>;
export function quota(options: AdmitOptions | EscrowOptions): Field<number, CounterIntent> | Field<EscrowView, EscrowIntent> {
  if (options?.mode === 'escrow') return escrow(options);
  return fieldFrom(() => {
    checkOptions('quota', 'Use quota({ lo: 0, hi: 9, start: 0 }).', QUOTA, options);
    return sum('quota', options, { letter: 'B', why: 'when there is not room for all, the first in the log get it' });
  });
}

type Sum = MarkedValue<number>;
type SumOp = { readonly inc: number };

const QUOTA = z.object({ lo: z.int(), hi: z.int(), start: z.int(), mode: z.enum(['admit', 'escrow']).optional() });

/** Largest step: no single proposal brings a sum to the edge of safe integers, where the order would decide. */
const INC_MAX = 1_000_000_000;

function sum(name: 'counter' | 'quota', options: RangeOptions & { readonly start: number }, grade: Grade): FieldKind<Sum, SumOp> {
  const { lo, hi } = integerRange(name, options);
  const start = options.start;
  return {
    name,
    grade,
    bytesMax: 25,
    verbs: ['inc'],
    summary: name === 'counter' ? 'a sum; inc adds a signed whole number' : `a sum kept within ${lo} and ${hi}`,
    read: (intent, path, complain) => {
      const read = readOneVerb(intent, name, ['inc'], path, complain);
      if (read === undefined) return undefined;
      if (isInteger(read.value) && Math.abs(read.value) <= INC_MAX) return { inc: read.value };
      if (isInteger(read.value)) {
        complain(path, outOfBounds(name, INC_MAX, read.value, `inc takes at most ${INC_MAX} at a time, up or down.`));
        return undefined;
      }
      complain(path, malformed(name, 'inc takes a signed whole number.', read.value));
      return undefined;
    },
    weigh: () => 1,
    erases: () => 0,
    fold: (cell, op, path, attempt) => {
      if (op.inc === 0) {
        attempt.note(path, { kind: 'unchanged' });
        return cell;
      }
      const value = cell.value + op.inc;
      if (value < lo || value > hi) {
        attempt.refuse(
          path,
          outOfBounds(name, cell.value, { inc: op.inc }, `There is room for ${lo - cell.value} to ${hi - cell.value} now.`),
        );
        return cell;
      }
      return { value, mark: affirmed(cell.mark, attempt.mark) };
    },
    withoutEcho: (_, op) => (op.inc === 0 ? undefined : op),
    write: (op) => ({ inc: op.inc }),
    ...markedValue<number>(start),
    valueSchema: () => ({ type: 'integer', minimum: lo, maximum: hi }),
    assign: (cell, change, path, complain) => {
      const value = changed(cell.value, change);
      if (value === cell.value) return undefined;
      complain(path, malformed(name, 'A sum is never set, or the increments of others would be lost; use inc.', value));
      return undefined;
    },
    samples: () => [1, -1, 2].filter((inc) => start + inc >= lo && start + inc <= hi).map((inc) => ({ inc })),
    modelSchema: () => strictObject({ inc: { type: 'integer' } }),
    fromModel: withoutNulls,
    declaration: () => ({ kind: name, lo, hi, start }),
  };
}
