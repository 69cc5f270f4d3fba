/**
 * The coordinator's step: pure and total, the same pair of state and input gives the same step.
 *
 * One append is in flight at a time; while it is, the next round fills. No verdict leaves before the append is
 * acknowledged. An unknown outcome is settled by reading: the record is there, or the same bytes are appended again.
 * SPEC: CO1-CO9.
 */
import { composeRecord, fitsUtf8, foldRecord, OplusError, seal } from '@oplus/core';
import type { Sealed, Shard, Space } from '@oplus/core';
import { LOG_BODY_BYTES_MAX } from '@oplus/protocol';
import type { StoredRecord } from '@oplus/protocol';
import { answersOf, leftoversOf } from './answer.ts';
import { onMessage } from './intake.ts';
import { remembered } from './recent.ts';
import type { CoordinatorState, Effect, Input, Step } from './state.ts';
import { isReady, NOTHING_WAITING, ROUND_MAX, takeRound } from './waiting.ts';
import type { Barrier, Waiting } from './waiting.ts';

/** A coordinator that has folded the whole log and now takes the lead: appends its term. */
export function takeLead(shard: Shard, given: { readonly nonces: ReadonlyMap<string, string>; readonly barrier: Barrier | undefined }): Step {
  const state: CoordinatorState = {
    phase: 'taking',
    term: shard.term + 1,
    shard,
    waiting: new Map(),
    inFlight: undefined,
    recent: new Map(),
    barrier: given.barrier,
    nonces: given.nonces,
  };
  return put(state, []);
}

/** Advances the coordinator by one input. */
export function step(state: CoordinatorState, input: Input): Step {
  if (state.phase === 'ended') return { state, effects: [] };
  switch (input.kind) {
    case 'message':
      return onMessage(state, input.from, input.body);
    case 'turn':
      return onTurn(state, []);
    case 'appended':
      return onAppended(state, []);
    case 'conflict':
    case 'unknown':
      return { state, effects: [{ kind: 'readTail', from: state.shard.index + 1 }] };
    case 'tail':
      return onTail(state, input.records);
    case 'failed':
      return ended(state, input.error);
  }
}

function onTurn(state: CoordinatorState, before: readonly Effect[]): Step {
  if (state.phase !== 'leading' || state.inFlight !== undefined) return { state, effects: before };
  const waiting = new Map(state.waiting);
  const sealed: Sealed[] = [];
  const refusals: Effect[] = [];
  let bytes = 0;
  for (const [name, waits] of state.waiting) {
    const space = state.shard.spaces.get(name) as Space;
    if (bytes > LOG_BODY_BYTES_MAX / 2 || !isReady(waits, space, state.barrier)) continue;
    const round = sealWithin(state, space, waits, LOG_BODY_BYTES_MAX - 4096 - bytes);
    if (round === undefined) continue;
    waiting.set(name, round.rest);
    refusals.push(...round.refusals);
    if (round.sealed.decided.length + round.sealed.events.length === 0) continue;
    bytes += round.sealed.text.length * 3;
    sealed.push(round.sealed);
  }
  if (sealed.length === 0 && refusals.length === 0) return { state: { ...state, waiting }, effects: before };
  const effects = [...before, ...refusals];
  return sealed.length === 0 ? { state: { ...state, waiting }, effects } : put({ ...state, waiting }, sealed, effects);
}

/** Seals as many of the waiting proposals as fit; halves the round until its entry does. */
function sealWithin(
  state: CoordinatorState,
  space: Space,
  waits: Waiting,
  bytesMax: number,
): { readonly sealed: Sealed; readonly rest: Waiting; readonly refusals: readonly Effect[] } | undefined {
  for (let countMax = ROUND_MAX; countMax >= 1; countMax = Math.floor(countMax / 2)) {
    const { proposals, events, rest } = takeRound(waits, countMax);
    const sealed = seal(space, { term: state.term, events, proposals });
    if (fitsUtf8(sealed.text, bytesMax)) {
      const refusals = sealed.decided.length === proposals.length ? [] : leftoversOf(sealed, proposals);
      return { sealed, rest: { ...rest, passes: NOTHING_WAITING.passes }, refusals };
    }
    if (proposals.length <= 1) return undefined;
    countMax = Math.min(countMax, proposals.length);
  }
  return undefined;
}

