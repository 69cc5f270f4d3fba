import { describe, expect, test } from 'vitest';
import { lawsOf } from './law.ts';
import type { LawResult } from './law.ts';
import type { ReducerTrial, Values } from './reducer-trial.ts';
import { groundOf } from './reducer-trial.ts';

/** Numbers and sets; a set is what JSON loses. */
const VALUES: Values = {
  text: (value) => (value instanceof Set ? `Set ${JSON.stringify([...value])}` : JSON.stringify(value)),
  copy: (value) => (value instanceof Set ? new Set(value) : value),
};

const viaJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function resultOf(trial: Partial<ReducerTrial>, law: LawResult['law']): LawResult | undefined {
  const whole: ReducerTrial = { reduce: (state) => state, starts: [0], updates: [0, 1, 2], values: VALUES, ...trial };
  return lawsOf(whole).find((one) => one.law === law);
}

describe('laws of values that are no JSON', () => {
  test('[LAW1] no more states are looked at than the cases of a law need', () => {
    const updates = Array.from({ length: 12 }, (_, i) => 2 ** i);
    const reduce = (state: unknown, update: unknown): unknown => (state as number) + (update as number);
    const { states, walk } = groundOf({ reduce, starts: [0], updates, values: VALUES });
    expect([states.length, new Set(states.map(({ text }) => text)).size]).toEqual([45, 45]);
    expect(walk.length).toBeGreaterThan(64);
  });

  test('[LAW7] a state that JSON changes fails the reload at once', () => {
    const reduce = (state: unknown, update: unknown): unknown => new Set([...(state as ReadonlySet<unknown>), update]);
    const trial = { reduce, starts: [new Set([0])], updates: [5, 7], reload: viaJson };
    expect(resultOf(trial, 'reload')?.counterexample).toEqual({
      state: new Set([0]),
      updates: [],
      lines: ['live: Set [0]', 'after reload: {}'],
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
