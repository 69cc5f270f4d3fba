/**
 * Leases: what in a state ends by itself, and since when it has been standing on the leader's clock.
 *
 * The clock only decides when an expiry is let into a round; what it ends, the log decides. Time counts from the tick at which
 * this leader first saw a timer, or heard its holder: after a take-over leases begin anew, so they last longer, never shorter.
 * In barrier mode there are no ticks and no time passes: every live agent speaks in every round, so only who has left loses
 * what it held. SPEC: CO26-CO33.
 */
import { hasTimers, isDue, shortestTimerMs, timersOf, trieAt } from '@oplus/core';
import type { ExpiryCause, Shard, Space, Timer } from '@oplus/core';
import type { Barrier } from './barrier.ts';
import type { CoordinatorState } from './state.ts';
import { itemsOf, NOTHING_WAITING, withItem } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** Shortest time between two ticks, in milliseconds. */
export const TICK_MS_MIN = 50;

/**
 * `tickMs` is the time between two ticks, absent where there are none. `at` is the newest of them, in milliseconds that have
 * surely passed since this leader began to count.
 */
export type Leases = {
  readonly tickMs: number | undefined;
  readonly at: number;
  readonly watches: ReadonlyMap<string, Watch>;
};

/** The timers of one state of a space, and since when each is counted, by path and token. */
type Watch = { readonly space: Space; readonly timers: readonly Timer[]; readonly seen: ReadonlyMap<string, Seen> };

/** `word` is what the log knew of the holder when the count began. */
type Seen = { readonly since: number; readonly word: string };

/** Before anything is counted: ticks come a quarter of the shortest time apart that a definition names. */
export function noLeases(shard: Shard, barrier: Barrier | undefined): Leases {
  const schemas = new Set([...shard.spaces.values()].map(({ schema }) => schema));
  const shortest = Math.min(...[...schemas].map((schema) => shortestTimerMs(schema) ?? Infinity));
  const isTimed = barrier === undefined && shortest < Infinity;
  return { tickMs: isTimed ? Math.max(TICK_MS_MIN, Math.floor(shortest / 4)) : undefined, at: 0, watches: new Map() };
}

/**
 * Looks at every timer, and lets an expiry wait for each whose time is over or whose holder has left. `at` is the time of a
 * tick; without it only what has been counted at a tick goes on counting. O(size of the fields with timers) where the state has
 * changed, else O(timers).
 */
export function swept(state: CoordinatorState, at?: number): CoordinatorState {
  const nowMs = at ?? state.leases.at;
  const watches = new Map<string, Watch>();
  const waiting = new Map(state.waiting);
  for (const [name, space] of (state.inFlight?.next ?? state.shard).spaces) {
    if (space.revision < 0 || !hasTimers(space.schema)) continue;
    const before = state.leases.watches.get(name);
    const timers = before?.space === space ? before.timers : timersOf(space);
    const seen = new Map<string, Seen>();
    let waits = waiting.get(name) ?? NOTHING_WAITING;
    const speaking = speakersOf(waits);
    for (const timer of timers) {
      const { path, token, holder } = timer;
      const key = `${path} ${token}`;
      const word = wordOf(space, holder);
      const known = before?.seen.get(key);
      const isCounted = known !== undefined && known.word === word && (holder === undefined || !speaking.has(holder));
      const since = isCounted ? known.since : nowMs;
      if (isCounted || at !== undefined) seen.set(key, { since, word });
      const cause = causeOf(space, timer, nowMs - since);
      const event = cause === undefined ? undefined : ({ kind: 'expire', path, token, cause } as const);
      if (event === undefined || !isDue(space, event)) continue;
      waits = withItem(waits, {
        event,
        after: 0,
        ...(holder === undefined || cause === 'left' ? {} : { silent: { agent: holder, word } }),
      });
    }
    watches.set(name, { space, timers, seen });
    if (waits.count > 0) waiting.set(name, waits);
  }
  return { ...state, waiting, leases: { ...state.leases, at: nowMs, watches } };
}

/** Whether an agent that was silent when a lease ran out still is: nothing of it has been decided since, and nothing waits. */
export function isSilent(
  space: Space,
  waits: Waiting,
  { agent, word }: { readonly agent: string; readonly word: string },
): boolean {
  return wordOf(space, agent) === word && !speakersOf(waits).has(agent);
}

function causeOf(space: Space, { holder, ms }: Timer, passedMs: number): ExpiryCause | undefined {
  if (holder !== undefined && trieAt(space.agents, holder)?.isLive === false) return 'left';
  if (passedMs < ms) return undefined;
  return holder === undefined ? 'deadline' : 'lease';
}

/** What the log knows of an agent's words: it changes with each session and each decided proposal. */
function wordOf(space: Space, agent: string | undefined): string {
  const record = agent === undefined ? undefined : trieAt(space.agents, agent);
  return record === undefined ? '' : `${record.incarnation} ${record.n}`;
}

/** Who has a proposal waiting. O(what waits). */
function speakersOf(waits: Waiting): ReadonlySet<string> {
  const speaking = new Set<string>();
  for (const item of itemsOf(waits)) if ('text' in item) speaking.add(item.proposal.agent);
  return speaking;
}