/** Puts a record on its way. Without entries it begins the term. */
function put(state: CoordinatorState, sealed: readonly Sealed[], before: readonly Effect[] = []): Step {
  const { body, shard: next } = composeRecord(state.shard, state.term, sealed);
  return {
    state: { ...state, inFlight: { body, next, sealed } },
    effects: [...before, { kind: 'append', tail: state.shard.index, body }],
  };
}

function onAppended(state: CoordinatorState, before: readonly Effect[]): Step {
  const { inFlight } = state;
  if (inFlight === undefined) return { state, effects: before };
  const { body, next, sealed } = inFlight;
  const wasTaking = state.phase === 'taking';
  const after: CoordinatorState = {
    ...state,
    phase: 'leading',
    shard: next,
    inFlight: undefined,
    recent: remembered(state.recent, sealed),
  };
  const effects: Effect[] = [
    ...before,
    { kind: 'announce', index: next.index, body },
    { kind: 'committed', sealed },
    ...sealed.flatMap(answersOf),
    ...(wasTaking ? [{ kind: 'leading', term: state.term } as const] : []),
  ];
  return wasTaking ? onTurn(withGenesis(after), effects) : onTurn(after, effects);
}

/** Lets every space that was never born into the next round. */
function withGenesis(state: CoordinatorState): CoordinatorState {
  const waiting = new Map(state.waiting);
  for (const [name, space] of state.shard.spaces) {
    const waits = waiting.get(name) ?? NOTHING_WAITING;
    if (space.revision >= 0) continue;
    const genesis = { kind: 'genesis', schema: space.schema.digest, nonce: state.nonces.get(name) ?? '' } as const;
    waiting.set(name, { ...waits, events: [genesis, ...waits.events] });
  }
  return { ...state, waiting };
}

function onTail(state: CoordinatorState, records: readonly StoredRecord[]): Step {
  const { inFlight } = state;
  let shard = state.shard;
  for (const { index, body } of records) {
    if (body === inFlight?.body && shard.head === state.shard.head) {
      const rest = records.filter((record) => record.index > index);
      const next = { ...inFlight.next, index };
      const after = onAppended({ ...state, shard, inFlight: { ...inFlight, next } }, []);
      return rest.length === 0 ? after : chain(after, { kind: 'tail', records: rest });
    }
    let folded: ReturnType<typeof foldRecord>;
    try {
      folded = foldRecord(shard, index, body);
    } catch (error) {
      return ended(state, error instanceof OplusError ? error : new OplusError('INVARIANT', 'folding the tail failed', { cause: error }));
    }
    shard = folded.shard;
    if (folded.kind === 'folded' && shard.term >= state.term && state.phase === 'leading') {
      return ended({ ...state, shard }, fenced(shard.term));
    }
  }
  const caught = { ...state, shard };
  if (state.phase === 'taking' && shard.head !== state.shard.head) return put({ ...caught, term: shard.term + 1 }, []);
  if (inFlight === undefined) return onTurn(caught, []);
  return {
    state: { ...caught, inFlight: { ...inFlight, next: { ...inFlight.next, index: shard.index + 1 } } },
    effects: [{ kind: 'append', tail: shard.index, body: inFlight.body }],
  };
}

function chain(first: Step, input: Input): Step {
  const second = step(first.state, input);
  return { state: second.state, effects: [...first.effects, ...second.effects] };
}

function ended(state: CoordinatorState, error: OplusError): Step {
  return { state: { ...state, phase: 'ended', inFlight: undefined }, effects: [{ kind: 'ended', error }] };
}

function fenced(term: number): OplusError {
  return new OplusError('FENCED', `term ${term} took over`, { hint: 'Another coordinator leads this shard now; workers find it by themselves.' });
}
