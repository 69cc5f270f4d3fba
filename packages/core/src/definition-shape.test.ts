import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Field } from './field-kind.ts';
import type { Json } from './json.ts';
import { counter } from './kinds/counter.ts';
import { map } from './kinds/map.ts';
import { cas } from './kinds/register.ts';
import { field, loadState } from './state-schema.ts';
import type { Rule, StateDefinition, StateSchema } from './state-schema.ts';
import { codesOf, loading, sha256, smallTeam } from './testing/index.ts';

const text = z.string().max(20);

const invalid = (path: string): Error => expect.objectContaining({ code: 'SCHEMA_INVALID', path }) as Error;

describe('definitions by authors without a type checker', () => {
  test('[SCH14] a definition of another shape is a clear error at its part, not a crash', () => {
    const fields = { n: counter() };
    const shapes: readonly (readonly [unknown, string])[] = [
      [null, ''],
      ['board', ''],
      [{ version: 1, fields }, '/name'],
      [{ name: '', version: 1, fields }, '/name'],
      [{ name: 'x', version: '1', fields }, '/version'],
      [{ name: 'x', version: 1 }, '/fields'],
      [{ name: 'x', version: 1, fields: null }, '/fields'],
      [{ name: 'x', version: 1, fields: { n: null } }, '/fields/n'],
      [{ name: 'x', version: 1, fields, roles: {} }, '/roles'],
      [{ name: 'x', version: 1, fields, roles: { a: null } }, '/roles/a'],
      [{ name: 'x', version: 1, fields, roles: [] }, '/roles'],
      [{ name: 'x', version: 1, fields, invariants: { i: null } }, '/invariants/i'],
      [{ name: 'x', version: 1, fields, transitions: 'none' }, '/transitions'],
      [{ name: 'x', version: 1, fields, protections: { n: 1 } }, '/protections/n'],
    ];
    for (const [definition, path] of shapes) {
      expect(() => loadState(definition as StateDefinition, sha256), JSON.stringify(definition)).toThrow(
        expect.objectContaining({ code: 'SCHEMA_INVALID', path, hint: expect.stringMatching(/.{10}/) as string }) as Error,
      );
    }
    expect(loading(field(counter(), { writers: [] }))).toThrow(invalid('/fields/f'));
  });

  test('[SCH15] a field that no message could write does not load', () => {
    const deep = (depth: number): z.ZodType<Json> =>
      depth === 0 ? z.boolean() : (z.strictObject({ d: deep(depth - 1) }) as unknown as z.ZodType<Json>);
    const loadOne = (kind: Field): unknown => loadState({ name: 'x', version: 1, fields: { f: kind } }, sha256);
    expect(() => loadOne(cas(z.enum(['ok', 'hid\u200bden'])))).toThrow(invalid('/fields/f'));
    expect(() => loadOne(cas(z.string().max(9), { start: 'a\u202eb' }))).toThrow(invalid('/fields/f'));
    expect(() => loadOne(cas(deep(24)) as Field)).toThrow(invalid('/fields/f'));
    expect(() => loadOne(cas(deep(6)) as Field)).not.toThrow();
    expect(() => loadOne(map(counter(), { cap: 2, keys: z.string().min(300).max(300) }))).toThrow(invalid('/fields/f'));
  });
});

describe('rules', () => {
  test('[SCH5] a rule that reads a field which it does not declare says so, at loading or when it comes to that', () => {
    const fields = { harvested: counter(), season: cas(text, { start: 'summer' }) };
    const load2 = (check: Rule<typeof fields>['check']): StateSchema =>
      loadState({ name: 'garden', version: 1, fields, invariants: { rule: { reads: ['harvested'], check } } }, sha256);
    expect(() => load2(({ after }) => after.season !== 'spring' || 'Not in spring.')).toThrow(
      expect.objectContaining({
        path: '/invariants/rule',
        message: 'rule: it reads season, which it does not declare',
        hint: 'Add season to its reads.',
      }) as Error,
    );
    const late = ({ after }: { readonly after: { readonly harvested: number; readonly season: string | undefined } }): true =>
      (after.harvested === 0 || after.season !== 'spring') as true;
    const team = smallTeam({ fields, invariants: { rule: { reads: ['harvested'], check: late } } });
    expect(codesOf(team.ask('a', { harvested: { inc: 1 } }))).toEqual(['invariant']);
    expect(codesOf(team.ask('a', { season: { set: 'spring' } }))).toEqual(['committed']);
  });
});
