import { describe, expect, test } from 'vitest';
import { LIVE_VALUES } from './live-value.ts';

class Point {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
}

const { text, copy } = LIVE_VALUES;

describe('values as programs hold them', () => {
  test('[LNT8] what a value is can be read in its text', () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const told: readonly (readonly [unknown, string])[] = [
      [{ b: 1, a: [true, null, undefined] }, '{"a":[true,null,undefined],"b":1}'],
      [{ a: undefined }, '{}'],
      [-0, '0'],
      [Number.NaN, 'NaN'],
      [2n, '2n'],
      [new Date(0), 'Date 1970-01-01T00:00:00.000Z'],
      [new Date(Number.NaN), 'Date invalid'],
      [new Set(['b', 'a']), 'Set {"a","b"}'],
      [new Map([['k', new Set([1])]]), 'Map {"k":Set {1}}'],
      [/a/g, 'RegExp /a/g'],
      [new RangeError('far'), 'RangeError "far"'],
      [new Uint8Array([1, 2]), 'Uint8Array [1,2]'],
      [new Point(1), 'Point {"x":1}'],
      [Object.create(null), '{}'],
      [cyclic, '{"self":itself}'],
      [Array.from({ length: 2 }), '[undefined,undefined]'],
    ];
    for (const [value, expected] of told) expect(text(value)).toBe(expected);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(text(proxy)).toBe('a value that cannot be read');
    expect(copy(proxy, true)).toBe(proxy);
  });

  test('[LNT4] a copy is equal and shares nothing; a frozen one cannot be written, and a loose copy of it can', () => {
    const cyclic: { self?: unknown; list: number[] } = { list: [1] };
    cyclic.self = cyclic;
    const values = [
      { a: [1, { b: 2 }] },
      new Map([['k', { v: 1 }]]),
      new Set([1, 2]),
      new Date(5),
      /x/i,
      new Uint8Array([1, 2]),
      new Point(3),
      new RangeError('far'),
      [undefined, 1],
    ];
    for (const value of [...values, cyclic]) {
      for (const isFrozen of [true, false]) {
        const made = copy(copy(value, true), isFrozen);
        expect(made).not.toBe(value);
        expect(text(made)).toBe(text(value));
        expect(Object.getPrototypeOf(made)).toBe(Object.getPrototypeOf(value));
      }
    }
    const frozen = copy({ a: [1] }, true) as { a: number[] };
    expect(() => frozen.a.push(2)).toThrow(TypeError);
    const loose = copy(frozen, false) as { a: number[]; b?: number };
    loose.a.push(2);
    loose.b = 1;
    expect(frozen).toEqual({ a: [1] });
    expect((copy(cyclic, false) as typeof cyclic).self).not.toBe(cyclic);
  });
});
