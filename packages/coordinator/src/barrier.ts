/**
 * Barrier mode, for experiments: a round closes when every live agent has spoken, so a run depends on what was said and never
 * on when it arrived.
 *
 * A proposal speaks for its agent while it is the next one due; a repetition of a decided one does not, however late it comes.
 * The record is the same too as long as a shard has one space: spaces of one shard share records as their timing has it. SPEC: CO18, T3.
 */
import { compareAdmit, compareText, stampOf, trieAt, trieEntries } from '@oplus/core';
import type { Admitted, Space } from '@oplus/core';
import { itemsOf } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** This many agents at the start, and from then on a word from every live one. */
export type Barrier = { readonly agents: number };

/** True when the space has something to seal and need not wait for anybody. */
export function isReady(waiting: Waiting, space: Space, barrier: Barrier | undefined): boolean {
  if (waiting.count === 0) return false;
  if (barrier === undefined || space.revision < 0) return true;
  const joining = new Set<string>();
  const spoken = new Set<string>();
  for (const item of itemsOf(waiting)) {
    if ('text' in item) {
      if (isDue(space, item)) spoken.add(item.proposal.agent);
    } else if (item.event.kind === 'join') joining.add(item.event.agent);
    else if (item.event.kind === 'leave') spoken.add(item.event.agent);
  }
  if (space.agents.size < barrier.agents) {
    let newCount = 0;
    for (const agent of joining) if (trieAt(space.agents, agent) === undefined) newCount += 1;
    return space.agents.size + newCount >= barrier.agents;
  }
  for (const [agent, record] of trieEntries(space.agents)) {
    if (!record.isLive || spoken.has(agent) || joining.has(agent)) continue;
    if (waiting.passes.get(agent) !== space.revision) return false;
  }
  return true;
}

/** The due proposals, each once, in an order that knows nothing of their arrival: should the round be cut, the longest wait goes first. */
export function inAdmitOrder(space: Space, proposals: readonly Admitted[]): readonly Admitted[] {
  const byText = new Map<string, Admitted>();
  for (const admitted of proposals) if (isDue(space, admitted)) byText.set(admitted.text, admitted);
  return [...byText.values()].toSorted(
    (a, b) => compareAdmit(stampOfProposal(a), stampOfProposal(b)) || compareText(a.text, b.text),
  );
}

function isDue(space: Space, { proposal }: Admitted): boolean {
  const record = trieAt(space.agents, proposal.agent);
  return record !== undefined && record.isLive && proposal.incarnation === record.incarnation && proposal.n === record.n + 1;
}

function stampOfProposal({ proposal }: Admitted): ReturnType<typeof stampOf> {
  return stampOf({ revision: proposal.base.revision, priority: 0, agent: proposal.agent, n: proposal.n });
}
