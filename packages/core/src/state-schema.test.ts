import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Field } from './field-kind.ts';
import type { Json } from './json.ts';
import { canonical, utf8Bytes } from './json.ts';
import { claim } from './kinds/claim.ts';
import { counter, quota } from './kinds/counter.ts';
import { max } from './kinds/extremum.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { project } from './projection.ts';
import { defineState, field, loadState } from './state-schema.ts';
import type { StateDefinition } from './state-schema.ts';
import { codesOf, loading, SAMPLE_STATES, sampleState, sha256, smallTeam } from './testing/index.ts';

const invalid = (path?: string): Error =>
  expect.objectContaining({ code: 'SCHEMA_INVALID', ...(path === undefined ? {} : { path }) }) as Error;
const load = (definition: object) => () =>
  loadState({ name: 'x', version: 1, ...definition } as unknown as StateDefinition, sha256);
const text = z.string().max(20);

describe('state definitions', () => {
  test('[SCH1] every field is a kind with a cap', () => {
    expect(load({ fields: {} })).toThrow(invalid());
    for (const bad of [{ rule: 'list' }, { $ref: 'http://example.com/s.json' }, undefined, null, 5])
      expect(load({ fields: { f: bad } })).toThrow(invalid('/fields/f'));
    for (const bad of [
      set(text, { cap: 0 }),
      set(text, {} as { cap: number }),
      map(counter(), { cap: 1.5 }),
      log(text, { keep: -1 }),
      records({ n: counter() }, { cap: Number.NaN }),
    ])
      expect(loading(bad)).toThrow(invalid('/fields/f'));
    for (const bad of [
      quota({ lo: 3, hi: 1, start: 2 }),
      quota({ lo: 0, hi: 3, start: 4 }),
      max({ lo: 0.5 }),
      counter({ start: Number.MAX_VALUE }),
    ])
      expect(loading(bad)).toThrow(invalid('/fields/f'));
  });

  test('[SCH2] names of fields are plain and reach no prototype', () => {
    for (const name of ['constructor', '__proto__', 'prototype', 'Upper', '9', 'a b', 'a/b', '', 'x'.repeat(65)]) {
      expect(load({ fields: Object.fromEntries([[name, counter()]]) })).toThrow(invalid());
    }
    expect(load({ fields: { hasOwnProperty: counter(), toString: counter(), a_1: counter() } })).not.toThrow();
  });

  test('[SCH3] roles have whole priorities, and writers are declared roles, also below a field', () => {
    expect(load({ fields: { n: counter() }, roles: { Boss: { priority: 1 } } })).toThrow(invalid('/roles/Boss'));
    expect(load({ fields: { n: counter() }, roles: { boss: { priority: 0.5 } } })).toThrow(invalid('/roles/boss'));
    expect(load({ fields: { n: field(counter(), { writers: ['boss'] }) } })).toThrow(invalid('/fields/n'));
    expect(load({ fields: { n: map(field(counter(), { writers: ['boss'] }), { cap: 2 }) } })).toThrow(invalid('/fields/n/*'));
    expect(load({ fields: { n: records({ x: field(counter(), { writers: ['boss'] }) }, { cap: 2 }) } })).toThrow(
      invalid('/fields/n/*/x'),
    );
  });

  test('[SCH4] a rule declares what it reads and has a check; text is no rule', () => {
    const fields = { n: counter() };
    for (const rule of [
      'process.exit(1)',
      { reads: ['n'] },
      { reads: [], check: () => true },
      { check: () => true },
      { reads: ['zz'], check: () => true },
    ]) {
      expect(load({ fields, invariants: { r: rule } })).toThrow(invalid('/invariants/r'));
      expect(load({ fields, transitions: { r: rule } })).toThrow(invalid('/transitions/r'));
    }
  });

  test('[SCH5] invariants hold on the initial state, and read only what they declare', () => {
    const fields = { n: counter({ start: 5 }), m: counter() };
    expect(
      load({
        fields,
        invariants: { low: { reads: ['n'], check: ({ after }: { after: { n: number } }) => after.n < 3 || 'too high' } },
      }),
    ).toThrow('low fails on the initial state: too high');
    expect(
      load({
        fields,
        invariants: {
          sneaky: { reads: ['n'], check: ({ after }: { after: { m: { toFixed: () => string } } }) => after.m.toFixed() === '0' },
        },
      }),
    ).toThrow(invalid('/invariants/sneaky'));
    expect(load({ fields, invariants: { later: { reads: ['n'], check: async () => true } } })).toThrow(
      invalid('/invariants/later'),
    );
    expect(load({ fields, invariants: { empty: { reads: ['n'], check: () => [] } } })).not.toThrow();
  });

  test('[SCH6] the digest covers all that gives a log its meaning, and nothing else', () => {
    const base = {
      fields: {
        n: counter(),
        t: records({ a: cas(text), b: counter() }, { cap: 4 }),
        p: machine({ start: 'x', moves: { x: ['y'], y: [] } }),
      },
    };
    const digestOf = (definition: object): string => load(definition)().digest;
    const digest = digestOf(base);
    const { n, t, p } = base.fields;
    expect(
      digestOf({
        fields: {
          p: machine({ start: 'x', moves: { y: [], x: ['y'] } }),
          t: records({ b: counter(), a: cas(text) }, { cap: 4 }),
          n,
        },
      }),
    ).toBe(digest);
    expect(digestOf({ fields: { ...base.fields, n: field(counter(), { doc: 'words' }) } })).toBe(digest);
    const others = [
      { ...base, version: 2 },
      { ...base, name: 'y' },
      { ...base, horizon: 9 },
      { ...base, agentsMax: 9 },
      { ...base, roles: { agent: { priority: 1 } } },
      { ...base, invariants: { r: { reads: ['n'], check: () => true } } },
      { ...base, transitions: { r: { reads: ['n'], check: () => true } } },
      { fields: { n: counter({ start: 1 }), t, p } },
      { fields: { n: max(), t, p } },
      { fields: { n: field(counter(), { writers: ['agent'] }), t, p } },
      { fields: { n, t: records({ a: cas(text), b: counter() }, { cap: 5 }), p } },
      { fields: { n, t: records({ a: cas(text), b: field(counter(), { writers: ['agent'] }) }, { cap: 4 }), p } },
      { fields: { n, t: records({ a: cas(z.string().max(21)), b: counter() }, { cap: 4 }), p } },
      { fields: { n, t, p: machine({ start: 'x', moves: { x: ['y'], y: ['x'] } }) } },
    ];
    expect(new Set([digest, ...others.map(digestOf)]).size).toBe(others.length + 1);
  });

  test('[SCH7] types without a largest value do not load', () => {
    const unbounded = [
      z.string(),
      z.array(text),
      z.number(),
      z.int().min(0).array(),
      z.object({ a: text }),
      z.record(z.string(), text),
      z.any(),
      z.string().meta({ maxLength: 5 }),
      z.any().meta({ type: 'boolean' }),
      z.unknown(),
      z.lazy(() => text.array()),
      z.number().min(0),
      z.number().min(0).max(Number.POSITIVE_INFINITY),
      z.tuple([text]),
      z.intersection(text, text),
      z.date(),
      z.map(text, text),
      text.transform((value) => value),
      z.email(),
      z.templateLiteral(['a', text]),
    ];
    for (const type of unbounded) expect(loading(cas(type as unknown as z.ZodType<Json>))).toThrow(invalid());
    const bounded = [
      text,
      z.int(),
      z.int().min(0).max(9),
      z.number().gt(0).lt(1),
      z.boolean(),
      z.null(),
      z.enum(['a', 'b']),
      z.literal(5),
      text.array().max(3),
      z.strictObject({ a: text, b: z.int() }),
      z.union([text, z.boolean()]),
      text.nullable(),
      z.discriminatedUnion('k', [z.strictObject({ k: z.literal('a'), v: text }), z.strictObject({ k: z.literal('b') })]),
    ];
    for (const type of bounded) expect(loading(cas(type as unknown as z.ZodType<Json>))).not.toThrow();
  });

  test('[SCH8] patterns that could take long do not load; quick ones do', () => {
    for (const pattern of [
      /^(a+)+$/,
      /^a+a+$/,
      /^(?:a|a)*$/,
      /^.*$/,
      /abc/,
      /^a$|b/,
      /^(\w+\s?)*$/,
      /^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?$/,
      /^[a-z]{1,5000}[a-z]{1,5000}$/,
      /^[a]{0,31}[a]{0,31}[a]{0,31}[a]{0,31}b$/,
      /^[a-z]+$/i,
      /^[a-z]+$/m,
      /^(?=a)b$/,
    ]) {
      expect(loading(cas(z.string().max(50).regex(pattern))), String(pattern)).toThrow(invalid());
      expect(
        loading(
          cas(
            z
              .string()
              .max(50)
              .regex(/^[a-z]+$/)
              .regex(pattern),
          ),
        ),
        String(pattern),
      ).toThrow(invalid());
    }
    for (const pattern of [/^[a-z][a-z0-9-]{0,31}$/, /^[A-Z]{1,3}-\d{1,4}$/, /^[a-z]+$/, /^[a-z]*x\d{2}$/, /^ab\.c$/])
      expect(loading(cas(z.string().max(50).regex(pattern))), String(pattern)).not.toThrow();
  });

  test('[SCH9] a type is what it says: one that would change a value refuses it, and further checks are not passed over', () => {
    const fields = {
      trim: cas(z.string().trim().max(9) as z.ZodType<string>),
      coerce: cas(z.coerce.number().min(0).max(9) as unknown as z.ZodType<Json>),
      caught: cas(z.int().min(0).max(9).catch(5) as unknown as z.ZodType<Json>),
      even: cas(
        z
          .int()
          .min(0)
          .max(9)
          .refine((value) => value % 2 === 0, 'must be even'),
      ),
      long: cas(
        z
          .string()
          .max(9)
          .refine((value) => value !== 'bad', 'must not be bad'),
      ),
      later: cas(
        z
          .string()
          .max(9)
          .refine(async () => true),
      ),
      step: cas(z.number().min(0).max(1).multipleOf(0.25)),
      one: cas(z.union([z.int().min(0).max(9), z.enum(['none'])])),
    };
    const team = smallTeam({ fields: fields as unknown as { readonly [name: string]: Field } });
    const refused: [string, Json, string][] = [
      ['trim', ' x ', 'schema'],
      ['coerce', '5', 'schema'],
      ['caught', 'x', 'schema'],
      ['even', 3, 'schema'],
      ['long', 'bad', 'schema'],
      ['later', 'x', 'schema'],
      ['step', 0.3, 'schema'],
      ['one', 'some', 'schema'],
      ['one', 10, 'bound'],
      ['coerce', 10, 'bound'],
    ];
    for (const [name, value, code] of refused) expect(codesOf(team.ask('a', { [name]: { set: value } })), name).toEqual([code]);
    for (const [name, value] of [
      ['trim', 'x'],
      ['coerce', 5],
      ['even', 4],
      ['long', 'good'],
      ['step', 0.75],
      ['one', 'none'],
      ['one', 3],
    ] as const) {
      expect(codesOf(team.ask('a', { [name]: { set: value } })), name).toEqual(['committed']);
    }
  });

  test('[SCH10] a start value is of its type', () => {
    for (const bad of [
      cas(text, { start: 5 as unknown as string }),
      lww(text, { start: 'x'.repeat(21) }),
      cas(z.int().min(1).max(3), { start: 0 }),
    ])
      expect(loading(bad)).toThrow(invalid('/fields/f'));
  });

  test('[SCH11] the largest state is no larger than the schema says', () => {
    const schema = loadState(
      {
        name: 'x',
        version: 1,
        fields: {
          a: cas(z.string().max(3)),
          s: set(z.string().max(3), { cap: 2 }),
          c: claim({ outcomeCharsMax: 3 }),
          m: map(cas(z.string().max(3)), { cap: 2, keys: z.string().max(3) }),
          n: counter(),
        },
      },
      sha256,
    );
    const wide = '✓✓✓';
    const largest = {
      a: wide,
      s: [wide, wide],
      c: { holder: 'a'.repeat(32), last: { holder: 'a'.repeat(32), how: 'handed over', outcome: wide } },
      m: { [wide]: wide, ['"\\"']: wide },
      n: Number.MIN_SAFE_INTEGER,
    };
    expect(utf8Bytes(canonical(largest))).toBeLessThanOrEqual(schema.bytesMax);
    for (let number = 0; number < SAMPLE_STATES; number += 1)
      expect(Number.isSafeInteger(sampleState(number).schema.bytesMax)).toBe(true);
  });

  test('[SCH12] what is wrong with a value is said in our own words, whatever the language of the library', () => {
    const team = smallTeam({
      fields: { x: cas(z.strictObject({ p: z.int().min(0).max(9), q: z.enum(['a', 'b']) })) as unknown as Field },
    });
    const hintsOf = (value: Json): unknown => {
      const verdict = team.ask('a', { x: { set: value } });
      return verdict.kind === 'rejected' && verdict.issues.map(({ hint }) => hint);
    };
    const before = [hintsOf({ p: 10, q: 'a' }), hintsOf({ p: 'x', q: 'c', r: 1 })];
    z.config(z.locales.de());
    try {
      expect([hintsOf({ p: 10, q: 'a' }), hintsOf({ p: 'x', q: 'c', r: 1 })]).toEqual(before);
    } finally {
      z.config(z.locales.en());
    }
    expect(before[0]).toEqual(['It p: must be at most 9.']);
  });

  test('[SCH13] each kind says its grade and why', () => {
    const grades = [
      cas(text),
      lww(text),
      counter(),
      quota({ lo: 0, hi: 1, start: 0 }),
      max(),
      claim(),
      set(text, { cap: 2 }),
      log(text, { keep: 2 }),
      log(text, { keep: 2, order: 'stamp' }),
      map(counter(), { cap: 2 }),
      records({ n: counter() }, { cap: 2 }),
    ];
    expect(grades.map(({ grade }) => grade.letter).join('')).toBe('BAABABBBABB');
    for (const { grade } of grades) expect(grade.why.length).toBeGreaterThan(10);
  });
});

