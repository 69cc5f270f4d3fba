import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { OplusError } from '../error.ts';
import type { FieldKind } from '../field-kind.ts';
import type { Json } from '../json.ts';
import type { ReducerOptions } from '../laws/certify.ts';
import { loadState } from '../state-schema.ts';
import { codesOf, loadError, outcomesOf, sha256, smallTeam } from '../testing/index.ts';
import { reduce } from './reduce.ts';

const digit = z.int().min(0).max(9);
const text = z.string().max(9);

/** The four greatest different digits. */
const TOP: ReducerOptions<number[], number> = {
  state: z.array(digit).max(4),
  update: digit,
  start: [],
  reduce: (state, update) => [...new Set([...state, update])].sort((a, b) => b - a).slice(0, 4),
};

/** Words in the order in which they come, the last four of them. */
const LAST: ReducerOptions<string[], string> = {
  state: z.array(text).max(4),
  update: text,
  start: [],
  reduce: (state, update) => [...state, update].slice(-4),
};

function refusalOf(field: FieldKind): OplusError {
  return loadError({ fields: { f: field } });
}

describe('reduce', () => {
  test('[RED1] the value is what the function makes of all accepted updates, in canonical order', () => {
    const team = smallTeam({ fields: { top: reduce(TOP), last: reduce(LAST) } });
    team.round(
      { agent: 'a', patch: { top: { apply: 3 }, last: { apply: 'x' } } },
      { agent: 'b', patch: { top: { apply: [5, 9, 3] } } },
      { agent: 'c', patch: { top: { apply: 7 } } },
    );
    expect(team.state).toEqual({ top: [9, 7, 5, 3], last: ['x'] });
    const view = team.revision;
    team.ask('a', { last: { apply: ['y', 'z'] } }, view);
    team.ask('b', { last: { apply: 'w' } }, view);
    expect(team.state).toMatchObject({ last: ['x', 'y', 'z', 'w'] });
  });

  test('[RED2] the grade is A where updates commute, else B, with the case that shows it', () => {
    expect(reduce(TOP).grade.letter).toBe('A');
    expect(reduce(TOP).grade.why).toMatch(/^updates commute in all \d+ cases/);
    expect(reduce(LAST).grade).toEqual({
      letter: 'B',
      why: 'the order of updates decides: from [], "a" then "b": ["a","b"], but "b" then "a": ["b","a"]',
    });
  });

  test('[RED3] a function that is not pure does not load, and the message holds the smallest case', () => {
    const pushing = refusalOf(
      reduce({
        ...LAST,
        reduce: (state, update) => {
          state.push(update);
          return state.slice(-4);
        },
      }),
    );
    expect(pushing).toMatchObject({
      code: 'SCHEMA_INVALID',
      message: 'reduce: the reducer is not pure: from [] with "a", state before: []; state after: ["a"]',
    });
    expect(pushing.hint).toContain('Give a new state');
    let calls = 0;
    const counting = refusalOf(reduce({ ...TOP, reduce: () => [(calls += 1) % 10] }));
    expect(counting.message).toMatch(
      /^reduce: the reducer is not pure: from \[\] with 0, first run: \[\d\]; second run: \[\d\]$/,
    );
  });

  test('[RED3] a function that leaves the type of its state, throws or makes a promise does not load', () => {
    const messageOf = (options: Partial<typeof LAST>): string => refusalOf(reduce({ ...LAST, ...options })).message;
    expect(messageOf({ reduce: (state, update) => [...state, update] })).toBe(
      'reduce: the reducer does not give a state of its type for each state and update: from ["a","b","ab","c"] with "", ' +
        'it gives: ["a","b","ab","c",""]; what is wrong: the state must be at most 4 items',
    );
    expect(messageOf({ reduce: () => undefined as unknown as string[] })).toContain('what is wrong: the state is no JSON');
    expect(messageOf({ reduce: () => [Number.NaN] as unknown as string[] })).toContain('the state is no JSON');
    expect(messageOf({ reduce: () => Promise.reject(new Error('late')) as unknown as string[] })).toContain('it gives a promise');
    const throwing = messageOf({
      reduce: () => {
        throw new Error('words of a platform');
      },
    });
    expect(throwing).toContain('what is wrong: it throws');
    expect(throwing).not.toContain('words');
  });

  test('[RED3] a type without a cap and a start of another type do not load', () => {
    expect(refusalOf(reduce({ ...LAST, state: z.array(z.string()) })).code).toBe('SCHEMA_INVALID');
    expect(refusalOf(reduce({ ...LAST, start: ['a', 'b', 'c', 'd', 'e'] })).message).toContain('start value');
  });

  test('[RED4] an update from which there is no state of the type is refused, in our words', () => {
    const odd = (state: number, update: number): number => {
      if (update === 23) throw new Error('words of a platform');
      if (update === 24) return { a: 1 } as unknown as number;
      if (update === 25) return 1_000_000;
      return state + update;
    };
    const field = reduce({
      state: z.int().min(0).max(999_999),
      update: z.int().min(0).max(2_000_000),
      start: 0,
      reduce: clamped(odd),
    });
    const team = smallTeam({ fields: { x: field } });
    expect(codesOf(team.ask('a', { x: { apply: 5 } }))).toEqual(['committed']);
    const threw = team.ask('a', { x: { apply: 1_000_023 } });
    expect(threw).toMatchObject({
      issues: [
        {
          path: '/x',
          code: 'schema',
          rule: 'reduce',
          have: 5,
          want: 1_000_023,
          recovery: 'change',
          hint: 'With this update the state is not there: the reducer throws.',
        },
      ],
    });
    expect(JSON.stringify(team.log)).not.toContain('words of a platform');
    expect(team.ask('a', { x: { apply: [1, 1_000_024] } })).toMatchObject({ issues: [{ path: '/x/apply/1', code: 'schema' }] });
    expect(team.ask('a', { x: { apply: [3, 1_000_025] } })).toMatchObject({
      issues: [{ path: '/x/apply/1', code: 'bound', have: 8, hint: 'With this update the state must be at most 999999.' }],
    });
    expect(team.state).toEqual({ x: 5 });
  });

  test('[RED4] hidden text, reserved keys and what only looks like JSON do not reach the state', () => {
    const made: { [update: string]: unknown } = {
      hidden: 'a\u200bb',
      split: '\ud83d',
      reserved: JSON.parse('{"__proto__":1}'),
      list: new Map(),
    };
    const field = reduce<Json, string>({
      state: z.union([z.string().max(99), z.strictObject({})]),
      update: text,
      start: '',
      reduce: (state, update) => (Object.hasOwn(made, update) ? (made[update] as Json) : state),
    });
    const team = smallTeam({ fields: { x: field } });
    for (const update of ['hidden', 'split', 'reserved'])
      expect(team.ask('a', { x: { apply: update } })).toMatchObject({ issues: [{ code: 'schema', rule: 'reduce' }] });
    team.ask('a', { x: { apply: 'list' } });
    expect(team.state).toEqual({ x: {} });
    expect(Object.getPrototypeOf((team.state as { readonly x: object }).x)).toBe(Object.prototype);
  });

  test('[RED5] the function can change neither state nor update, and what it keeps is not the state', () => {
    const kept: number[][] = [];
    const field = reduce({
      ...TOP,
      reduce: (state, update) => {
        const next = TOP.reduce(state, update);
        kept.push(next);
        return next;
      },
    });
    const team = smallTeam({ fields: { x: field } });
    team.ask('a', { x: { apply: 4 } });
    for (const one of kept) one.push(1);
    expect(team.state).toEqual({ x: [4] });
    let isWild = false;
    const wild = reduce({
      ...TOP,
      reduce: (state, update) => {
        if (isWild) state.push(update);
        return TOP.reduce(state, update);
      },
    });
    const other = smallTeam({ fields: { x: wild } });
    other.ask('a', { x: { apply: 4 } });
    isWild = true;
    expect(codesOf(other.ask('a', { x: { apply: 5 } }))).toEqual(['schema']);
    expect(other.state).toEqual({ x: [4] });
  });

  test('[RED6] apply takes one update, or a list of up to 64; an update that is a list stands in a list', () => {
    const team = smallTeam({ fields: { last: reduce(LAST), lists: reduce({ ...LAST, ...LISTS }) } });
    expect(codesOf(team.ask('a', { last: { apply: ['p', 'q'] }, lists: { apply: [['x'], []] } }))).toEqual(['committed']);
    expect(team.state).toEqual({ last: ['p', 'q'], lists: ['x'] });
    const refused: readonly (readonly [Json, string, string])[] = [
      [{ apply: 5 }, '/last/apply', 'schema'],
      [{ apply: ['a', 5] }, '/last/apply/1', 'schema'],
      [{ apply: 'longer than nine' }, '/last/apply', 'bound'],
      [{ apply: [] }, '/last/apply', 'schema'],
      [{ set: ['a'] }, '/last', 'schema'],
      [{}, '/last', 'schema'],
      [['a'], '/last', 'schema'],
    ];
    for (const [patch, path, code] of refused)
      expect(team.ask('a', { last: patch })).toMatchObject({ issues: [{ path, code, rule: 'reduce' }] });
    expect(team.ask('a', { lists: { apply: ['x'] } })).toMatchObject({ issues: [{ path: '/lists/apply/0' }] });
    expect(codesOf(team.ask('a', { last: { apply: Array<string>(64).fill('a') } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { last: { apply: Array<string>(65).fill('a') } }))).toEqual(['schema']);
  });

  test('[RED7] updates that leave the value as it is are unchanged', () => {
    const team = smallTeam({ fields: { top: reduce(TOP) } });
    team.ask('a', { top: { apply: 4 } });
    expect(outcomesOf(team.ask('b', { top: { apply: [4, 4] } }))).toEqual({ '/top': 'unchanged' });
    expect(outcomesOf(team.ask('b', { top: { apply: [4, 6] } }))).toEqual({});
    expect(team.state).toEqual({ top: [6, 4] });
  });

  test('[RED8] both types and the start are in the digest, and the function is not', () => {
    const digestOf = (options: Partial<typeof TOP>): string =>
      loadState({ name: 's', version: 1, fields: { x: reduce({ ...TOP, ...options }) } }, sha256).digest;
    const digests = [{}, { start: [1] }, { update: z.int().min(0).max(8) }, { state: z.array(digit).max(5) }].map(digestOf);
    expect(new Set(digests).size).toBe(4);
    expect(digestOf({ reduce: (state) => state })).toBe(digests[0]);
  });

  test('[RED6] what stands and what a patch says is told to programs and models', () => {
    const field = reduce(LAST);
    const cell = field.empty(undefined);
    const complaints: string[] = [];
    const complain = (path: string): void => void complaints.push(path);
    expect(field.assign(cell, { kind: 'set', value: [] }, '/x', complain)).toBeUndefined();
    expect(complaints).toEqual([]);
    expect(field.assign(cell, { kind: 'set', value: ['a'] }, '/x', complain)).toBeUndefined();
    expect(complaints).toEqual(['/x']);
    expect(field.valueSchema()).toEqual({ type: 'array', items: { type: 'string', maxLength: 9 }, maxItems: 4 });
    for (const sample of field.samples()) {
      const op = field.read(sample, '/x', complain);
      expect(op === undefined ? undefined : field.write(op)).toEqual(sample);
    }
    expect(field.samples()).toHaveLength(4);
    expect(field.fromModel({ apply: null })).toEqual({});
  });
});

const LISTS = {
  update: z.array(text).max(2),
  reduce: (state: string[], update: string[]): string[] => [...state, ...update].slice(-4),
} as unknown as Partial<typeof LAST>;

/** Behaves as long as updates are samples, so that what it does at run time is seen. */
function clamped(odd: (state: number, update: number) => number): (state: number, update: number) => number {
  return (state, update) => (update > 1_000_000 ? odd(state, update - 1_000_000) : Math.min(999_999, state + update));
}
