import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareText } from './json.ts';
import { integerSortKey, stampSortKey } from './sort-key.ts';
import { compareWin, stampOf } from './stamp.ts';

const integer = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -0),
);
const stamp = fc
  .record(
    {
      revision: fc.oneof(fc.nat(3), fc.nat(2_000_000_000)),
      priority: fc.oneof(fc.integer({ min: -2, max: 2 }), fc.maxSafeInteger()),
      agent: fc.constantFrom('a', 'a-', 'a-b', 'a0', 'aa', 'b'),
      n: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 9, max: 11 })),
    },
    { noNullPrototype: true },
  )
  .map((given) => stampOf(given));
/** Stamps of one depth meet often, and their spins too. */
const rival = fc.tuple(stamp, fc.nat(2)).map(([one, spin]) => ({ ...one, depth: 4, spin }));

describe('sort keys', () => {
  test('[STP4] the keys of integers sort as the integers, and are of one length', () => {
    fc.assert(
      fc.property(integer, integer, (a, b) => {
        expect(compareText(integerSortKey(a), integerSortKey(b))).toBe(Math.sign(a - b) + 0);
        expect(integerSortKey(a)).toHaveLength(17);
      }),
      { numRuns: 3000 },
    );
  });

  test('[STP4] the keys of stamps sort in win order', () => {
    const one = fc.oneof(stamp, rival);
    fc.assert(
      fc.property(one, one, (a, b) => {
        expect(compareText(stampSortKey(a), stampSortKey(b))).toBe(Math.sign(compareWin(a, b)) + 0);
      }),
      { numRuns: 5000 },
    );
  });
});
