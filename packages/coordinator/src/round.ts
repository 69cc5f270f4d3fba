/**
 * Sealing what waits into rounds that fit one record together. SPEC: CO17.
 */
import type { Admitted, Sealed, Space, SystemEvent } from '@oplus/core';
import { fitsUtf8, seal, trieAt, utf8Bytes } from '@oplus/core';
import { LOG_BODY_BYTES_MAX } from '@oplus/protocol';
import { leftoversOf, refuse } from './answer.ts';
import { inAdmitOrder, isReady } from './barrier.ts';
import { isSilent } from './leases.ts';
import type { CoordinatorState, Effect } from './state.ts';
import { NOTHING_WAITING, ROUND_MAX, takeRound } from './waiting.ts';
import type { Waiting, WaitingEvent } from './waiting.ts';

/** Rounds of one record. `atOnce` may be said now, `afterAppend` is true only once the record is in the log. */
export type Rounds = {
  readonly sealed: readonly Sealed[];
  readonly atOnce: readonly Effect[];
  readonly afterAppend: readonly Effect[];
  readonly waiting: ReadonlyMap<string, Waiting>;
};

/** Seals a round of every space that is ready, as long as there is room; whoever finds none is first next time. */
export function sealWaiting(state: CoordinatorState): Rounds {
  const waiting = new Map(state.waiting);
  const sealed: Sealed[] = [];
  const atOnce: Effect[] = [];
  const afterAppend: Effect[] = [];
  let bytes = 0;
  for (const [name, waits] of state.waiting) {
    if (bytes > RECORD_BYTES_MAX / 2) break;
    const space = state.shard.spaces.get(name) as Space;
    let rest = waits;
    // What comes to nothing must not keep what waits behind it.
    while (isReady(rest, space, state.barrier)) {
      const round = sealWithin(state, space, rest, RECORD_BYTES_MAX - bytes);
      if (round === undefined) break;
      ({ rest } = round);
      (round.sealed === undefined ? atOnce : afterAppend).push(...round.refusals);
      if (round.sealed === undefined) continue;
      sealed.push(round.sealed);
      bytes += round.sealed.text.length * UTF8_BYTES_MAX;
      break;
    }
    if (rest === waits) continue;
    waiting.delete(name);
    if (rest.count > 0 || rest.passes.size > 0) waiting.set(name, rest);
  }
  return { sealed, atOnce, afterAppend, waiting };
}

/** Room for the entries of a record; the rest is its frame. */
const RECORD_BYTES_MAX = LOG_BODY_BYTES_MAX - 4096;
/** Most bytes that one UTF-16 unit takes in UTF-8. */
const UTF8_BYTES_MAX = 3;

type Round = { readonly sealed: Sealed | undefined; readonly refusals: readonly Effect[]; readonly rest: Waiting };

/**
 * Seals as much of what waits as fits, by trial. `undefined` when another space has taken the
 * room; what does not even fit alone is refused, so that nobody waits behind it.
 */
function sealWithin(state: CoordinatorState, space: Space, waits: Waiting, bytesMax: number): Round | undefined {
  const arrange = state.barrier === undefined ? undefined : (proposals: readonly Admitted[]) => inAdmitOrder(space, proposals);
  let countMax = ROUND_MAX;
  for (;;) {
    const { proposals, events, rest } = takeRound(waits, countMax, arrange);
    const sealed = seal(space, { term: state.term, events: letIn(space, events, waits), proposals });
    if (sealed.decided.length + sealed.events.length === 0)
      return { sealed: undefined, refusals: leftoversOf(space, [], proposals), rest };
    if (fitsUtf8(sealed.text, bytesMax)) {
      return {
        sealed,
        refusals: leftoversOf(sealed.space, sealed.decided, proposals),
        rest: { ...rest, passes: NOTHING_WAITING.passes },
      };
    }
    if (bytesMax < RECORD_BYTES_MAX) return undefined;
    if (proposals.length > 1) countMax = fewer(proposals.length, bytesMax / utf8Bytes(sealed.text));
    else if (events.length > 0 && proposals.length > 0) countMax = 0;
    else return { sealed: undefined, refusals: proposals.map(tooLarge), rest };
  }
}

/** How many to try next when only this share of them fitted; with a margin, as they differ in size. */
function fewer(count: number, share: number): number {
  return Math.max(1, Math.min(count - 1, Math.floor(count * share * 0.9)));
}

/**
 * A join is let in only over the incarnation that its session knew of: in between, somebody else may have come. A lease runs
 * out only if its holder has kept silent since.
 */
function letIn(space: Space, events: readonly WaitingEvent[], waits: Waiting): readonly SystemEvent[] {
  return events
    .filter(({ event, after }) => event.kind !== 'join' || (trieAt(space.agents, event.agent)?.incarnation ?? 0) === after)
    .filter(({ silent }) => silent === undefined || isSilent(space, waits, silent))
    .map(({ event }) => event);
}

function tooLarge({ proposal, text }: Admitted): Effect {
  const hint = 'Proposal and verdict do not fit into one record of the log, even alone. Make a smaller one.';
  return refuse(proposal.agent, text, [{ path: '', code: 'too_large', rule: 'record', recovery: 'change', hint }]);
}
