import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsOf } from '../testing/index.ts';
import { occurrences } from './text-span.ts';

/** Every place, tried one by one. */
function placesOf(text: string, find: string): readonly number[] {
  return Array.from({ length: text.length }, (_, at) => at).filter((at) => text.startsWith(find, at));
}

/** A long text of few letters in which much repeats, and a part of it or something like one. */
const repeating = fc
  .tuple(
    fc.stringMatching(/^[ab]{1,9}$/),
    fc.stringMatching(/^[ab]{0,9}$/),
    fc.nat(400),
    fc.nat(30),
    fc.constantFrom('', 'a', 'b'),
  )
  .map(([unit, rest, at, more, odd]) => {
    const text = `${unit.repeat(Math.ceil(600 / unit.length))}${rest}`.repeat(2);
    return { text, find: text.slice(at, at + 195 + more) + odd };
  });

test('[TXT2] however long a quote is, every place where it stands is counted, and the first one found', () => {
  fc.assert(
    fc.property(repeating, fc.integer({ min: 1, max: 700 }), ({ text, find }, most) => {
      const places = placesOf(text, find);
      expect(occurrences(text, find, most)).toEqual({ at: places[0] ?? -1, count: Math.min(places.length, most) });
    }),
    { numRuns: Math.min(400, runsOf()) },
  );
});
