import {
  acceptsNull,
  cas,
  claim,
  counter,
  defineState,
  isJsonObject,
  loadState,
  log,
  lww,
  machine,
  map,
  max,
  quota,
  records,
  set,
  strictSubset,
} from '@oplus/core';
import type { Json, JsonObject, StateDefinition } from '@oplus/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerSchema } from './answer-schema.ts';
import { readAnswer } from './answer.ts';
import { sha256 } from './digest.ts';
import { instanceOf, subsetFaults } from './testing/index.ts';
import { boardSkill, boardState } from './testing/index.ts';

const everyKind = loadState(
  defineState({
    name: 'all',
    version: 1,
    fields: {
      cas: cas(
        z
          .strictObject({
            a: z.int(),
            b: z.string().max(5).optional(),
            c: z.enum(['x', 'y']).nullable(),
            d: z.array(z.boolean()).max(2),
          })
          .or(z.literal('none')) as never,
      ),
      lww: lww(z.string().max(20).nullable()),
      top: max({ lo: 0, hi: 9 }),
      sum: counter(),
      room: quota({ lo: 0, hi: 9, start: 0 }),
      lead: claim(),
      phase: machine({ start: 'a', moves: { a: ['b'], b: [] } }),
      tags: set(z.string().max(9), { cap: 4 }),
      notes: log(z.strictObject({ text: z.string().max(9), n: z.int().min(0).max(9).optional() }) as never, { keep: 4 }),
      hits: map(map(counter(), { cap: 2 }), { cap: 4 }),
      rows: records({ text: lww(z.string().max(9)), by: claim(), tags: set(z.string().max(3), { cap: 2 }) }, { cap: 4 }),
    },
  }) as unknown as StateDefinition,
  sha256,
);
const skill = boardSkill();

test('[ASC1] the schema is in the strict subset for every kind', () => {
  for (const schema of [
    answerSchema(everyKind, skill),
    answerSchema(loadState(boardState, sha256), skill),
    answerSchema(everyKind, { role: 'agent', actions: {} }),
  ]) {
    expect(subsetFaults(schema)).toEqual([]);
    expect(Object.keys(schema['properties'] as JsonObject)).toEqual(['reasoning', 'patch', 'action']);
  }
});

test('[ASC1] the check of the subset finds what is outside it', () => {
  expect(
    subsetFaults({ type: 'object', properties: { a: { type: 'string' } }, required: [], additionalProperties: false }),
  ).toEqual(['/required']);
  expect(subsetFaults({ type: 'object', properties: {}, required: [] })).toEqual(['/additionalProperties']);
  expect(subsetFaults({ anyOf: [{ type: 'string', maxLength: 3 }] })).toEqual(['/anyOf/0/maxLength']);
  expect(subsetFaults({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER })).toEqual(['/minimum']);
});

test('[ASC1] optional keys become nullable, lengths and edges of integers are dropped', () => {
  expect(
    strictSubset(
      z.toJSONSchema(z.strictObject({ a: z.string().max(3), b: z.int().optional(), c: z.literal('x') }), { io: 'input' }) as Json,
    ),
  ).toEqual({
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      c: { type: 'string', enum: ['x'] },
    },
    required: ['a', 'b', 'c'],
    additionalProperties: false,
  });
  expect(acceptsNull({ enum: ['a', null] })).toBe(true);
});

test('[ASC2] only fields that the role may write, and every action by name', () => {
  const patchOf = (role: string) =>
    ((answerSchema(loadState(boardState, sha256), { ...skill, role })['properties'] as JsonObject)['patch'] as JsonObject)[
      'required'
    ];
  expect(patchOf('agent')).toEqual(['cards', 'done', 'lead', 'tags', 'title']);
  expect(patchOf('boss')).toEqual(['budget', 'cards', 'done', 'lead', 'tags', 'title']);
  const { action } = answerSchema(everyKind, skill)['properties'] as { readonly action: JsonObject };
  const named = (action['anyOf'] as readonly JsonObject[]).map((choice) =>
    isJsonObject(choice['properties'] ?? null)
      ? ((choice['properties'] as JsonObject)['name'] as JsonObject)['enum']
      : choice['type'],
  );
  expect(named).toEqual([['move'], ['ring'], 'null']);
});

test('[ASC3] what fits the schema is read without an issue of form', () => {
  const schema = answerSchema(everyKind, skill);
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const answer = instanceOf(schema, seed);
      const read = readAnswer({ text: JSON.stringify(answer), form: 'strict', finish: 'stop' }, everyKind, skill.actions);
      const form =
        read.kind === 'read'
          ? []
          : read.issues.filter(({ rule, hint }) => (rule === 'answer' && !hint.includes('twice')) || hint.startsWith('No verb'));
      expect(form).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
