/**
 * The coordinator's step: pure and total, the same pair of state and input gives the same step.
 *
 * One append is in flight at a time; while it is, the next round fills. No verdict leaves before the append is
 * acknowledged. An unknown outcome is settled by reading: the record is there, or the same bytes are appended again.
 * SPEC: CO1-CO8.
 */
import { composeRecord, invariant, OplusError } from '@oplus/core';
import type { Sealed, Shard } from '@oplus/core';
import { foldLogRecord } from '@oplus/protocol';
import type { StoredRecord } from '@oplus/protocol';
import { answersOf } from './answer.ts';
import type { Barrier } from './barrier.ts';
import { onMessage } from './intake.ts';
import { noLeases, swept } from './leases.ts';
import type { Recent } from './recent.ts';
import { remembered } from './recent.ts';
import { sealWaiting } from './round.ts';
import type { CoordinatorState, Effect, InFlight, Input, Step } from './state.ts';
import { NOTHING_WAITING, withItem } from './waiting.ts';

/** A log, folded whole. */
export type Recovered = { readonly shard: Shard; readonly recent: Recent };

/** A coordinator that has folded the whole log and now takes the lead: appends its term. */
export function takeLead(
  { shard, recent }: Recovered,
  given: { readonly nonces: ReadonlyMap<string, string>; readonly barrier: Barrier | undefined },
): Step {
  return takeTerm({
    phase: 'taking',
    term: 0,
    shard,
    waiting: new Map(),
    inFlight: undefined,
    recent,
    leases: noLeases(shard, given.barrier),
    ...given,
  });
}

/** Advances the coordinator by one input. */
export function step(state: CoordinatorState, input: Input): Step {
  if (state.phase === 'ended') return { state, effects: [] };
  switch (input.kind) {
    case 'message':
      return onMessage(state, input.from, input.body);
    case 'turn':
      return onTurn(state, []);
    case 'tick':
      return onTick(state, input.at);
    case 'appended':
      return onAppended(state, input.index);
    case 'conflict':
      return input.tail < state.shard.index ? ended(state, wentBackwards(state.shard.index, input.tail)) : readTail(state);
    case 'unknown':
      return readTail(state);
    case 'tail':
      return onTail(state, input.records);
    case 'failed':
      return ended(state, input.error);
  }
}

function onTurn(state: CoordinatorState, before: readonly Effect[]): Step {
  if (state.phase !== 'leading' || state.inFlight !== undefined || state.waiting.size === 0) return { state, effects: before };
  const { sealed, atOnce, afterAppend, waiting } = sealWaiting(state);
  const next = { ...state, waiting };
  const effects = atOnce.length === 0 ? before : [...before, ...atOnce];
  return sealed.length === 0 ? { state: next, effects } : put(next, sealed, afterAppend, effects);
}

function onTick(state: CoordinatorState, at: number): Step {
  if (state.phase !== 'leading') return { state, effects: [] };
  return onTurn(swept(state, at), wakeOf(state));
}

function wakeOf({ leases: { tickMs } }: CoordinatorState): readonly Effect[] {
  return tickMs === undefined ? [] : [{ kind: 'wake', delayMs: tickMs }];
}

/** Puts a record on its way. Without entries it begins the term. */
function put(state: CoordinatorState, sealed: readonly Sealed[], refusals: readonly Effect[], before: readonly Effect[]): Step {
  const { body, shard: next } = composeRecord(state.shard, state.term, sealed);
  return {
    state: { ...state, inFlight: { body, next, sealed, refusals } },
    effects: [...before, { kind: 'append', tail: state.shard.index, body }],
  };
}

/**
 * Asks for the term after the newest one. A term that no acknowledged append of ours began is never led: two candidates write the
 * same bytes, so whose record it is that stands in the log cannot be told by looking.
 */
function takeTerm(state: CoordinatorState): Step {
  return put({ ...state, term: state.shard.term + 1 }, [], [], []);
}

function onAppended(state: CoordinatorState, index: number): Step {
  const { inFlight } = state;
  if (inFlight === undefined) return { state, effects: [] };
  // Stored elsewhere than it was meant to be: whether it counts there, only reading can tell.
  if (index !== inFlight.next.index) return readTail(state);
  const landed = land(state, inFlight, inFlight.next);
  if (state.phase === 'leading') return onTurn(landed.state, landed.effects);
  const leading = swept(withGenesis({ ...landed.state, phase: 'leading' }), 0);
  return onTurn(leading, [...landed.effects, { kind: 'leading', term: state.term }, ...wakeOf(leading)]);
}

