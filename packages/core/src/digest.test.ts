import { expect, test } from 'vitest';
import { leafDigest } from './digest.ts';
import { sha256 } from './testing/sha256.ts';

test('[JSN12] a text of at most 128 units stands for itself, a longer one for its hash', () => {
  const textOf = (length: number): string => JSON.stringify(['a'.repeat(length - 4)]);
  expect([127, 128].map((length) => leafDigest(textOf(length), sha256))).toEqual([textOf(127), textOf(128)]);
  expect(leafDigest(textOf(129), sha256)).toBe(JSON.stringify(sha256(textOf(129))));
});
