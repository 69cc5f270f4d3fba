import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../json.ts';
import { certify } from './certify.ts';
import type { CertifyOptions } from './certify.ts';
import type { LawName, LawResult } from './law.ts';

const text = z.string().max(20);
const list = z.array(text).max(300);
const small = z.int().min(-1_000).max(1_000);
const wide = z.int().min(-1_000_000_000).max(1_000_000_000);
const row = z.strictObject({ id: z.int().min(0).max(99), text });
const pair = z.strictObject({ a: small, b: small });

type Row = z.infer<typeof row>;

function greatest(count: number): (state: readonly number[], update: number) => number[] {
  return (state, update) => [...new Set([...state, update])].sort((a, b) => b - a).slice(0, count);
}

/** The reducers of which the verdict is known: those that people write. */
const KNOWN: readonly (readonly [string, 'A' | 'B', CertifyOptions<never, never>])[] = [
  known('concat', 'B', { state: list, update: text, start: [], reduce: (s, u) => [...s, u] }),
  known('upsert by id', 'B', { state: z.array(row).max(300), update: row, start: [] as Row[], reduce: upserted }),
  known('whole sum', 'A', { state: wide, update: small, start: 0, reduce: (s, u) => s + u }),
  known('sum and count', 'A', {
    state: z.strictObject({ sum: wide, count: wide }),
    update: small,
    start: { sum: 0, count: 0 },
    reduce: (s, u) => ({ sum: s.sum + u, count: s.count + 1 }),
  }),
  known('max', 'A', { state: small, update: small, start: 0, reduce: (s, u) => Math.max(s, u) }),
  known('or', 'A', { state: z.boolean(), update: z.boolean(), start: false, reduce: (s, u) => s || u }),
  known('float sum', 'B', {
    state: z.number().min(-1e6).max(1e6),
    update: z.number().min(0).max(1),
    start: 0,
    reduce: (s, u) => s + u,
  }),
  known('running mean', 'B', {
    state: z.strictObject({ mean: z.number().min(0).max(100), count: wide }),
    update: z.int().min(0).max(100),
    start: { mean: 0, count: 0 },
    reduce: (s, u) => ({ mean: (s.mean * s.count + u) / (s.count + 1), count: s.count + 1 }),
  }),
  known('sorted union', 'A', { state: list, update: text, start: [], reduce: (s, u) => [...new Set([...s, u])].sort() }),
  known('capped union, greatest stay', 'A', { state: z.array(small).max(4), update: small, start: [], reduce: greatest(4) }),
  known('capped union, first stay', 'B', {
    state: z.array(small).max(32),
    update: small,
    start: [],
    reduce: (s, u) => (s.length < 32 ? greatest(32)(s, u) : s),
  }),
  known('union in order of insertion', 'B', {
    state: list,
    update: text,
    start: [],
    reduce: (s, u) => (s.includes(u) ? s : [...s, u]),
  }),
  known('spread', 'B', { state: pair, update: pair, start: { a: 0, b: 0 }, reduce: (s, u) => ({ ...s, ...u }) }),
  known('last that is not null', 'B', {
    state: small.nullable(),
    update: small.nullable(),
    start: null,
    reduce: (s: number | null, u: number | null) => u ?? s,
  }),
];

