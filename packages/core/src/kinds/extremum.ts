/**
 * Extrema: `max` only rises, `min` only falls. The join of integers under their order.
 * SPEC: MAX1-MAX3, MIN1.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import { summed } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Field, FieldKind } from '../field-kind.ts';
import { checkOptions } from '../field-options.ts';
import { readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import { malformed, outOfBounds } from '../refusal.ts';
import { integerRange, isInteger } from './integer-range.ts';
import type { RangeOptions } from './integer-range.ts';
import { markedValue } from './marked-value.ts';
import type { MarkedValue } from './marked-value.ts';

/** The greatest of all raised values. `lo` and `hi` are inclusive; starts at `start`, or at `lo`. */
export function max(options: RangeOptions = {}): Field<number, { readonly raise: number }> {
  return fieldFrom(() => extremum('max', 'raise', options));
}

/** The least of all lowered values. `lo` and `hi` are inclusive; starts at `start`, or at `hi`. */
export function min(options: RangeOptions = {}): Field<number, { readonly lower: number }> {
  return fieldFrom(() => extremum('min', 'lower', options));
}

type Extremum = MarkedValue<number>;
type ExtremumOp = { readonly value: number };

const OPTIONS = z.object({ lo: z.int().optional(), hi: z.int().optional(), start: z.int().optional() });

function extremum(name: 'max' | 'min', verb: 'raise' | 'lower', options: RangeOptions): FieldKind<Extremum, ExtremumOp> {
  checkOptions(name, `Use ${name}() or ${name}({ lo: 0, hi: 9, start: 0 }).`, OPTIONS, options);
  const range = integerRange(name, options);
  const start = options.start ?? (name === 'max' ? range.lo : range.hi);
  const improves = name === 'max' ? (a: number, b: number) => a > b : (a: number, b: number) => a < b;
  return {
    name,
    grade: { letter: 'A', why: 'a join: order and repetition do not matter' },
    bytesMax: 25,
    verbs: [verb],
    summary: name === 'max' ? 'a number that only rises' : 'a number that only falls',
    read: (intent, path, complain) => {
      const read = readOneVerb(intent, name, [verb], path, complain);
      if (read === undefined) return undefined;
      if (!isInteger(read.value)) {
        complain(path, malformed(name, `${verb} takes a whole number.`, read.value));
        return undefined;
      }
      if (read.value < range.lo || read.value > range.hi) {
        complain(path, outOfBounds(name, undefined, read.value, `The range is ${range.lo} to ${range.hi}.`));
        return undefined;
      }
      return { value: read.value };
    },
    weigh: () => 1,
    erases: () => 0,
    fold: (cell, op, path, attempt) => {
      if (improves(op.value, cell.value)) return { value: op.value, mark: summed(cell.mark, attempt.mark) };
      attempt.note(path, { kind: 'unchanged' });
      return cell;
    },
    withoutEcho: (cell, op) => (improves(op.value, cell.value) ? op : undefined),
    write: (op) => ({ [verb]: op.value }),
    ...markedValue<number>(start),
    valueSchema: () => ({ type: 'integer', minimum: range.lo, maximum: range.hi }),
    assign: (cell, change, path, complain) => {
      const value = changed(cell.value, change);
      if (value === cell.value) return undefined;
      if (isInteger(value ?? null) && improves(value as number, cell.value)) return { [verb]: value as number };
      complain(path, malformed(name, `A ${name} never goes back; it takes ${verb}.`, value));
      return undefined;
    },
    samples: () => {
      const step = name === 'max' ? 1 : -1;
      const reachable = [start + step, start + 2 * step, start + 3 * step];
      const within = reachable.filter((value) => value >= range.lo && value <= range.hi);
      return (within.length === 0 ? [start] : within).map((value) => ({ [verb]: value }));
    },
    modelSchema: () => strictObject({ [verb]: { type: 'integer' } }),
    fromModel: withoutNulls,
    declaration: () => ({ kind: name, lo: range.lo, hi: range.hi, start }),
  };
}
