/**
 * A small log in an array, and the same log with one fault each: the contract suite must pass the first and fail every other.
 */
import { OplusError } from '@oplus/core';
import { assertIndex, assertLogBody } from '../ports/guard.ts';
import type { AppendOutcome, Log, StoredRecord } from '../ports/log.ts';
import type { LogStore } from './log-contract.ts';

/** Every fault, with the rule of the contract that forbids it. */
export const LOG_FAULTS: readonly { readonly fault: LogFault; readonly rule: string }[] = [
  { fault: 'counts from 0', rule: 'LOG1' },
  { fault: 'ignores tail', rule: 'LOG2' },
  { fault: 'accepts a tail from the past', rule: 'LOG2' },
  { fault: 'repeats the tail of the caller in a conflict', rule: 'LOG2' },
  { fault: 'takes any number for a tail', rule: 'LOG2' },
  { fault: 'lets two win', rule: 'LOG3' },
  { fault: 'lets a second writer in', rule: 'LOG3' },
  { fault: 'reads from the start', rule: 'LOG4' },
  { fault: 'reads backwards', rule: 'LOG4' },
  { fault: 'follows', rule: 'LOG4' },
  { fault: 'misses the newest', rule: 'LOG4' },
  { fault: 'cuts at NUL', rule: 'LOG5' },
  { fault: 'normalises text', rule: 'LOG5' },
  { fault: 'counts characters', rule: 'LOG6' },
  { fault: 'repairs surrogates', rule: 'LOG6' },
  { fault: 'stays open', rule: 'LOG7' },
  { fault: 'acknowledges while closing', rule: 'LOG7' },
  { fault: 'loses the last append on reopening', rule: 'LOG8' },
  { fault: 'has a reader with a cache', rule: 'LOG9' },
  { fault: 'has a reader that skips ahead', rule: 'LOG9' },
  { fault: 'overstates its durability', rule: 'LOG10' },
  { fault: 'shares its records with another store', rule: 'LOG11' },
  { fault: 'drops a body that it has seen', rule: 'LOG12' },
];

export type LogFault =
  | 'none'
  | 'counts from 0'
  | 'ignores tail'
  | 'accepts a tail from the past'
  | 'repeats the tail of the caller in a conflict'
  | 'takes any number for a tail'
  | 'lets two win'
  | 'lets a second writer in'
  | 'reads from the start'
  | 'reads backwards'
  | 'follows'
  | 'misses the newest'
  | 'cuts at NUL'
  | 'normalises text'
  | 'counts characters'
  | 'repairs surrogates'
  | 'stays open'
  | 'acknowledges while closing'
  | 'loses the last append on reopening'
  | 'has a reader with a cache'
  | 'has a reader that skips ahead'
  | 'overstates its durability'
  | 'shares its records with another store'
  | 'drops a body that it has seen';

/** A store with that fault. `writers` is `many`, unless the fault is about a lock. */
export async function brokenLogStore(fault: LogFault, writers: 'one' | 'many' = 'many'): Promise<LogStore> {
  const isLocking = writers === 'one' || fault === 'lets a second writer in';
  const held: Held = { bodies: fault === 'shares its records with another store' ? SHARED : [], writerCount: 0 };
  return {
    durability: 'none',
    writers: isLocking ? 'one' : 'many',
    async open() {
      if (isLocking && held.writerCount > 0 && fault !== 'lets a second writer in')
        throw new OplusError('LOG_LOCKED', 'open elsewhere');
      if (fault === 'loses the last append on reopening' && held.writerCount === 0) held.bodies.pop();
      held.writerCount += 1;
      return openLog(held, fault, false);
    },
    openReader: async () => openLog(held, fault, true),
    destroy: async () => void SHARED.splice(0),
  };
}

type Held = { readonly bodies: string[]; writerCount: number };

const SHARED: string[] = [];

function openLog(held: Held, fault: LogFault, isReader: boolean): Log {
  const bodies = fault === 'has a reader with a cache' && isReader ? [...held.bodies] : held.bodies;
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed && fault !== 'stays open') throw new OplusError('TRANSPORT_CLOSED', 'the log is closed');
  };
  return {
    durability: fault === 'overstates its durability' ? 'power' : 'none',
    async tail() {
      assertOpen();
      return bodies.length;
    },
    async append(tail, body) {
      assertOpen();
      if (fault !== 'takes any number for a tail') assertIndex(tail, 0);
      if (!(fault === 'counts characters' && body.length <= 524_288) && fault !== 'repairs surrogates') assertLogBody(body);
      const refusal = refusalOf(bodies, tail, fault);
      if (refusal !== undefined) return refusal;
      if (fault === 'lets two win' || fault === 'acknowledges while closing') await Promise.resolve();
      if (fault === 'acknowledges while closing' && isClosed) return { kind: 'appended', index: tail + 1 };
      if (fault === 'drops a body that it has seen' && bodies.includes(body)) return { kind: 'appended', index: bodies.length };
      bodies.push(storedOf(body, fault));
      return { kind: 'appended', index: fault === 'counts from 0' ? bodies.length - 1 : bodies.length };
    },
    async *read(from) {
      assertOpen();
      assertIndex(from, 1);
      yield* recordsOf(bodies, from, fault, isReader);
    },
    async close() {
      if (!isClosed && !isReader) held.writerCount -= 1;
      isClosed = true;
    },
  };
}

function refusalOf(bodies: readonly string[], tail: number, fault: LogFault): AppendOutcome | undefined {
  if (tail === bodies.length || fault === 'ignores tail') return undefined;
  if (fault === 'accepts a tail from the past' && tail < bodies.length) return undefined;
  return { kind: 'conflict', tail: fault === 'repeats the tail of the caller in a conflict' ? tail : bodies.length };
}

function storedOf(body: string, fault: LogFault): string {
  if (fault === 'cuts at NUL') return body.split('\u0000')[0] ?? '';
  if (fault === 'normalises text') return body.normalize('NFC');
  return body;
}

function* recordsOf(bodies: readonly string[], from: number, fault: LogFault, isReader: boolean): Generator<StoredRecord> {
  const tail = fault === 'misses the newest' && bodies.length > 1 ? bodies.length - 1 : bodies.length;
  const first = fault === 'reads from the start' ? 1 : from;
  const skipped = fault === 'has a reader that skips ahead' && isReader && tail > 30 ? 1 : 0;
  for (let index = first; index <= (fault === 'follows' ? bodies.length : tail); index += 1) {
    if (index === skipped) continue;
    const at = fault === 'reads backwards' ? tail + first - index : index;
    yield { index: at, body: bodies[at - 1] ?? '' };
  }
}
