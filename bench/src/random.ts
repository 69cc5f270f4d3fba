/**
 * Seeded randomness for the workload: the same seed gives the same draws on every machine.
 *
 * Source: the mulberry32 step, a 32-bit mixer in the public domain. Good enough to spread picks, not for secrets.
 */

export interface Random {
  /** An integer in `[0, bound)`; `bound` is at least 1. */
  below(bound: number): number;
  /** True with probability `ratio`. */
  chance(ratio: number): boolean;
}

/** `stream` separates draws that share a seed, such as one stream per writer. Both are integers. */
export function createRandom(seed: number, stream: number): Random {
  let position = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35);
  const next = (): number => {
    position = (position + 0x6d2b79f5) | 0;
    let mixed = Math.imul(position ^ (position >>> 15), position | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    below: (bound) => Math.floor(next() * bound),
    chance: (ratio) => next() < ratio,
  };
}
