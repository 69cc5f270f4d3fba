import { describe, expect, test } from 'vitest';
import type { SystemEvent } from './entry.ts';
import { counter } from './kinds/counter.ts';
import { map } from './kinds/map.ts';
import { cas } from './kinds/register.ts';
import type { Json } from './json.ts';
import { seal } from './seal.ts';
import type { Sealed } from './seal.ts';
import { composeRecord, emptyShard, foldRecord, readRecord } from './shard.ts';
import type { Shard } from './shard.ts';
import { stateJson } from './space.ts';
import { loadState } from './state-schema.ts';
import { admittedOf, sha256 } from './testing/index.ts';
import { z } from 'zod';

const schema = loadState({ name: 'x', version: 1, fields: { n: counter(), m: map(cas(z.string().max(9)), { cap: 4 }) } }, sha256);
const join: SystemEvent = { kind: 'join', agent: 'a', role: 'agent', session: 's' };
const genesis: SystemEvent = { kind: 'genesis', schema: schema.digest, nonce: 'n' };

function shardOf(...names: readonly string[]): Shard {
  return emptyShard(new Map(names.map((name) => [name, schema])));
}

function birthOf(shard: Shard, name: string): Sealed {
  const space = shard.spaces.get(name);
  if (space === undefined) throw new Error('no such space');
  return seal(space, { term: 1, events: [genesis, join], proposals: [] });
}

function stepOf(shard: Shard, name: string, n: number, patch: { [field: string]: Json } = { n: { inc: 1 } }): Sealed {
  const space = shard.spaces.get(name);
  if (space === undefined) throw new Error('no such space');
  const proposal = admittedOf({
    kind: 'proposal',
    v: 1,
    space: name,
    agent: 'a',
    incarnation: 1,
    n,
    schema: schema.id,
    base: { revision: space.revision },
    patch,
  });
  return seal(space, { term: 1, events: [], proposals: [proposal] });
}

describe('shard', () => {
  test('[SHD1] a record holds the entries of several spaces, and folds to what its author has', () => {
    const start = shardOf('s1', 's2');
    const first = composeRecord(start, 1, [birthOf(start, 's1'), birthOf(start, 's2')]);
    const second = composeRecord(first.shard, 1, [stepOf(first.shard, 's2', 1)]);
    let reader = shardOf('s1', 's2');
    for (const [i, { body }] of [first, second].entries()) reader = foldRecord(reader, i + 1, body).shard;
    expect([reader.index, reader.term, reader.head]).toEqual([2, 1, second.shard.head]);
    expect([...reader.spaces].map(([name, space]) => [name, space.revision, stateJson(space)['n']])).toEqual([
      ['s1', 0, 0],
      ['s2', 1, 1],
    ]);
  });

  test('[SHD2] the void rule: what does not continue the last valid record, or carries an older term, is skipped by every reader alike', () => {
    const start = shardOf('s1');
    const first = composeRecord(start, 1, [birthOf(start, 's1')]);
    const takeover = composeRecord(first.shard, 2, []);
    const late = composeRecord(first.shard, 1, [stepOf(first.shard, 's1', 1)]);
    const next = composeRecord(takeover.shard, 2, []);
    let reader = foldRecord(start, 1, first.body).shard;
    reader = foldRecord(reader, 2, takeover.body).shard;
    const folded = foldRecord(reader, 3, late.body);
    expect(folded).toMatchObject({
      kind: 'void',
      why: 'it does not continue the last valid record',
      shard: { index: 3, head: reader.head, term: 2 },
    });
    expect(foldRecord(folded.shard, 4, next.body).kind).toBe('folded');
    const lower = composeRecord(takeover.shard, 1, []);
    expect(foldRecord(reader, 3, lower.body)).toMatchObject({ kind: 'void', why: 'term 1 ended when term 2 began' });
  });

  test('[SHD3] a gap in the indexes, bytes that are no record and entries of another term are damage', () => {
    const start = shardOf('s1');
    const first = composeRecord(start, 1, [birthOf(start, 's1')]);
    const damaged = expect.objectContaining({ code: 'LOG_DAMAGED' }) as Error;
    expect(() => foldRecord(start, 2, first.body)).toThrow(damaged);
    for (const body of ['', '[]', '{"v":1}', first.body.slice(1), first.body.replace('"v":1}', '"v":1,"x":1}')])
      expect(() => foldRecord(start, 1, body)).toThrow(damaged);
    expect(() => foldRecord(start, 1, first.body.replace(/"term":1,"v":1}$/, '"term":3,"v":1}'))).toThrow(damaged);
    expect(readRecord(first.body, 1).entries).toHaveLength(1);
  });

  test('[SHD4] altered bytes that still read as a record are divergence', () => {
    const start = shardOf('s1');
    const first = composeRecord(start, 1, [birthOf(start, 's1')]);
    const step = composeRecord(first.shard, 1, [stepOf(first.shard, 's1', 1)]);
    const reader = foldRecord(start, 1, first.body).shard;
    expect(() => foldRecord(reader, 2, step.body.replace('"inc":1', '"inc":2'))).toThrow(
      expect.objectContaining({ code: 'LOG_DIVERGED' }),
    );
    expect(() => foldRecord(reader, 2, ` ${step.body}`)).toThrow(expect.objectContaining({ code: 'LOG_DIVERGED' }));
  });

  test('[SHD5] a reader of one space follows the chain past the entries of the others, however deep they are nested', () => {
    const start = shardOf('s1', 's2');
    const first = composeRecord(start, 1, [birthOf(start, 's1'), birthOf(start, 's2')]);
    const deep = Array.from({ length: 20 }).reduce<Json>((inner) => [inner], 1);
    const second = composeRecord(first.shard, 1, [
      stepOf(first.shard, 's1', 1, { m: { at: { k: deep } } }),
      stepOf(first.shard, 's2', 1),
    ]);
    const third = composeRecord(second.shard, 1, [stepOf(second.shard, 's2', 2)]);
    let reader = shardOf('s2');
    for (const [i, { body }] of [first, second, third].entries()) {
      const folded = foldRecord(reader, i + 1, body);
      expect(folded.kind).toBe('folded');
      reader = folded.shard;
    }
    expect(reader.head).toBe(third.shard.head);
    expect(stateJson(reader.spaces.get('s2') as NonNullable<ReturnType<typeof reader.spaces.get>>)['n']).toBe(2);
    expect(() => emptyShard(new Map())).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});
