/**
 * What waits for the next round of one space. Persistent, so that a coordinator's state can be kept, compared and forked.
 */
import type { Admitted, Space, SystemEvent } from '@oplus/core';
import { trieEntries } from '@oplus/core';

/** A linked list, newest first. */
type Chain<T> = { readonly item: T; readonly rest: Chain<T> } | undefined;

export type Waiting = {
  readonly proposals: Chain<Admitted>;
  readonly count: number;
  readonly events: readonly SystemEvent[];
  /** Agents that have nothing to propose, with the revision on which they said so. */
  readonly passes: ReadonlyMap<string, number>;
};

export const NOTHING_WAITING: Waiting = { proposals: undefined, count: 0, events: [], passes: new Map() };

/** Most proposals that may wait in one space; more are not taken, and their workers re-send. */
export const WAITING_MAX = 4096;

/** Most proposals sealed in one round. */
export const ROUND_MAX = 512;

/** UTF-16 units of proposals after which a round is cut: with verdicts and frame they usually fit one record. */
export const ROUND_CHARS_MAX = 131_072;

export function withProposal(waiting: Waiting, admitted: Admitted): Waiting {
  if (waiting.count >= WAITING_MAX) return waiting;
  return { ...waiting, proposals: { item: admitted, rest: waiting.proposals }, count: waiting.count + 1 };
}

export function withEvent(waiting: Waiting, event: SystemEvent): Waiting {
  return { ...waiting, events: [...waiting.events, event] };
}

export function withPass(waiting: Waiting, agent: string, revision: number): Waiting {
  return { ...waiting, passes: new Map(waiting.passes).set(agent, revision) };
}

/** Takes the oldest proposals, at most `countMax` and `ROUND_CHARS_MAX` units, and all events. */
export function takeRound(
  waiting: Waiting,
  countMax: number,
): { readonly proposals: readonly Admitted[]; readonly events: readonly SystemEvent[]; readonly rest: Waiting } {
  const oldestFirst: Admitted[] = [];
  for (let chain = waiting.proposals; chain !== undefined; chain = chain.rest) oldestFirst.push(chain.item);
  oldestFirst.reverse();
  let chars = 0;
  let taken = 0;
  while (taken < oldestFirst.length && taken < countMax) {
    chars += (oldestFirst[taken] as Admitted).text.length;
    if (chars > ROUND_CHARS_MAX && taken > 0) break;
    taken += 1;
  }
  let left: Chain<Admitted>;
  for (let i = taken; i < oldestFirst.length; i += 1) left = { item: oldestFirst[i] as Admitted, rest: left };
  return {
    proposals: oldestFirst.slice(0, taken),
    events: waiting.events,
    rest: { proposals: left, count: oldestFirst.length - taken, events: [], passes: waiting.passes },
  };
}

/** What a barrier waits for: this many agents at the start, and from then on a word from every live one. */
export type Barrier = { readonly agents: number };

/** True when the space has something to seal and need not wait for anybody. */
export function isReady(waiting: Waiting, space: Space, barrier: Barrier | undefined): boolean {
  if (waiting.count === 0 && waiting.events.length === 0) return false;
  if (barrier === undefined || space.revision < 0) return true;
  const spoken = new Set<string>();
  for (const event of waiting.events) if (event.kind !== 'genesis') spoken.add(event.agent);
  if (space.agents.size < barrier.agents) {
    for (const [agent] of trieEntries(space.agents)) spoken.delete(agent);
    return space.agents.size + spoken.size >= barrier.agents;
  }
  for (let chain = waiting.proposals; chain !== undefined; chain = chain.rest) spoken.add(chain.item.proposal.agent);
  for (const [agent, record] of trieEntries(space.agents)) {
    if (record.isLive && !spoken.has(agent) && waiting.passes.get(agent) !== space.revision) return false;
  }
  return true;
}
