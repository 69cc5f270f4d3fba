import fc from 'fast-check';
import { countTokens, encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { o200kTokens, RUN_CHARS_MAX } from './tokens.ts';

const AS_TEXT = { disallowedSpecial: new Set<string>() };

test('[TOK1] counts are those of the vocabulary', async () => {
  const tokens = await o200kTokens();
  expect(tokens.vocabulary).toBe('o200k');
  expect(['', 'hello world', '{"S1":"item-7","S2":null}'].map((text) => tokens.count(text))).toEqual([
    0,
    2,
    encode('{"S1":"item-7","S2":null}').length,
  ]);
});

test('[TOK1] any text has the count of the library, and special tokens are text', async () => {
  const tokens = await o200kTokens();
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('<|endoftext|>', '<|im_start|>', ' ', '\n', 'Ä'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('');
      fc.pre(!/\p{Surrogate}/u.test(text));
      expect(tokens.count(text)).toBe(countTokens(text, AS_TEXT));
    }),
    { numRuns: 500 },
  );
  expect(tokens.count('<|endoftext|>')).toBeGreaterThan(1);
});

test.each([
  ['letters', 'x'],
  ['signs', '='],
  ['marks', '\u0301'],
  ['white space', ' \t'],
])('[TOK2] a run of a million %s is counted in pieces, in linear time', async (_, unit) => {
  const tokens = await o200kTokens();
  const length = Math.ceil(1_000_000 / RUN_CHARS_MAX) * RUN_CHARS_MAX;
  const piece = unit.repeat(RUN_CHARS_MAX / unit.length);
  expect(tokens.count(unit.repeat(length / unit.length))).toBe((length / RUN_CHARS_MAX) * countTokens(piece));
});

test('[TOK2] runs up to the limit are exact', async () => {
  const tokens = await o200kTokens();
  const text = `a ${'x'.repeat(RUN_CHARS_MAX - 1)} b`;
  expect(tokens.count(text)).toBe(countTokens(text));
});
