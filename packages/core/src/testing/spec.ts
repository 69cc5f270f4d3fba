/**
 * Fields as plain data, from which both the real kind and the naive model are made; and the types of their leaf values.
 */
import { z } from 'zod';
import type { Json } from '../json.ts';

/** Types of leaf values: at most three characters; 0 to 9; an object of both; a text or null. */
export type ValueSpec = 'text' | 'digit' | 'pair' | 'text or null';

/** A field of a registered kind; what stands beside `kind` is that kind's own, typed in its file under `samples/`. Plain JSON. */
export type FieldSpec = { readonly kind: string; readonly [option: string]: unknown };

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

/** The same type for a real kind. */
export function typeOf(type: ValueSpec): z.ZodType<Json> {
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
