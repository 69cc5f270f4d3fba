/**
 * Version vectors: per agent, the n of its newest proposal in our causal past.
 *
 * An absent agent counts as 0. `join` is the pointwise maximum, so vectors form a join
 * semilattice (SPEC: VV1 commutative, VV2 associative, VV3 idempotent).
 *
 * Source: Parker et al. 1983, "Detection of Mutual Inconsistency in Distributed Systems".
 */
import type { Dot } from './dot.ts';

/** Counters are non-negative safe integers. Never mutated: every function returns a new vector. */
export type VersionVector = ReadonlyMap<string, number>;

/** Least upper bound of both pasts. O(|a| + |b|). */
export function join(a: VersionVector, b: VersionVector): VersionVector {
  const joined = new Map(a);
  for (const [agent, n] of b) joined.set(agent, Math.max(newestOf(a, agent), n));
  return joined;
}

/** The n of the agent's newest proposal in this past, 0 when there is none. */
export function newestOf(vector: VersionVector, agent: string): number {
  return vector.get(agent) ?? 0;
}

/** True when the dot lies in this past. */
export function includes(vector: VersionVector, dot: Dot): boolean {
  return newestOf(vector, dot.agent) >= dot.n;
}

/** True when the past of `a` lies within the past of `b`. O(|a|). */
export function isWithin(a: VersionVector, b: VersionVector): boolean {
  for (const [agent, n] of a) if (newestOf(b, agent) < n) return false;
  return true;
}

/** True when neither past lies within the other. O(|a| + |b|). */
export function areConcurrent(a: VersionVector, b: VersionVector): boolean {
  return !isWithin(a, b) && !isWithin(b, a);
}
