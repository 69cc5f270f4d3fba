import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../json.ts';
import { valueType } from '../value-type.ts';
import { readReduced } from './reduced-state.ts';

const shape = z.strictObject({ n: z.int().min(0).max(9).optional() });
const type = valueType(shape as unknown as z.ZodType<Json>, 'reduce');
const fault = (given: unknown): string | undefined => {
  const read = readReduced(type, given);
  return read.ok ? undefined : read.fault.message;
};

test("[RED4] a promise is no state, though it has no members that JSON would show; what it comes to is nobody's to hear", async () => {
  expect(fault(Promise.resolve({}))).toContain('is a promise');
  expect(fault(Promise.reject(new Error('unheard')))).toContain('is a promise');
  await Promise.resolve();
  expect(fault({})).toBeUndefined();
});

test('[RED5] what is kept is read anew and frozen; what JSON, the gate or the type would not have is no state', () => {
  const given = { n: 1 };
  const read = readReduced(type, given);
  given.n = 2;
  expect(read).toEqual({ ok: true, value: { n: 1 }, text: '{"n":1}' });
  expect(read.ok && Object.isFrozen(read.value)).toBe(true);
  expect(fault(undefined)).toBe('is no JSON');
  expect(fault('\u200b')).toContain('may not be in a state');
  expect(fault({ n: 10 })).toBeDefined();
});
