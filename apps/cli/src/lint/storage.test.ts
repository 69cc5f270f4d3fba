import { HumanMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { LIVE_VALUES } from './live-value.ts';
import { viaCheckpoint, viaJson } from './storage.ts';

class Point {
  readonly x: number = 1;
}

const VALUES: readonly unknown[] = [
  { a: [1, 'b', null, true, -0, 0.5], c: { d: {} } },
  { a: undefined, b: Number.NaN },
  new Set(['a', new Map([['k', new Set([1])]])]),
  new Map<unknown, unknown>([[{ id: 1 }, [new Date(0)]]]),
  new Date(0),
  { at: new Date(0), re: /a/g, error: new RangeError('far'), bytes: new Uint8Array([1, 2]) },
  [new Point(), { toJSON: () => 'said' }],
  [new HumanMessage({ id: '1', content: 'a' })],
];

describe('what storing leaves', () => {
  test('[LNT6] a checkpoint keeps what the serializer of LangGraph keeps', async () => {
    const { serde } = new MemorySaver();
    for (const value of VALUES) {
      const [type, bytes] = await serde.dumpsTyped(value);
      const read: unknown = await serde.loadsTyped(type, bytes);
      expect(LIVE_VALUES.text(viaCheckpoint(value))).toBe(LIVE_VALUES.text(read));
    }
  });

  test('[LNT6] JSON keeps what it can say, and what cannot be stored is told', () => {
    expect(viaJson({ a: [1, new Date(0), new Set([1])], b: undefined })).toEqual({ a: [1, '1970-01-01T00:00:00.000Z', {}] });
    expect(viaJson(undefined)).toBeUndefined();
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    for (const via of [viaJson, viaCheckpoint])
      for (const value of [2n, cyclic]) expect(LIVE_VALUES.text(via(value))).toBe('nothing, it cannot be stored');
  });
});
