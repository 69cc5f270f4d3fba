/**
 * Choices out of one whole number: its digits in mixed radix. Small numbers mean first options, so a counterexample shrinks
 * towards plain cases.
 */

/** Draws from `[0, count)`; once the number is used up it draws 0. */
export type Choice = {
  upTo(count: number): number;
  of<T>(options: readonly [T, ...T[]]): T;
};

export function choiceOf(number: number): Choice {
  let rest = number;
  const upTo = (count: number): number => {
    const digit = rest % count;
    rest = Math.floor(rest / count);
    return digit;
  };
  return { upTo, of: (options) => options[upTo(options.length)] as (typeof options)[number] };
}

/** A stream of numbers below 2^31 from a seed: for orders and pools, where nothing has to shrink. */
export function numbersFrom(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 1;
  };
}

/** The items in an order that the seed decides. */
export function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const next = numbersFrom(seed);
  const order = items.slice();
  for (let i = order.length - 1; i > 0; i -= 1) {
    const j = next() % (i + 1);
    [order[i], order[j]] = [order[j] as T, order[i] as T];
  }
  return order;
}
