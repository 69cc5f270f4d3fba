/**
 * What a proposal had seen: the conflict test.
 *
 * Defined on version vectors: a dot `(a, n)` is seen iff `vector[a] >= n`, where the vector is that of the base joined
 * with the proposer's own past (its n - 1), because one's own proposals are always in one's past. A base that the
 * coordinator issued is a sealed revision, so its vector need not travel: the dot is seen iff its mark took effect at or
 * before that revision. A property test holds both forms equal (SPEC: CC1).
 */
import type { Mark } from './dot.ts';
import type { VersionVector } from './version-vector.ts';
import { includes } from './version-vector.ts';

export type CausalContext = {
  readonly agent: string;
  readonly n: number;
  /** The sealed revision that was read. */
  readonly revision: number;
  /** Given only for bases that are not a sealed revision: drafts made offline, federation. */
  readonly vector?: VersionVector;
};

/** True when the change is in the context's past; an absent change always is. O(1). */
export function sees(context: CausalContext, mark: Mark | undefined): boolean {
  if (mark === undefined) return true;
  if (mark.agent === context.agent) return mark.n < context.n;
  if (context.vector !== undefined) return includes(context.vector, mark);
  return mark.revision <= context.revision;
}
