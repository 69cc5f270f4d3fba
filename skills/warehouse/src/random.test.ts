import { expect, test } from 'vitest';
import { randomOf, seededRandom } from './random.ts';

test('[WHS8] draws follow the published sequence of xoshiro128**', () => {
  const random = randomOf([1, 2, 3, 4]);
  const drawn = Array.from({ length: 10 }, () => random.below(2 ** 32));
  expect(drawn).toEqual([11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804]);
});

test('[WHS8] a seed and a stream have one sequence, and different ones differ', () => {
  const sequence = (seed: number, stream: number): string => {
    const random = seededRandom(seed, stream);
    return Array.from({ length: 8 }, () => random.below(1000)).join();
  };
  expect(sequence(42, 0)).toBe(sequence(42, 0));
  const all = [42, 43, 42 + 2 ** 32, 0].flatMap((seed) => [0, 1, 2].map((stream) => sequence(seed, stream)));
  expect(new Set(all).size).toBe(all.length);
});

test('[WHS8] every bound is drawn evenly, from 0 up and below the bound', () => {
  for (const bound of [1, 2, 3, 7, 500]) {
    const random = seededRandom(7, bound);
    const counts = Array.from({ length: bound }, () => 0);
    const draws = bound * 400;
    for (let i = 0; i < draws; i += 1) {
      const drawn = random.below(bound);
      counts[drawn] = (counts[drawn] ?? 0) + 1;
    }
    expect(counts).toHaveLength(bound);
    const chi = counts.reduce((sum, count) => sum + (count - 400) ** 2 / 400, 0);
    expect(chi).toBeLessThan(bound + 5 * Math.sqrt(2 * bound));
  }
});

test('[WHS8] a state of zeros does not stand still', () => {
  const random = randomOf([0, 0, 0, 0]);
  expect(new Set(Array.from({ length: 20 }, () => random.below(2 ** 32))).size).toBeGreaterThan(10);
});
