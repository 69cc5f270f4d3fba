/**
 * What waits for the next round of one space. Persistent, so that a coordinator's state can be kept, compared and forked.
 *
 * Bounded in number and in size. When it is full, repetitions go first, then what one agent has sent beyond its share; what
 * is still too much is not taken, and its worker sends it again. SPEC: CO16.
 */
import type { Admitted, SystemEvent } from '@oplus/core';

/** A linked list, newest first. */
type Chain<T> = { readonly item: T; readonly rest: Chain<T> } | undefined;

/**
 * `after` is the incarnation over which a join takes its name; for other events it means nothing. `silent` is the agent that
 * an expiry is about, as it was last heard: should it speak before the round, nothing ends.
 */
export type WaitingEvent = {
  readonly event: SystemEvent;
  readonly after: number;
  readonly silent?: { readonly agent: string; readonly word: string };
};

export type Waiting = {
  readonly items: Chain<Admitted | WaitingEvent>;
  readonly count: number;
  /** UTF-16 units of the proposals. */
  readonly chars: number;
  /** Packing again would gain little: until the next round nothing more is taken once it is full. */
  readonly isPacked: boolean;
  /** Agents that have nothing to propose, with the revision on which they said so. Kept in barrier mode only. */
  readonly passes: ReadonlyMap<string, number>;
};

export const NOTHING_WAITING: Waiting = { items: undefined, count: 0, chars: 0, isPacked: false, passes: new Map() };

/** Most messages that wait in one space. */
export const WAITING_MAX = 4096;

/** Most UTF-16 units of proposals that wait in one space, give or take one proposal. */
export const WAITING_CHARS_MAX = 16_777_216;

/** Most proposals of one agent that wait when there is no room for all, and how far ahead of its decided ones they may be. */
export const AHEAD_MAX = 64;

/** Most proposals sealed in one round. */
export const ROUND_MAX = 512;

/** UTF-16 units of proposals after which a round is cut: with verdicts and frame they usually fit one record. */
export const ROUND_CHARS_MAX = 131_072;

/** Most events sealed in one round: with paths of at most `ROUND_CHARS_MAX` units together they fit into a record. */
export const ROUND_EVENTS_MAX = 1024;

/** One more; the same waiting when there is no room. O(1), now and then O(count). */
export function withItem(waiting: Waiting, item: Admitted | WaitingEvent): Waiting {
  if (!isFull(waiting)) return added(waiting, item);
  if (waiting.isPacked) return waiting;
  const packed = pack(waiting);
  return isFull(packed) ? packed : added(packed, item);
}

export function withPass(waiting: Waiting, agent: string, revision: number): Waiting {
  return { ...waiting, passes: new Map(waiting.passes).set(agent, revision) };
}

/** What a round is sealed from, and what waits on. */
export type Taken = { readonly proposals: readonly Admitted[]; readonly events: readonly WaitingEvent[]; readonly rest: Waiting };

/**
 * Takes up to `countMax` proposals of at most `ROUND_CHARS_MAX` units together, at least one if `countMax` allows, and up to
 * `ROUND_EVENTS_MAX` events, each agent's newest of its kind, with paths of as many units together. `arrange` says which come first, given the oldest first; without
 * it these do. O(count).
 */
export function takeRound(
  waiting: Waiting,
  countMax: number,
  arrange?: (oldestFirst: readonly Admitted[]) => readonly Admitted[],
): Taken {
  const { proposals: arrived, events } = sorted(waiting);
  const proposals = arrange === undefined ? arrived : arrange(arrived);
  let chars = 0;
  let taken = 0;
  while (taken < proposals.length && taken < countMax) {
    chars += (proposals[taken] as Admitted).text.length;
    if (chars > ROUND_CHARS_MAX && taken > 0) break;
    taken += 1;
  }
  let rest: Waiting = { ...NOTHING_WAITING, passes: waiting.passes };
  for (let i = taken; i < proposals.length; i += 1) rest = added(rest, proposals[i] as Admitted);
  const takenEvents = eventsThatFit(events);
  for (let i = takenEvents; i < events.length; i += 1) rest = added(rest, events[i] as WaitingEvent);
  return { proposals: proposals.slice(0, taken), events: events.slice(0, takenEvents), rest };
}

/** Everything that waits, the newest first. */
export function* itemsOf(waiting: Waiting): Generator<Admitted | WaitingEvent> {
  for (let chain = waiting.items; chain !== undefined; chain = chain.rest) yield chain.item;
}

function eventsThatFit(events: readonly WaitingEvent[]): number {
  let chars = 0;
  let taken = 0;
  while (taken < events.length && taken < ROUND_EVENTS_MAX) {
    const { event } = events[taken] as WaitingEvent;
    if (event.kind === 'expire') chars += event.path.length;
    if (chars > ROUND_CHARS_MAX) break;
    taken += 1;
  }
  return taken;
}

function isFull(waiting: Waiting): boolean {
  return waiting.count >= WAITING_MAX || waiting.chars >= WAITING_CHARS_MAX;
}

function added(waiting: Waiting, item: Admitted | WaitingEvent): Waiting {
  const { items, count, chars, isPacked, passes } = waiting;
  return {
    items: { item, rest: items },
    count: count + 1,
    chars: chars + ('text' in item ? item.text.length : 0),
    isPacked,
    passes,
  };
}

/** Proposals with the oldest first; of the events each agent's newest of its kind, the oldest first. */
function sorted(waiting: Waiting): { readonly proposals: readonly Admitted[]; readonly events: readonly WaitingEvent[] } {
  const proposals: Admitted[] = [];
  const events = new Map<string, WaitingEvent>();
  for (let chain = waiting.items; chain !== undefined; chain = chain.rest) {
    const { item } = chain;
    if ('text' in item) proposals.push(item);
    else {
      const key = keyOf(item.event);
      if (!events.has(key)) events.set(key, item);
    }
  }
  return { proposals: proposals.reverse(), events: events.size === 0 ? NO_EVENTS : [...events.values()].reverse() };
}

const NO_EVENTS: readonly WaitingEvent[] = [];

function keyOf(event: SystemEvent): string {
  switch (event.kind) {
    case 'genesis':
      return event.kind;
    case 'expire':
      return `${event.kind} ${event.path} ${event.token}`;
    case 'join':
    case 'leave':
      return `${event.kind} ${event.agent}`;
  }
}

/** Without repetitions, and of each agent no more than its share. */
function pack(waiting: Waiting): Waiting {
  const { proposals, events } = sorted(waiting);
  const byAgent = new Map<string, Admitted[]>();
  let packed: Waiting = { ...NOTHING_WAITING, passes: waiting.passes };
  for (const event of events) packed = added(packed, event);
  for (const admitted of proposals) {
    const kept = byAgent.get(admitted.proposal.agent) ?? [];
    if (kept.length >= AHEAD_MAX || kept.some((one) => one.text === admitted.text)) continue;
    kept.push(admitted);
    byAgent.set(admitted.proposal.agent, kept);
    packed = added(packed, admitted);
  }
  return { ...packed, isPacked: packed.count > WAITING_MAX / 2 || packed.chars > WAITING_CHARS_MAX / 2 };
}
