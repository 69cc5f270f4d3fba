/**
 * Rehearsals: the verdict that a proposal would get on the newest state, and no trace of it.
 *
 * A promise of nothing: what is sealed in between may change the verdict. SPEC: DRY1-DRY4.
 */
import type { Verdict } from './issue.ts';
import type { Admitted } from './proposal.ts';
import { seal } from './seal.ts';
import type { Space } from './space.ts';

/**
 * The verdict that the proposal would get alone in the next round, whether it is `dry` or not. `undefined` when it would get
 * none, because its dot is not the next one of a live agent. Cost: that of a seal of one, which is thrown away.
 */
export function rehearse(space: Space, admitted: Admitted): Verdict | undefined {
  if (space.revision < 0) return undefined;
  const { dry: _, ...proposal } = admitted.proposal;
  const sealed = seal(space, { term: 1, events: [], proposals: [{ proposal, text: admitted.text }] });
  return sealed.decided[0]?.verdict;
}