describe('certificates', () => {
  test.each(KNOWN)('[LAW1] %s has grade %s, and may carry a field', (_, grade, options) => {
    const certificate = certify(options);
    expect(certificate.grade).toBe(grade);
    expect(brokenOf(certificate.laws).filter((law) => law !== 'idempotence' && law !== 'commutation')).toEqual([]);
    expect(brokenOf(certificate.laws).includes('commutation')).toBe(grade === 'B');
    for (const { law, checks, holds } of certificate.laws) {
      expect({ law, isLookedAt: checks > 0 }).toEqual({ law, isLookedAt: true });
      expect({ law, isBounded: checks <= 2_200 }).toEqual({ law, isBounded: true });
      expect({ law, isTold: holds }).toEqual({ law, isTold: counterexampleOf(certificate.laws, law) === undefined });
    }
  });

  test('[LAW2] an in-place push is told with what it wrote, whatever else holds', () => {
    const certificate = certify({
      state: list,
      update: text,
      start: [],
      reduce: (state, update) => {
        state.push(update);
        return state;
      },
    });
    expect(counterexampleOf(certificate.laws, 'purity')).toEqual({
      state: [],
      updates: ['a'],
      lines: ['state before: []', 'state after: ["a"]'],
    });
    expect(counterexampleOf(certificate.laws, 'closure')).toBeUndefined();
    expect(counterexampleOf(certificate.laws, 'commutation')?.lines).toEqual([
      '"a" then "b": ["a","b"]',
      '"b" then "a": ["b","a"]',
    ]);
    expect(certificate.why).toBe('purity fails: from [], state before: [], but state after: ["a"]');
  });

  test('[LAW2] sorting what is sorted writes too, and so does writing into the update', () => {
    const sorting = certify({ state: list, update: text, start: ['a', 'b'], reduce: (state) => state.sort() });
    expect(counterexampleOf(sorting.laws, 'purity')?.lines).toEqual([
      'given a frozen state: it throws',
      'given a loose one: ["a","b"]',
    ]);
    const marking = certify({
      state: z.array(row).max(300),
      update: row,
      start: [],
      reduce: (state, update) => {
        update.text = 'seen';
        return [...state, update];
      },
    });
    expect(counterexampleOf(marking.laws, 'purity')?.lines).toEqual([
      'update before: {"id":0,"text":"a"}',
      'update after: {"id":0,"text":"seen"}',
    ]);
  });

  test('[LAW2] what depends on earlier calls, at once or later, is not pure', () => {
    let calls = 0;
    const counting = certify({ state: wide, update: small, start: 0, reduce: () => (calls += 1) });
    expect(counterexampleOf(counting.laws, 'purity')?.lines[1]).toMatch(/^second run: \d+$/);
    const seen = new Set<number>();
    const remembering = certify({
      state: wide,
      update: small,
      start: 0,
      reduce: (state, update) => {
        if (update === 5) seen.add(state);
        return update === 3 && seen.has(state) ? 1 : 0;
      },
    });
    // Not seen by calling twice in a row, only against what it gave before it was called with 5.
    expect(counterexampleOf(remembering.laws, 'purity')).toEqual({ state: 0, updates: [3], lines: ['first run: 0', 'later: 1'] });
  });

  test('[LAW3] what throws, is no JSON or leaves the type is not closed, near the start and at a cap', () => {
    const closureOf = (reduce: (state: string[], update: string) => unknown, max = 8): readonly string[] | undefined =>
      counterexampleOf(
        certify({ state: z.array(text).max(max), update: text, start: [], reduce: reduce as (state: string[]) => string[] }).laws,
        'closure',
      )?.lines;
    expect(closureOf((state, update) => [...state, update])).toEqual([
      'it gives: ["a","b","ab","c","","ba","x1","a-b","abc"]',
      'what is wrong: the state must be at most 8 items',
    ]);
    expect(closureOf((state, update) => [...state, update].slice(-64), 64)).toBeUndefined();
    expect(closureOf((state, update) => [...state, update].slice(-65), 64)).toHaveLength(2);
    expect(closureOf(() => undefined)).toEqual(['it gives: no JSON (undefined)', 'what is wrong: the state is no JSON']);
    expect(closureOf(() => 'a')).toEqual(['it gives: "a"', 'what is wrong: the state must be of type array']);
    expect(
      closureOf((_, update) => {
        if (update === 'c') throw new Error('words of a platform');
        return [];
      }),
    ).toEqual(['it gives: nothing', 'what is wrong: it throws']);
  });

  test('[LAW5] a batch form is held against one by one, in twos and threes', () => {
    const options = { state: list, update: text, start: [], reduce: (s: string[], u: string) => [...s, u] };
    const batchOf = (batch: (state: string[], updates: readonly string[]) => string[]): LawResult | undefined =>
      certify({ ...options, batch }).laws.find(({ law }) => law === 'batching');
    expect(batchOf((state, updates) => [...state, ...updates])).toMatchObject({ holds: true });
    expect(batchOf((state, updates) => [...state, updates[0] as string])?.counterexample).toEqual({
      state: [],
      updates: ['a', 'a'],
      lines: ['one by one: ["a","a"]', 'at once: ["a"]'],
    });
    expect(batchOf((state, updates) => [...state, ...updates.slice(-2)])?.counterexample?.updates).toHaveLength(3);
    expect(certify(options).laws.map(({ law }) => law)).not.toContain('batching');
  });

  test('[LAW6] idempotence is told and changes no grade', () => {
    const sum = certify({ state: wide, update: small, start: 0, reduce: (s, u) => s + u });
    expect(counterexampleOf(sum.laws, 'idempotence')).toEqual({ state: 0, updates: [1], lines: ['once: 1', 'twice: 2'] });
    expect(sum.grade).toBe('A');
    const max = certify({ state: small, update: small, start: 0, reduce: (s, u) => Math.max(s, u) });
    expect(brokenOf(max.laws)).toEqual([]);
  });

  test('[LAW6] long values are cut in the lines, and stand whole in the data', () => {
    const long = z.string().max(2_000);
    const certificate = certify({ state: long, update: small, start: '', reduce: (_, u) => String(u).repeat(400) });
    const found = counterexampleOf(certificate.laws, 'commutation');
    expect(found?.updates).toEqual([0, 1]);
    for (const line of found?.lines ?? []) expect(line.length).toBeLessThan(230);
  });
});

function known<S extends Json, U extends Json>(
  name: string,
  grade: 'A' | 'B',
  options: CertifyOptions<S, U>,
): readonly [string, 'A' | 'B', CertifyOptions<never, never>] {
  return [name, grade, options as unknown as CertifyOptions<never, never>];
}

function upserted(state: Row[], update: Row): Row[] {
  return state.some(({ id }) => id === update.id)
    ? state.map((one) => (one.id === update.id ? update : one))
    : [...state, update];
}

function brokenOf(laws: readonly LawResult[]): readonly LawName[] {
  return laws.filter(({ holds }) => !holds).map(({ law }) => law);
}

function counterexampleOf(laws: readonly LawResult[], name: LawName): LawResult['counterexample'] {
  return laws.find(({ law }) => law === name)?.counterexample;
}
