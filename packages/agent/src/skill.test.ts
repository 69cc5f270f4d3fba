import { expect, test } from 'vitest';
import { z } from 'zod';
import { boardSkill } from './testing/index.ts';

const withArgs = (args: z.ZodType) => () => boardSkill({ actions: { act: { description: 'acts', args } } });

test('[SKL7] a skill carries the JSON Schema of its actions', () => {
  const skill = boardSkill();
  expect(Object.keys(skill.actions)).toEqual(['move', 'ring']);
  expect(skill.actions['move']?.argsSchema).toMatchObject({
    type: 'object',
    required: ['card', 'column'],
    additionalProperties: false,
  });
  expect(skill.observationTokensMax).toBe(1_000);
});

test('[SKL7] a role that the state has not is refused', () => {
  expect(() => boardSkill({ role: 'cook' })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID', path: '/role' }));
});

test.each([
  ['an open object', withArgs(z.object({ a: z.string() }))],
  ['a loose object', withArgs(z.looseObject({}))],
  ['a record', withArgs(z.record(z.string(), z.string()))],
  ['an open object inside', withArgs(z.strictObject({ list: z.array(z.object({ a: z.string() })).optional() }))],
  ['no object', withArgs(z.string())],
  ['a date', withArgs(z.strictObject({ at: z.date() }))],
])('[SKL7] arguments that are %s are refused', (_, load) => {
  expect(load).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID', path: expect.stringMatching(/^\/actions\/act/) }));
});

test.each(['', '1st', 'a b', 'x'.repeat(65)])('[SKL7] %s is no name of an action', (name) => {
  expect(() => boardSkill({ actions: { [name]: { description: 'd', args: z.strictObject({}) } } })).toThrow(
    expect.objectContaining({ code: 'SCHEMA_INVALID' }),
  );
});

test.each([0, 1.5, NaN, 255])('[SKL7] %d tokens are no budget', (tokensMax) => {
  expect(() => boardSkill({ tokensMax })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID', path: '/tokensMax' }));
  expect(() => boardSkill({ observationTokensMax: Math.min(tokensMax, 63) })).toThrow(
    expect.objectContaining({ path: '/observationTokensMax' }),
  );
});
