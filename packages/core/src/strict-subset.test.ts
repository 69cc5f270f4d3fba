import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from './json.ts';
import { isJsonObject } from './json.ts';
import { cas } from './kinds/register.ts';
import { log } from './kinds/log.ts';
import { set } from './kinds/set.ts';
import { acceptsNull, strictSubset, strictValue, withoutOptionalNulls } from './strict-subset.ts';
import { samplesOf } from './value-samples.ts';
import { valueType } from './value-type.ts';

const small = z.int().min(0).max(9);
const one = z.strictObject({ kind: z.literal('one'), x: small.optional() });
const other = z.strictObject({ kind: z.literal('other'), y: small.optional(), below: z.array(one).max(2) });
const TYPES: { readonly [name: string]: z.ZodType } = {
  'an object with an optional key': one,
  'one of two objects that a key tells apart': z.union([one, other]),
  'the same, or null': z.union([one, other]).nullable(),
  'objects that their keys tell apart': z.union([
    z.strictObject({ a: small, x: small.optional() }),
    z.strictObject({ b: small, x: small.nullable() }),
  ]),
  'lists of a choice': z.array(z.union([one, z.array(other).max(1), small])).max(2),
};

describe('the strict subset', () => {
  test.each(Object.entries(TYPES))('[STS2][STS3] a value of %s has a strict form, and is read back from it', (_, type) => {
    const schema = valueType(type as z.ZodType<Json>, 'x').jsonSchema;
    const strict = z.fromJSONSchema(strictSubset(schema) as z.core.JSONSchema.JSONSchema);
    for (const value of samplesOf(schema, 12)) {
      const said = strictValue(schema, value);
      expect(strict.safeParse(said).error?.message).toBeUndefined();
      expect(withoutOptionalNulls(schema, said)).toEqual(value);
    }
  });

  test.each(Object.entries(TYPES))('[STS2][STS3] so has a patch that holds %s', (_, given) => {
    const type = given as z.ZodType<Json>;
    for (const kind of [cas(type), log(type, { keep: 2 }), set(type, { cap: 2 })]) {
      const model = kind.modelSchema();
      const strict = z.fromJSONSchema(strictSubset(model) as z.core.JSONSchema.JSONSchema);
      for (const value of samplesOf(valueType(type, 'x').jsonSchema, 12)) {
        const wrapped = kind.name === 'cas' && type.safeParse(null).success ? { value } : value;
        const patch = kind.name === 'cas' ? { set: wrapped } : { [kind.verbs[0] as string]: [value] };
        const said = strictValue(model, patch);
        expect(strict.safeParse(said).error?.message).toBeUndefined();
        const read = kind.read(kind.fromModel(withoutOptionalNulls(model, said)), '', (path, { hint }) => {
          throw new Error(`${path} ${hint}`);
        });
        const written = kind.write(read);
        const held = isJsonObject(written) ? Object.values(written)[0] : undefined;
        expect(held).toEqual(kind.name === 'cas' ? value : [value]);
      }
    }
  });

  test('[STS1] an object is closed, and of its keys the optional ones alone take null', () => {
    expect(strictSubset(valueType(one as unknown as z.ZodType<Json>, 'x').jsonSchema)).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['one'] },
        x: { anyOf: [{ type: 'integer', minimum: 0, maximum: 9 }, { type: 'null' }] },
      },
      required: ['kind', 'x'],
      additionalProperties: false,
    });
  });

  test('[STS2][STS3] a key that is left out is null in the strict form, and left out again; other nulls stay', () => {
    const schema = valueType(
      z.strictObject({ a: small.nullable(), b: small.optional() }) as unknown as z.ZodType<Json>,
      'x',
    ).jsonSchema;
    expect(strictValue(schema, { a: null })).toEqual({ a: null, b: null });
    expect(withoutOptionalNulls(schema, { a: null, b: null })).toEqual({ a: null });
    expect(withoutOptionalNulls(schema, { a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
    const strict = { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] };
    expect(withoutOptionalNulls(strict, { kind: null })).toEqual({ kind: null });
  });

  test.each<[boolean, Json]>([
    [true, { type: 'null' }],
    [true, { const: null }],
    [true, { type: ['integer', 'null'] }],
    [true, { enum: [1, null] }],
    [true, { anyOf: [{ type: 'integer' }, { type: 'null' }] }],
    [true, { oneOf: [{ type: 'integer' }, { const: null }] }],
    [false, { type: 'integer' }],
    [false, { const: 0 }],
    [false, { type: ['integer', 'string'] }],
    [false, { enum: [1, 2] }],
    [false, { anyOf: [{ type: 'integer' }, { type: 'string' }] }],
    [false, true],
  ])('[STS2] whether null is of a schema: %s for %j', (isSo, schema) => {
    expect(acceptsNull(schema)).toBe(isSo);
  });

  test('[STS2] a schema of another shape asks nothing of a value', () => {
    for (const odd of [{ anyOf: 5 }, { oneOf: {} }, { anyOf: [] }, {}, true, 5])
      for (const value of [1, { a: null }])
        expect([strictValue(odd, value), withoutOptionalNulls(odd, value)]).toEqual([value, value]);
  });
});
