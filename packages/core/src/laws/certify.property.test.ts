import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Attempt } from '../field-kind.ts';
import { reduce } from '../kinds/reduce.ts';
import { shuffled } from '../testing/index.ts';
import { certify } from './certify.ts';
import type { ReducerOptions } from './certify.ts';

/** A reducer as a table: `next[state][update]`. Small enough for every case to be looked at. */
type Table = readonly (readonly number[])[];

const STATES = 5;
const UPDATES = 3;

/** Few states and few updates, so that many tables commute by chance; the rest is made to. */
function tables(): fc.Arbitrary<Table> {
  const random = fc.array(fc.array(fc.nat(STATES - 1), { minLength: UPDATES, maxLength: UPDATES }), {
    minLength: STATES,
    maxLength: STATES,
  });
  const adding = fc
    .array(fc.nat(STATES - 1), { minLength: UPDATES, maxLength: UPDATES })
    .map((by) => Array.from({ length: STATES }, (_, state) => by.map((one) => (state + one) % STATES)));
  const patched = fc
    .tuple(adding, fc.nat(STATES - 1), fc.nat(UPDATES - 1), fc.nat(STATES - 1))
    .map(([table, state, update, to]) => table.map((row, i) => (i === state ? row.with(update, to) : row)));
  return fc.oneof(random, adding, patched);
}

function optionsOf(table: Table): ReducerOptions<number, number> {
  return {
    state: z
      .int()
      .min(0)
      .max(STATES - 1),
    update: z
      .int()
      .min(0)
      .max(UPDATES - 1),
    start: 0,
    reduce: (state, update) => after(table, state, update),
  };
}

describe('certificates of all small reducers', () => {
  test('[LAW4] grade A says that updates commute from every state that can be reached, and B that they do not', () => {
    const grades = { A: 0, B: 0 };
    fc.assert(
      fc.property(tables(), (table) => {
        const { grade, laws } = certify(optionsOf(table));
        grades[grade] += 1;
        const commutation = laws.find(({ law }) => law === 'commutation');
        const depths = depthsOf(table);
        const broken = [...depths].filter(([state]) => brokenPair(table, state) !== undefined);
        expect(grade).toBe(broken.length === 0 ? 'A' : 'B');
        if (broken.length === 0) return;
        const { state, updates } = commutation?.counterexample ?? { state: -1, updates: [] };
        const [one, two] = updates as readonly number[];
        expect(inTurn(table, state as number, [one, two])).not.toBe(inTurn(table, state as number, [two, one]));
        expect(depths.get(state as number)).toBe(Math.min(...broken.map(([, depth]) => depth)));
        expect(updates).toEqual(brokenPair(table, state as number));
      }),
      { numRuns: 1_000 },
    );
    expect(Math.min(grades.A, grades.B)).toBeGreaterThan(100);
  });

  test('[LAW4][RED2] a field of grade A comes to the same value in whatever order its updates are folded', () => {
    let count = 0;
    fc.assert(
      fc.property(tables(), fc.array(fc.nat(UPDATES - 1), { maxLength: 8 }), fc.nat(0xffff), (table, updates, seed) => {
        const field = reduce(optionsOf(table));
        const valueOf = (order: readonly number[]): unknown =>
          field.view(
            order.reduce((cell, update) => field.fold(cell, { updates: [update] }, '/x', ATTEMPT), field.empty(undefined)),
          );
        expect(valueOf(updates)).toBe(inTurn(table, 0, updates));
        if (field.grade.letter === 'B') return;
        count += 1;
        expect(valueOf(shuffled(updates, seed))).toBe(valueOf(updates));
      }),
      { numRuns: 500 },
    );
    expect(count).toBeGreaterThan(50);
  });
});

const ATTEMPT: Attempt = {
  agent: 'a',
  role: 'agent',
  mark: { agent: 'a', n: 1, revision: 1 },
  stamp: { depth: 1, priority: 0, spin: 0, agent: 'a', n: 1 },
  turn: 0,
  base: 0,
  horizon: 0,
  sees: () => true,
  sawAll: () => true,
  mayWrite: () => true,
  touch: () => undefined,
  refuse: (path) => {
    throw new Error(`refused at ${path}`);
  },
  note: () => undefined,
};

function after(table: Table, state: number, update: number): number {
  return table[state]?.[update] ?? 0;
}

function inTurn(table: Table, state: number, updates: readonly (number | undefined)[]): number {
  return updates.reduce<number>((at, update) => after(table, at, update ?? 0), state);
}

/** Every state that can be reached, and in how many steps. */
function depthsOf(table: Table): ReadonlyMap<number, number> {
  const depths = new Map([[0, 0]]);
  for (const [state, depth] of depths) for (const next of table[state] ?? []) if (!depths.has(next)) depths.set(next, depth + 1);
  return depths;
}

/** The simplest pair that does not commute there. */
function brokenPair(table: Table, state: number): readonly number[] | undefined {
  const pairs = Array.from({ length: UPDATES }, (_, two) => Array.from({ length: two }, (_unused, one) => [one, two])).flat();
  return pairs.find(([one, two]) => inTurn(table, state, [one, two]) !== inTurn(table, state, [two, one]));
}
