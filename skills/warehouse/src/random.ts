/**
 * Seeded draws: the same seed and stream give the same numbers on every machine.
 *
 * Sources: Blackman and Vigna 2021, "Scrambled Linear Pseudorandom Number Generators" (xoshiro128**, version 1.1); its
 * state is filled by a SplitMix sequence (Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number Generators")
 * with the 32-bit finaliser of MurmurHash3. SPEC: WHS8.
 */

export interface Random {
  /** A whole number in `[0, bound)`, each equally likely. `bound` in `[1, 2^32]`. */
  below(bound: number): number;
}

/** `stream` separates draws that share a seed. Both are whole numbers in `[0, 2^53)`. */
export function seededRandom(seed: number, stream: number): Random {
  const words = [seed, Math.floor(seed / TWO_32), stream, Math.floor(stream / TWO_32)];
  let hash = 0;
  for (const word of words) hash = finalise((hash + GOLDEN) ^ word);
  const state = words.map((_, i) => finalise(hash + Math.imul(GOLDEN, i + 1)));
  return randomOf(state as [number, number, number, number]);
}

/** Draws from a raw state of four 32-bit words, not all zero. The state is not shared. */
export function randomOf(start: readonly [number, number, number, number]): Random {
  let [a, b, c, d] = start;
  if ((a | b | c | d) === 0) d = 1;
  const next = (): number => {
    const drawn = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return drawn;
  };
  return {
    below: (bound) => {
      const fair = TWO_32 - (TWO_32 % bound);
      let drawn = next();
      while (drawn >= fair) drawn = next();
      return drawn % bound;
    },
  };
}

const TWO_32 = 0x1_0000_0000;
const GOLDEN = 0x9e3779b9;

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function finalise(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
