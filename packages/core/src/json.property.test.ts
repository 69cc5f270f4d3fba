import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { canonical, clipped, excerpt, fitsUtf8, frozen, pointer, pointerTokens, sameJson, utf8Bytes } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import { shuffled } from './testing/index.ts';

const encoder = new TextEncoder();
const RUNS = { numRuns: 3000 };
const values = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('canonical JSON', () => {
  test('[JSN1] the examples of RFC 8785 come out byte for byte', () => {
    const example = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"\u002f',
      literals: [null, true, false],
    };
    expect(canonical(example)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const keys = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\u{1f600}': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const order = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'];
    expect([...canonical(keys).matchAll(/"([^"]*)":/g)].map(([, key]) => JSON.parse(`"${key}"`) as string)).toEqual(order);
    expect(canonical([-0, 0, 1e21, 1e-7, 123456789012345680000, Number.MAX_SAFE_INTEGER, 5e-324])).toBe(
      '[0,0,1e+21,1e-7,123456789012345680000,9007199254740991,5e-324]',
    );
  });

  test('[JSN2] reading the text and writing it again changes nothing, and the order of keys does not matter', () => {
    fc.assert(
      fc.property(values, fc.nat(), (value, seed) => {
        const text = canonical(value);
        if (canonical(JSON.parse(text) as Json) !== text) throw new Error('reading it changes it');
        if (canonical(reordered(value, seed)) !== text) throw new Error('the order of keys matters');
        if (!isDeepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))) throw new Error('another value');
        if (/\s/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''))) throw new Error('white space');
      }),
      RUNS,
    );
  });

  test('[JSN2] sameJson is equality of texts', () => {
    fc.assert(
      fc.property(values, values, fc.nat(), (a, b, seed) => {
        expect(sameJson(a, b)).toBe(canonical(a) === canonical(b));
        expect(sameJson(a, reordered(a, seed))).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test('[JSN3] what JSON cannot say has no text', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1, Symbol('x'), 1n]) {
      expect(() => canonical([bad] as unknown as Json)).toThrow(expect.objectContaining({ code: 'INVARIANT' }));
    }
    let deep: Json = 1;
    for (let i = 0; i < 129; i += 1) deep = [deep];
    expect(() => canonical(deep)).toThrow(expect.objectContaining({ code: 'INVARIANT' }));
    expect(canonical((deep as Json[])[0] as Json)).toContain('[1]');
  });

  test('[JSN4] lengths in UTF-8 are those of the platform', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(200), (text, max) => {
        const bytes = utf8Bytes(text);
        if (bytes !== encoder.encode(text).length || fitsUtf8(text, max) !== bytes <= max) throw new Error('another length');
      }),
      { numRuns: 2000 },
    );
    expect(utf8Bytes('\ud800a')).toBe(encoder.encode('\ud800a').length);
  });

  test('[JSN5] an excerpt is short, shallow and well-formed, and says when it was cut', () => {
    fc.assert(
      fc.property(
        fc.oneof(values, fc.string({ unit: 'grapheme', maxLength: 400 })),
        fc.integer({ min: 10, max: 80 }),
        (value, max) => {
          const seen = excerpt(value as Json, max);
          const text = typeof seen === 'string' ? seen : canonical(seen);
          expect(text.length).toBeLessThanOrEqual(Math.max(max + 32, 40));
          expect(/\p{Surrogate}/u.test(text)).toBe(false);
          if (typeof value !== 'string' && typeof seen !== 'string') expect(seen).toEqual(value);
        },
      ),
      { numRuns: 3000 },
    );
    let deep: Json = 1;
    for (let i = 0; i < 22; i += 1) deep = [deep];
    expect(excerpt(deep, 200)).toBe(`${'['.repeat(22)}1${']'.repeat(22)}`);
    expect(clipped('ab\u{1f600}cd', 3)).toBe('ab… (6 characters)');
    expect([clipped('abc', 3), clipped('abc', 2)]).toEqual(['abc', 'ab… (3 characters)']);
    expect([excerpt([1, 2], 5), excerpt([1, 2], 4)]).toEqual([[1, 2], '[1,2… (5 characters)']);
  });

  test('[JSN6] a pointer gives back the tokens that it was made of', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('/', '~', '0', '1', 'a') }), { maxLength: 4 }), (tokens) => {
        expect(pointerTokens(pointer(...tokens))).toEqual(tokens);
      }),
      { numRuns: 2000 },
    );
    expect(pointerTokens('a')).toBeUndefined();
    expect(pointerTokens('/~2')).toBeUndefined();
    expect(pointerTokens('/a~')).toBeUndefined();
  });

  test('[JSN7] a frozen value cannot be changed at any depth', () => {
    const value = frozen({ a: [{ b: 1 }], c: 'x' }) as unknown as { a: { b: number }[] };
    expect(() => {
      (value.a[0] as { b: number }).b = 2;
    }).toThrow(TypeError);
    expect(() => value.a.push({ b: 3 })).toThrow(TypeError);
  });
});

function reordered(value: Json, seed: number): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => reordered(item, seed));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject).map(([key, part]) => [key, reordered(part, seed)] as const);
  return Object.fromEntries(shuffled(entries, seed));
}
