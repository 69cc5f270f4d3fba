import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cardinalityOf, samplesOf } from './value-samples.ts';
import { valueType } from './value-type.ts';

const TYPES: { readonly [name: string]: z.ZodType } = {
  text: z.string().max(3),
  filled: z.string().min(5).max(9),
  word: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/)
    .max(32),
  code: z
    .string()
    .regex(/^[A-Z]{3}-\d{2}$/)
    .max(6),
  dated: z.string().regex(new RegExp('^\\d{2}\\-\\d{2}[a\\_]$')).max(6),
  digit: z.int().min(0).max(9),
  high: z.int().min(1000).max(1002),
  share: z.number().min(0).max(1),
  even: z.int().min(0).max(100).multipleOf(2),
  flag: z.boolean(),
  state: z.enum(['open', 'done']),
  list: z.array(z.int().min(0).max(9)).max(3),
  pair: z.array(z.boolean()).min(2).max(2),
  thing: z.strictObject({ id: z.int().min(0).max(9), note: z.string().max(4) }),
  maybe: z.string().max(2).nullable(),
};

describe('samples of a type', () => {
  test.each(Object.entries(TYPES))('[SMP1] every sample of %s is of the type, and no two are equal', (name, type) => {
    const made = valueType(type as z.ZodType<string>, name);
    const samples = samplesOf(made.jsonSchema, 8);
    expect(samples.length).toBeGreaterThanOrEqual(2);
    expect(samples.filter((sample) => made.fault(sample) !== undefined)).toEqual([]);
    expect(new Set(samples.map((sample) => JSON.stringify(sample))).size).toBe(samples.length);
  });

  test('[SMP2] the simplest come first, and fewer than asked for when there are no more', () => {
    const of = (type: z.ZodType, count: number): readonly unknown[] =>
      samplesOf(valueType(type as z.ZodType<string>, 'x').jsonSchema, count);
    expect(of(z.int().min(-5).max(5), 4)).toEqual([0, 1, 2, -1]);
    expect(of(z.string().max(9), 3)).toEqual(['a', 'b', 'ab']);
    expect(of(z.boolean(), 5)).toEqual([true, false]);
    expect(of(z.enum(['only']), 5)).toEqual(['only']);
    expect(of(z.array(z.int().min(0).max(9)).max(2), 3)).toEqual([[], [0], [1]]);
    expect(of(z.strictObject({ a: z.boolean(), b: z.int().min(0).max(9) }), 3)).toEqual([
      { a: true, b: 0 },
      { a: false, b: 0 },
      { a: true, b: 1 },
    ]);
    expect(of(z.number().min(0).max(1), 4)).toEqual([0, 0.1, 0.2, 0.7]);
  });

  test('[SMP2] a type whose least value is too large to be tried has none', () => {
    const types = [
      z.array(z.boolean()).min(5_000_000_000).max(6_000_000_000),
      z.string().min(5_000).max(6_000),
      z
        .string()
        .max(9)
        .regex(/^a{2000000000}$/),
    ];
    for (const type of types) expect(samplesOf(valueType(type as z.ZodType<string>, 'x').jsonSchema, 3)).toEqual([]);
  });

  test('[SMP1] [SMP3] open bounds are bounds too', () => {
    const open = valueType(z.int().gt(3).lt(6) as unknown as z.ZodType<string>, 'x').jsonSchema;
    expect(open).toMatchObject({ exclusiveMinimum: 3, exclusiveMaximum: 6 });
    expect(samplesOf(open, 9)).toEqual([5, 4]);
    expect(cardinalityOf(open)).toBe(2);
  });

  test('[SMP3] small types are counted, the rest is without end', () => {
    const of = (type: z.ZodType): number => cardinalityOf(valueType(type as z.ZodType<string>, 'x').jsonSchema);
    expect(of(z.boolean())).toBe(2);
    expect(of(z.enum(['a', 'b', 'c']).nullable())).toBe(4);
    expect(of(z.int().min(3).max(7))).toBe(5);
    expect(of(z.strictObject({ a: z.boolean(), b: z.int().min(0).max(2) }))).toBe(6);
    expect(of(z.strictObject({ a: z.boolean().optional(), b: z.int().min(0).max(2).optional() }))).toBe(12);
    expect(of(z.string().max(1))).toBe(Infinity);
  });
});