/** The record in flight is in the log, and leads to `shard`. */
function land(state: CoordinatorState, { body, sealed, refusals }: InFlight, shard: Shard): Step {
  const landed = { ...state, shard, inFlight: undefined, recent: remembered(state.recent, sealed) };
  // Who has left loses at once what it held; where time does not pass, this is the only sweep.
  const isSweepDue = state.barrier !== undefined || sealed.some(({ events }) => events.some(({ kind }) => kind === 'leave'));
  return {
    state: isSweepDue ? swept(landed) : landed,
    effects: [
      { kind: 'announce', index: shard.index, body },
      { kind: 'committed', sealed },
      ...sealed.flatMap(answersOf),
      ...refusals,
    ],
  };
}

/** Lets every space that was never born into the next round. */
function withGenesis(state: CoordinatorState): CoordinatorState {
  const waiting = new Map(state.waiting);
  for (const [name, { revision, schema }] of state.shard.spaces) {
    if (revision >= 0) continue;
    const event = { kind: 'genesis', schema: schema.digest, nonce: state.nonces.get(name) ?? '' } as const;
    waiting.set(name, withItem(NOTHING_WAITING, { event, after: 0 }));
  }
  return { ...state, waiting };
}

function readTail(state: CoordinatorState): Step {
  return { state, effects: [{ kind: 'readTail', from: state.shard.index + 1 }] };
}

function onTail(state: CoordinatorState, records: readonly StoredRecord[]): Step {
  const read = readOn(state, records);
  if (read.end !== undefined) return ended(read.state, read.end, read.effects);
  if (state.phase === 'taking')
    return read.state.shard.head === state.shard.head ? again(read.state) : takeTerm({ ...read.state, inFlight: undefined });
  return read.state.inFlight === undefined ? onTurn(read.state, read.effects) : again(read.state);
}

type Read = Step & { readonly end?: OplusError };

/** Folds what was read. Our own record among it has landed; any other that counts means that somebody else leads. */
function readOn(start: CoordinatorState, records: readonly StoredRecord[]): Read {
  let state = start;
  let effects: readonly Effect[] = [];
  for (const record of records) {
    const { shard, inFlight, phase } = state;
    const { index, body } = record;
    if (index <= shard.index) continue;
    if (phase === 'leading' && body === inFlight?.body && index === shard.index + 1) {
      // In this state its predecessor is the last valid record, for a valid one in between would have ended us.
      ({ state, effects } = land(state, inFlight, { ...inFlight.next, index }));
      continue;
    }
    try {
      const folded = foldLogRecord(shard, record);
      const sealed = folded.kind === 'folded' ? folded.sealed : [];
      state = { ...state, shard: folded.shard, recent: remembered(state.recent, sealed) };
      if (folded.kind === 'folded' && phase === 'leading') return { state, effects, end: fenced(folded.shard.term) };
    } catch (error) {
      return { state, effects, end: asOplusError(error, 'the tail of the log cannot be folded') };
    }
  }
  return { state, effects };
}

/** Appends the same bytes after what was read meanwhile, which was void. */
function again(state: CoordinatorState): Step {
  const { inFlight, shard } = state;
  invariant(
    inFlight !== undefined && inFlight.body.includes(`"prev":"${shard.head}"`),
    'only a record that continues the log is appended again',
  );
  return {
    state: { ...state, inFlight: { ...inFlight, next: { ...inFlight.next, index: shard.index + 1 } } },
    effects: [{ kind: 'append', tail: shard.index, body: inFlight.body }],
  };
}

function ended(state: CoordinatorState, error: OplusError, before: readonly Effect[] = []): Step {
  return {
    state: { ...state, phase: 'ended', inFlight: undefined, waiting: new Map() },
    effects: [...before, { kind: 'ended', error }],
  };
}

function asOplusError(error: unknown, what: string): OplusError {
  return error instanceof OplusError ? error : new OplusError('INVARIANT', what, { cause: error });
}

function fenced(term: number): OplusError {
  return new OplusError('FENCED', `term ${term} took over`, {
    hint: 'Another coordinator leads this shard now; workers find it by themselves.',
  });
}

function wentBackwards(index: number, tail: number): OplusError {
  return new OplusError('LOG_DAMAGED', `the log went backwards: record ${index} was acknowledged, the newest is ${tail}`, {
    hint: 'It was restored from an older copy, or lost its tail in a power cut. What it held is in the replicas of the workers.',
  });
}
