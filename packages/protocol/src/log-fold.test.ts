/** Folding with the wrong definition in hand. */
import { composeRecord, counter, emptyShard, foldRecord, loadState, OplusError, seal } from '@oplus/core';
import type { Shard, Space, StateSchema } from '@oplus/core';
import { expect, test } from 'vitest';
import { foldLogRecord } from './log-fold.ts';
import { isPassing } from './passing.ts';
import { sha256 } from './sha256.ts';

const ours = loadState({ name: 'board', version: 1, fields: { done: counter() } }, sha256);
const theirs = loadState({ name: 'board', version: 2, fields: { done: counter() } }, sha256);

/** An empty shard, and the record that begins its space. */
function birthOf(schema: StateSchema): { readonly shard: Shard; readonly body: string } {
  const shard = emptyShard(new Map([['board', schema]]));
  const sealed = seal(shard.spaces.get('board') as Space, {
    term: 1,
    events: [{ kind: 'genesis', schema: schema.digest, nonce: 'n' }],
    proposals: [],
  });
  return { shard, body: composeRecord(shard, 1, [sealed]).body };
}

test('[MSG8] another definition is told from damage', () => {
  const { shard, body } = birthOf(ours);
  expect(foldLogRecord(shard, { index: 1, body })).toEqual(foldRecord(shard, 1, body));
  expect(() => foldLogRecord(shard, { index: 1, body: birthOf(theirs).body })).toThrow(
    expect.objectContaining({ code: 'SCHEMA_INVALID' }),
  );
  expect(() => foldLogRecord(shard, { index: 1, body: 'x' })).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
  expect(() => foldLogRecord(shard, { index: 2, body })).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
  expect(() => foldLogRecord(shard, { index: 1, body: body.replace(/"state":"./, '"state":"x') })).toThrow(
    expect.objectContaining({ code: 'LOG_DAMAGED' }),
  );
});

test('[MSG8] a void record of another definition stays void', () => {
  const { shard, body } = birthOf(ours);
  const born = foldLogRecord(shard, { index: 1, body }).shard;
  expect(foldLogRecord(born, { index: 2, body: birthOf(theirs).body }).kind).toBe('void');
});

test('[MSG9] what passes is told from what does not', () => {
  for (const code of ['TRANSPORT_TIMEOUT', 'BROKER_UNREACHABLE', 'LOG_LOCKED'] as const)
    expect(isPassing(new OplusError(code, 'x'))).toBe(true);
  for (const code of ['LOG_FULL', 'LOG_DAMAGED', 'TRANSPORT_CLOSED', 'BROKER_REFUSED', 'INVARIANT'] as const)
    expect(isPassing(new OplusError(code, 'x'))).toBe(false);
  expect([isPassing(new Error('TRANSPORT_TIMEOUT')), isPassing(undefined)]).toEqual([false, false]);
});
