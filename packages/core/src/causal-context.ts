/**
 * What a proposal had seen: the conflict test.
 *
 * Defined on version vectors: a dot `(a, n)` is seen iff `vector[a] >= n`, where the vector is that of the sealed revision
 * that was read, joined with the proposer's own past (its n - 1), because one's own proposals are always in one's past
 * (decision 0003). The vector of a sealed revision need not travel: the dot is in it iff its mark took effect at or before
 * that revision. A draft made elsewhere may name further dots in an explicit vector; they are joined. A property test
 * holds both forms equal. SPEC: CC1-CC5.
 */
import type { Mark } from './dot.ts';
import type { VersionVector } from './version-vector.ts';
import { includes } from './version-vector.ts';

export type CausalContext = {
  readonly agent: string;
  readonly n: number;
  /** The sealed revision that was read. */
  readonly revision: number;
  /** What was seen beyond that revision: only for drafts made offline, and federation. */
  readonly vector?: VersionVector;
};

/** True when the change is in the context's past; an absent change always is. O(1). */
export function sees(context: CausalContext, mark: Mark | undefined): boolean {
  if (mark === undefined || mark.revision <= context.revision) return true;
  if (mark.agent === context.agent) return mark.n < context.n;
  return context.vector !== undefined && mark.agent !== '' && includes(context.vector, mark);
}

/**
 * True when the change and all before it of the same thing are in the context's past. Dots of an explicit vector do not count:
 * they say nothing of what stood before them. O(1).
 */
export function seesAll(context: CausalContext, mark: Mark | undefined): boolean {
  if (mark === undefined || mark.revision <= context.revision) return true;
  return mark.agent === context.agent && mark.n < context.n && (mark.foreign?.revision ?? 0) <= context.revision;
}