describe('projections', () => {
  const definition = defineState({ name: 'x', version: 1, fields: { c: claim(), n: counter(), m: map(counter(), { cap: 4 }) } });

  test('[PRJ1] without a projection a reader sees the values of the whole state, and no revision, dot, vector or fence', () => {
    const team = smallTeam(definition as unknown as Parameters<typeof smallTeam>[0]);
    team.ask('a', { c: { claim: true }, m: { at: { '10': { inc: 1 }, '9': { inc: 2 } } } });
    const seen = project(team.space, { agent: 'b', role: 'agent', focus: '' }, 1000);
    expect(seen).toBe('{"c":{"holder":"a","last":null},"m":{"10":1,"9":2},"n":0}');
  });

  test('[PRJ2] a projection is a function of the views and the reader, and cannot write into the state', () => {
    const team = smallTeam({
      fields: { x: cas(z.strictObject({ p: z.int().min(0).max(9) }), { start: { p: 1 } }) as unknown as Field },
    });
    const own = project(team.space, { agent: 'b', role: 'agent', focus: 'f' }, 1000, (views, reader) => ({
      me: reader.agent,
      about: reader.focus,
      p: (views['x'] as { p: number }).p,
    }));
    expect(own).toBe('{"about":"f","me":"b","p":1}');
    expect(() =>
      project(team.space, { agent: 'b', role: 'agent', focus: '' }, 1000, (views) => {
        (views['x'] as { p: number }).p = 5;
        return {};
      }),
    ).toThrow(TypeError);
    expect(team.state).toEqual({ x: { p: 1 } });
  });

  test('[PRJ3] a projection above its limit is an error with a hint, never cut', () => {
    const team = smallTeam(definition as unknown as Parameters<typeof smallTeam>[0]);
    const reader = { agent: 'b', role: 'agent', focus: '' };
    const whole = project(team.space, reader, 10_000);
    expect(project(team.space, reader, whole.length)).toBe(whole);
    for (const charsMax of [10, whole.length - 1])
      expect(() => project(team.space, reader, charsMax)).toThrow(
        expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('slice') as string }),
      );
  });
});
