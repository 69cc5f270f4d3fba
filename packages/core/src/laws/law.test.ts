import { describe, expect, test } from 'vitest';
import { lawsOf } from './law.ts';
import type { LawResult } from './law.ts';
import type { ReducerTrial, Values } from './reducer-trial.ts';

/** Numbers and dates; a date is what JSON loses. */
const VALUES: Values = {
  text: (value) => (value instanceof Date ? `Date ${value.getTime()}` : JSON.stringify(value)),
  copy: (value) => (value instanceof Date ? new Date(value) : value),
};

const viaJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function resultOf(trial: Partial<ReducerTrial>, law: LawResult['law']): LawResult | undefined {
  const whole: ReducerTrial = { reduce: (state) => state, starts: [0], updates: [0, 1, 2], values: VALUES, ...trial };
  return lawsOf(whole).find((one) => one.law === law);
}

describe('laws of values that are no JSON', () => {
  test('[LAW7] a state that JSON changes fails the reload at once', () => {
    const latest = (state: unknown, update: unknown): unknown =>
      (update as Date).getTime() > new Date(state as string).getTime() ? update : state;
    const trial = { reduce: latest, starts: [new Date(0)], updates: [new Date(5), new Date(7)], reload: viaJson };
    expect(resultOf(trial, 'reload')?.counterexample).toEqual({
      state: new Date(0),
      updates: [],
      lines: ['live: Date 0', 'after reload: "1970-01-01T00:00:00.000Z"'],
    });
    const { reload: _, ...bare } = trial;
    expect(resultOf(bare, 'reload')).toBeUndefined();
  });

  test('[LAW7] so does a reducer that goes on otherwise from what was read back', () => {
    const known = new Set<unknown>();
    const start = { items: [] };
    const reduce = (state: unknown, update: unknown): unknown => {
      const isLive = known.has(state) || state === start;
      const next = { items: [...(isLive ? (state as typeof start).items : []), update] };
      known.add(next);
      return next;
    };
    const found = resultOf({ reduce, starts: [start], updates: [1, 2], reload: viaJson }, 'reload');
    expect(found?.counterexample).toEqual({
      state: { items: [1] },
      updates: [1],
      lines: ['live: {"items":[1,1]}', 'after reload: {"items":[1]}'],
    });
    expect(resultOf({ reduce: (_, update) => update, reload: viaJson }, 'reload')).toMatchObject({ holds: true });
  });

  test('[LAW7] a law without a case to compare counts none', () => {
    const reduce = (): never => {
      throw new Error('always');
    };
    expect(
      lawsOf({ reduce, starts: [0], updates: [0, 1], values: VALUES }).map(({ law, holds, checks }) => [law, holds, checks]),
    ).toEqual([
      ['purity', true, 0],
      ['commutation', true, 0],
      ['idempotence', true, 0],
    ]);
    expect(resultOf({ updates: [5] }, 'commutation')).toMatchObject({ holds: true });
    expect(lawsOf({ reduce, starts: [0], updates: [], values: VALUES }).every(({ checks }) => checks === 0)).toBe(true);
  });
});
