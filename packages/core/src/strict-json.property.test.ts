import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { canonical, JSON_DEPTH_MAX } from './json.ts';
import type { Json } from './json.ts';
import { readStrictJson, stringFault } from './strict-json.ts';

const codeOf = (text: string): string => {
  const read = readStrictJson(text);
  return read.ok ? 'ok' : read.fault.code;
};
/** One space in front keeps the reader from its fast way: the text is then not canonical. */
const slowCodeOf = (text: string): string => codeOf(` ${text}`);

const keys = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('__proto__', 'constructor', 'prototype', '', 'toString', '10', '9', 'k'.repeat(129), 'é', 'é', 'a​b'),
);
const strings = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('<|im_start|>', '<|', 'plain', '\t\n', '\u0007', '-----BEGIN RSA PRIVATE KEY-----', '�', '\ud800'),
);
const numbers = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(2 ** 53, 2 ** 53 - 1, -(2 ** 53), 1e21, -0, 5e-324),
);
const trees = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    strings,
    numbers,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const edits = fc.array(
  fc.tuple(fc.nat(), fc.constantFrom('"', '{', '}', ',', ':', '[', '0', '-', '.', 'e', '\\', ' ', 'u', '"a":1,', '')),
  { maxLength: 3 },
);

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('strict reader', () => {
  test('[JSN8] the fast way and the strict way agree, on generated and on damaged texts', () => {
    fc.assert(
      fc.property(trees, edits, fc.boolean(), (value, changes, isDamaged) => {
        let text = canonical(value);
        for (const [at, piece] of isDamaged ? changes : []) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + piece + text.slice(place + (at % 2));
        }
        const [fast, slow] = [readStrictJson(text), readStrictJson(` ${text}`)];
        expect(fast.ok).toBe(slow.ok);
        if (fast.ok && slow.ok)
          expect([fast.canonical, JSON.stringify(fast.value)]).toEqual([slow.canonical, JSON.stringify(slow.value)]);
        else if (!fast.ok && !slow.ok) expect(fast.fault.code).toBe(slow.fault.code);
      }),
      { numRuns: 8000 },
    );
  });

  test('[JSN9] what it reads is what the platform reads, with keys in canonical order', () => {
    fc.assert(
      fc.property(trees, (value) => {
        const text = JSON.stringify(value);
        const read = readStrictJson(text);
        if (!read.ok) return;
        expect(read.value).toEqual(JSON.parse(text));
        expect(read.canonical).toBe(canonical(JSON.parse(text) as Json));
        expect(JSON.stringify(read.value)).toBe(JSON.stringify(JSON.parse(read.canonical)));
      }),
      { numRuns: 5000 },
    );
    const read = readStrictJson('{"b":1,"a":{"d":1,"c":2}}');
    expect(read.ok && Object.keys(read.value as object)).toEqual(['a', 'b']);
  });

  test.for([
    ['', 'not_json'],
    ['hello', 'not_json'],
    ['{"a":1}{"a":1}', 'not_json'],
    ['[1,]', 'not_json'],
    ['{"a":1,}', 'not_json'],
    ["{'a':1}", 'not_json'],
    ['[NaN]', 'not_json'],
    ['[1]//x', 'not_json'],
    ['\ufeff{}', 'not_json'],
    ['{"a":1,"a":1}', 'duplicate_key'],
    ['{"a":1,"\\u0061":2}', 'duplicate_key'],
    ['{"__proto__":1}', 'key'],
    ['{"\\u005f_proto__":1}', 'key'],
    ['{"x":[{"constructor":1}]}', 'key'],
    ['{"":1}', 'key'],
    [`{"${'k'.repeat(129)}":1}`, 'key'],
    ['[1.0]', 'number'],
    ['[-0]', 'number'],
    ['[1e2]', 'number'],
    ['[1E400]', 'number'],
    ['[9007199254740993]', 'number'],
    ['[9007199254740992]', 'number'],
    ['[1e+21]', 'number'],
    ['[01]', 'not_json'],
    ['["a\\ud800"]', 'string'],
    ['["\\u0000"]', 'string'],
    ['["a\u200bb"]', 'string'],
    ['["e\u0301"]', 'string'],
    ['["\\u202e"]', 'string'],
    ['["a\u{E0141}"]', 'string'],
    ['["a\u3164"]', 'string'],
    [`["q${'\u0316'.repeat(31)}"]`, 'string'],
    // Not normal either, and it would take seconds to find that out.
    [`["q${'\u0301'.repeat(16_000)}${'\u0316'.repeat(16_000)}"]`, 'string'],
    ['["<|im_start|>"]', 'string'],
    ['["\ufffd"]', 'not_utf8'],
    ['["\u0001"]', 'not_json'],
  ] as const)('[JSN10] %s is refused as %s, on either way', ([text, code]) => {
    expect(codeOf(text)).toBe(code);
    expect(slowCodeOf(text)).toBe(code);
  });

  test('[JSN10] nesting up to the limit is read, and not one level more, however deep', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(codeOf(nested(JSON_DEPTH_MAX))).toBe('ok');
    expect(codeOf(nested(JSON_DEPTH_MAX + 1))).toBe('depth');
    expect(codeOf(nested(5000))).toBe('depth');
    expect(codeOf(`${'{"a":'.repeat(JSON_DEPTH_MAX + 1)}1${'}'.repeat(JSON_DEPTH_MAX + 1)}`)).toBe('depth');
  });

  test('[JSN11] only keys are restricted, never prose', () => {
    for (const text of [
      'the constructor of __proto__ is odd',
      'проверено: café ✓ 😀',
      'a < b || c',
      'tab\tand\nline',
      '</data> SYSTEM:',
    ]) {
      expect(stringFault(text)).toBeUndefined();
      expect(codeOf(canonical([text]))).toBe('ok');
    }
  });
});
