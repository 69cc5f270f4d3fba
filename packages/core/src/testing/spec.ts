/**
 * Fields as plain data, from which both the real kind and the naive model are made; and random ones.
 */
import { z } from 'zod';
import type { Field } from '../field-kind.ts';
import type { Json } from '../json.ts';
import { claim } from '../kinds/claim.ts';
import { counter, quota } from '../kinds/counter.ts';
import { max, min } from '../kinds/extremum.ts';
import { log } from '../kinds/log.ts';
import { machine } from '../kinds/machine.ts';
import { map } from '../kinds/map.ts';
import { records } from '../kinds/records.ts';
import { cas, lww } from '../kinds/register.ts';
import { set } from '../kinds/set.ts';
import type { Choice } from './choice.ts';

/** Types of leaf values: at most three characters; 0 to 9; an object of both; a text or null. */
export type ValueSpec = 'text' | 'digit' | 'pair' | 'text or null';

export type FieldSpec =
  | { readonly kind: 'cas' | 'lww'; readonly of: ValueSpec; readonly start?: Json }
  | { readonly kind: 'max' | 'min'; readonly lo: number; readonly hi: number; readonly start: number }
  | { readonly kind: 'counter'; readonly start: number }
  | { readonly kind: 'quota'; readonly lo: number; readonly hi: number; readonly start: number }
  | { readonly kind: 'claim' }
  | { readonly kind: 'machine'; readonly start: string; readonly moves: { readonly [state: string]: readonly string[] } }
  | { readonly kind: 'set'; readonly of: ValueSpec; readonly cap: number }
  | {
      readonly kind: 'log';
      readonly of: ValueSpec;
      readonly keep: number;
      readonly order: 'commit' | 'stamp';
      readonly id?: string;
    }
  | { readonly kind: 'map'; readonly of: FieldSpec; readonly cap: number }
  | { readonly kind: 'records'; readonly cells: { readonly [name: string]: FieldSpec }; readonly cap: number };

/** The real kind. */
export function fieldOf(spec: FieldSpec): Field {
  switch (spec.kind) {
    case 'cas':
      return cas(typeOf(spec.of), startOf(spec)) as Field;
    case 'lww':
      return lww(typeOf(spec.of), startOf(spec)) as Field;
    case 'max':
      return max(spec) as Field;
    case 'min':
      return min(spec) as Field;
    case 'counter':
      return counter(spec) as Field;
    case 'quota':
      return quota(spec) as Field;
    case 'claim':
      return claim({ outcomeCharsMax: 3 }) as Field;
    case 'machine':
      return machine(spec) as Field;
    case 'set':
      return set(typeOf(spec.of), spec) as Field;
    case 'log':
      return log(typeOf(spec.of), spec) as Field;
    case 'map':
      return map(fieldOf(spec.of), spec) as Field;
    case 'records':
      return records(Object.fromEntries(Object.entries(spec.cells).map(([name, cell]) => [name, fieldOf(cell)])), spec) as Field;
  }
}

/** True when the value is of the type, by its own plain words. */
export function isOf(type: ValueSpec, value: Json): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string' && value.length <= 3;
    case 'digit':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 9;
    case 'pair': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      const { id, note, ...rest } = value as { readonly [key: string]: Json };
      return Object.keys(rest).length === 0 && isOf('digit', id ?? null) && isOf('text', note ?? null);
    }
    case 'text or null':
      return value === null || isOf('text', value);
  }
}

/** A random spec. Collections stop at depth 2; caps and ranges are tight, so that they are reached. */
export function specFrom(choice: Choice, depth: number): FieldSpec {
  const kind: FieldSpec['kind'] = depth < 2 ? choice.of([...LEAVES, 'map', 'map', 'records', 'records']) : choice.of([...LEAVES]);
  switch (kind) {
    case 'cas':
    case 'lww': {
      const of = choice.of<ValueSpec>(['text', 'digit', 'pair', 'text or null']);
      return of === 'text' && choice.upTo(2) === 1 ? { kind, of, start: 'a' } : { kind, of };
    }
    case 'max':
    case 'min':
      return { kind, lo: 0, hi: 6, start: choice.upTo(2) * 3 };
    case 'counter':
      return { kind, start: choice.upTo(2) };
    case 'quota':
      return { kind, lo: 0, hi: 4, start: 2 };
    case 'claim':
      return { kind };
    case 'machine':
      return {
        kind,
        start: 'todo',
        moves: { todo: ['doing'], doing: ['todo', 'done'], done: choice.upTo(2) === 0 ? [] : ['todo'] },
      };
    case 'set':
      return { kind, of: choice.of<ValueSpec>(['text', 'digit', 'pair']), cap: 2 + choice.upTo(3) };
    case 'log': {
      const order = choice.of<'commit' | 'stamp'>(['commit', 'stamp']);
      const keep = 2 + choice.upTo(3);
      return choice.upTo(3) === 0 ? { kind, of: 'pair', keep, order, id: 'id' } : { kind, of: 'text', keep, order };
    }
    case 'map':
      return { kind, of: specFrom(choice, depth + 1), cap: 2 + choice.upTo(2) };
    case 'records':
      return {
        kind,
        cap: 2 + choice.upTo(2),
        cells: { n: { kind: 'counter', start: 0 }, x: specFrom(choice, depth + 1), y: specFrom(choice, 2) },
      };
  }
}

const LEAVES = ['cas', 'lww', 'counter', 'max', 'min', 'quota', 'claim', 'machine', 'set', 'log'] as const;

function startOf(spec: { readonly start?: Json }): { readonly start?: Json } {
  return spec.start === undefined ? {} : { start: spec.start };
}

function typeOf(type: ValueSpec): z.ZodType<Json> {
  const text = z.string().max(3);
  const digit = z.int().min(0).max(9);
  switch (type) {
    case 'text':
      return text;
    case 'digit':
      return digit;
    case 'pair':
      return z.strictObject({ id: digit, note: text });
    case 'text or null':
      return text.nullable();
  }
}
