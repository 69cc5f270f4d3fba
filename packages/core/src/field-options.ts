/**
 * Options of field kinds, for authors without a type checker: what TypeScript says at compile time is checked again here.
 */
import { z } from 'zod';
import { all, fault, refuseFaults } from './fault.ts';
import type { Json } from './json.ts';
import { KEY_CHARS_MAX } from './strict-json.ts';
import { sentence } from './type-words.ts';
import type { ValueType } from './value-type.ts';
import { valueType } from './value-type.ts';

/** A cap, a time, a weight. */
export const COUNT: z.ZodType<number> = z.custom<number>(
  (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  'must be a whole number of at least 1',
);

/** A list of at least one name. */
export const NAMES: z.ZodType<readonly string[]> = z.array(z.string()).min(1);

/** Throws a fault for each option of another shape. `usage` is the hint: how a field of that kind is made. */
export function checkOptions(kind: string, usage: string, shape: z.ZodType, options: unknown): void {
  refuseFaults(
    (shape.safeParse(options).error?.issues ?? []).map((issue) => ({
      path: '',
      rule: `${kind}: ${issue.path.length === 0 ? 'what it is given ' : ''}${sentence(issue)}`,
      hint: usage,
    })),
  );
}

/** The type of a kind that takes one, with options of this shape. Throws the faults of both. */
export function typeWith(of: z.ZodType<Json>, kind: string, usage: string, shape: z.ZodType, options: unknown): ValueType {
  const [type] = all(
    () => valueType(of, kind),
    () => checkOptions(kind, usage, shape, options),
  );
  return type;
}

/** The type of values of which at most `cap` are held. */
export function cappedType(of: z.ZodType<Json>, kind: string, usage: string, options: unknown): ValueType {
  return typeWith(of, kind, usage, CAPPED, options);
}

const CAPPED = z.object({ cap: COUNT });

/** The type of keys that agents choose; 1 to 64 characters when left out. Throws a fault for keys that no message can carry. */
export function keyTypeOf(keys: z.ZodType<string> | undefined, what: string): ValueType {
  const type = valueType((keys === undefined ? z.string().min(1).max(64) : keys) as z.ZodType<Json>, what);
  const { type: sort, maxLength, enum: words, const: word } = type.jsonSchema;
  const texts = Array.isArray(words) ? words : [word];
  if (sort !== 'string' && !texts.every((text) => typeof text === 'string'))
    throw fault(`${what} are no texts`, 'Give a type of texts: z.string().min(1).max(64).');
  if (typeof maxLength === 'number' && maxLength > KEY_CHARS_MAX)
    throw fault(`${what} may be longer than a message can carry`, `Give them at most ${KEY_CHARS_MAX} characters.`);
  return type;
}
