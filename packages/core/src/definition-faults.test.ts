import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { kindOfDeclaration } from './contract-kinds.ts';
import { OplusError } from './error.ts';
import type { Fault } from './error.ts';
import { FAULTS_MAX } from './fault.ts';
import type { Field } from './field-kind.ts';
import { claim } from './kinds/claim.ts';
import { counter, quota } from './kinds/counter.ts';
import { derived } from './kinds/derived.ts';
import { max, min } from './kinds/extremum.ts';
import { group } from './kinds/group.ts';
import { growSet } from './kinds/grow-set.ts';
import { lattice } from './kinds/lattice.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { multi } from './kinds/multi.ts';
import { owned } from './kinds/owned.ts';
import { records } from './kinds/records.ts';
import { reduce } from './kinds/reduce.ts';
import { cas, lww, priority } from './kinds/register.ts';
import { removeWins } from './kinds/remove-wins.ts';
import { set } from './kinds/set.ts';
import { text } from './kinds/text.ts';
import { topK } from './kinds/top-k.ts';
import { vote } from './kinds/vote.ts';
import { defineState, field, loadState } from './state-schema.ts';
import type { StateDefinition } from './state-schema.ts';
import { loadError, loading, SAMPLE_KINDS, sha256 } from './testing/index.ts';

const word = z.string().max(9);
const open = z.string();
const idea = z.strictObject({ score: z.int().min(0).max(9), text: word });
const table = { a: ['b'], b: [] };
const last = { state: word, update: word, start: '', reduce: (_: string, update: string) => update };
const shares = { mode: 'escrow', lo: 0, start: 9, shares: 4, granters: ['agent'] };
const ballot = { options: ['x', 'y'], voters: 3, quorum: 2 };
const from = { n: counter() };
const one = (): number => 1;

/** A constructor as an author without a type checker calls it. */
type Make = (...given: readonly never[]) => Field;

/** By name of the kind: its constructor, and lists of arguments of which none makes a field. */
const WRONG: { readonly [kind: string]: readonly [make: unknown, ...wrong: readonly (readonly unknown[])[]] } = {
  cas: [cas, [], [null], [5], [open], [z.date()], [word, null], [word, 5], [word, { start: 5 }]],
  lww: [lww, [], [null], [{}], [open], [word, null], [word, { start: 'x'.repeat(10) }]],
  priority: [priority, [], ['text'], [open], [word, null], [word, { start: null }]],
  counter: [counter, [null], [5], [{ start: 0.5 }], [{ start: '1' }]],
  quota: [quota, [], [null], [{}], [{ lo: 0, hi: 9 }], [{ lo: 9, hi: 0, start: 5 }], [{ lo: 0, hi: 9, start: 0, mode: 'x' }]],
  escrow: [
    quota,
    [{ mode: 'escrow' }],
    [{ ...shares, granters: [] }],
    [{ ...shares, granters: 'agent' }],
    [{ ...shares, granters: [5] }],
    [{ ...shares, shares: 0 }],
    [{ ...shares, start: -1 }],
    [{ ...shares, lo: -(2 ** 53) + 1, hi: 2 ** 53 - 1 }],
  ],
  max: [max, [null], [5], [{ lo: 3, hi: 1 }], [{ start: '1' }]],
  min: [min, [null], [() => 1], [{ hi: 0.5 }], [{ start: {} }]],
  claim: [claim, [null], [5], [{ leaseMs: 0 }], [{ leaseMs: 'long' }], [{ outcomeCharsMax: -1 }], [{ outcomeCharsMax: {} }]],
  machine: [
    machine,
    [],
    [null],
    [{}],
    [{ start: 'a' }],
    [{ start: 'a', moves: null }],
    [{ start: 'a', moves: ['a'] }],
    [{ start: 'a', moves: { a: 'a' } }],
    [{ start: 'a', moves: { a: [5] } }],
    [{ start: 'z', moves: table }],
    [{ start: 'a', moves: { a: [], b: ['a'] } }],
    [{ start: 'a', moves: { a: ['c'] } }],
  ],
  lattice: [
    lattice,
    [],
    [null],
    [{ start: 'a' }],
    [{ start: 'a', edges: [] }],
    [{ start: 'a', edges: { a: 'b', b: [] } }],
    [{ start: 5, edges: table }],
    [{ start: 'a', edges: { a: ['b', 'c'], b: [], c: [] } }],
    [{ start: 'a', edges: { a: ['a'] } }],
  ],
  set: [set, [], [word], [word, null], [word, {}], [word, { cap: '9' }], [word, { cap: 0 }], [open, { cap: 9 }], [5, { cap: 9 }]],
  'grow-set': [growSet, [], [word], [word, null], [word, { cap: 1.5 }], [open, { cap: 9 }]],
  'remove-wins': [removeWins, [], [word], [word, null], [word, { cap: -1 }], [open, { cap: 9 }]],
  log: [
    log,
    [],
    [word],
    [word, null],
    [word, {}],
    [word, { keep: 0 }],
    [word, { keep: 9, order: 'late' }],
    [word, { keep: 9, overflow: 'burst' }],
    [word, { keep: 9, id: 'id' }],
    [idea, { keep: 9, id: 5 }],
  ],
  'top-k': [topK, [], [idea], [idea, null], [idea, { k: 0, by: 'score' }], [idea, { k: 3 }], [idea, { k: 3, by: 'text' }]],
  map: [
    map,
    [],
    [undefined, { cap: 9 }],
    [null, { cap: 9 }],
    [5, { cap: 9 }],
    [{}, { cap: 9 }],
    [counter],
    [counter()],
    [counter(), null],
    [counter(), { cap: 0 }],
    [counter(), { cap: 9, keys: 5 }],
    [counter(), { cap: 9, keys: null }],
    [counter(), { cap: 9, keys: open }],
    [counter(), { cap: 9, keys: z.int().min(0).max(9) }],
    [counter(), { cap: 9, keys: z.string().max(10_000) }],
    [set(word, { cap: 0 }), { cap: 9 }],
  ],
  records: [
    records,
    [],
    [null, { cap: 9 }],
    [[], { cap: 9 }],
    [{}, { cap: 9 }],
    [{ n: 5 }, { cap: 9 }],
    [{ n: null }, { cap: 9 }],
    [{ 'a b': counter() }, { cap: 9 }],
    [{ n: counter() }],
    [{ n: counter() }, null],
    [{ n: counter() }, { cap: 'x' }],
    [{ n: counter() }, { cap: 9, ids: z.boolean() }],
    [{ n: counter(null as never) }, { cap: 9 }],
  ],
  group: [
    group,
    [],
    [null, { rule: 'cas' }],
    [5, { rule: 'cas' }],
    [{}, { rule: 'cas' }],
    [{ x: 5 }, { rule: 'cas' }],
    [{ x: open }, { rule: 'cas' }],
    [{ x: word }],
    [{ x: word }, null],
    [{ x: word }, { rule: 'first' }],
    [{ x: word }, { rule: 'constructor' }],
    [{ x: word }, { rule: 'multi', cap: 0 }],
    [{ x: word }, { rule: 'cas', start: { x: 5 } }],
  ],
  multi: [
    multi,
    [],
    [open],
    [word, null],
    [word, { cap: 0 }],
    [word, { dispute: null }],
    [word, { dispute: 'lead' }],
    [word, { dispute: {} }],
    [word, { dispute: { arbiter: 'agent', deadlineMs: 0.5 } }],
    [word, { dispute: { arbiter: 'agent', fallback: 'greatest' } }],
    [word, { dispute: { arbiter: 'agent', deadlineMs: 5, fallback: { value: 5 } } }],
    [word, { dispute: { arbiter: 'agent', deadlineMs: 5, fallback: 5 } }],
  ],
  owned: [
    owned,
    [],
    [open],
    [word, null],
    [word, { start: 5 }],
    [word, { force: 'agent' }],
    [word, { force: [null] }],
    [word, { dispute: 5 }],
  ],
  text: [
    text,
    [],
    [null],
    [{}],
    [{ charsMax: 0 }],
    [{ charsMax: '9' }],
    [{ charsMax: 2, start: 'abc' }],
    [{ charsMax: 9, start: 5 }],
  ],
  vote: [
    vote,
    [],
    [null],
    [{}],
    [{ ...ballot, options: 'xy' }],
    [{ ...ballot, options: [] }],
    [{ ...ballot, options: [5] }],
    [{ ...ballot, voters: null }],
    [{ ...ballot, quorum: 'all' }],
    [{ ...ballot, quorum: 9 }],
    [{ ...ballot, roster: [] }],
    [{ ...ballot, roster: { agent: 'much' } }],
  ],
  reduce: [
    reduce,
    [],
    [null],
    [{}],
    [{ ...last, state: open }],
    [{ ...last, update: 5 }],
    [{ ...last, start: undefined }],
    [{ ...last, start: 5 }],
    [{ ...last, reduce: 'state' }],
    [{ ...last, reduce: (state: string) => `${state}x` }],
  ],
  derived: [
    derived,
    [],
    [word],
    [word, null],
    [open, { from, compute: one }],
    [word, { from: null, compute: one }],
    [word, { from, compute: 5 }],
    [word, { from: {}, compute: one }],
    [word, { from: { none: counter() }, compute: () => 'x' }],
    [word, { from, compute: one }],
  ],
};

/** What anybody may put anywhere. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  5,
  'x',
  true,
  [],
  {},
  { cap: 2 },
  one,
  z.int(),
  word,
  counter(),
  Symbol('x'),
  5n,
];

describe.for(Object.entries(WRONG))('a %s made of what makes none', ([kind, [make, ...wrong]]) => {
  test(`[SCH17] loads to faults with path, rule and hint, alone and below others`, () => {
    const of = make as Make;
    for (const [i, given] of wrong.entries()) {
      const why = `${kind}, line ${i}`;
      const places: readonly (readonly [string, (odd: Field) => Field])[] = [
        ['', (odd) => odd],
        ['/*', (odd) => map(odd, { cap: 2 })],
        ['/*/*/x', (odd) => map(records({ x: odd, n: counter() }, { cap: 2 }), { cap: 2 })],
      ];
      for (const [below, holding] of places) {
        const { code, path, hint, faults = [] } = loadError({ fields: { f: holding(of(...(given as never[]))), n: counter() } });
        expect(code, why).toBe('SCHEMA_INVALID');
        expect(faults.length, why).toBeGreaterThan(0);
        expect({ path, hint }, why).toEqual({ path: faults[0]?.path, hint: faults[0]?.hint });
        for (const fault of faults) expect(fault.path, why).toMatch(new RegExp(`^/fields/f${below.replaceAll('*', '\\*')}(/|$)`));
        for (const fault of faults) expect(isTold(fault), `${why} ${JSON.stringify(fault)}`).toBe(true);
      }
    }
  });

  test('[SCH17] no argument of any sort makes it crash', () => {
    for (const first of ODD)
      for (const second of ODD) {
        const load = loading((make as Make)(first as never, second as never));
        expect(errorOf(load)?.code ?? 'SCHEMA_INVALID', `${String(first)}, ${String(second)}`).toBe('SCHEMA_INVALID');
      }
  });
});

test('[SCH17] the table has wrong arguments for every kind', () => {
  const kinds = [...SAMPLE_KINDS.map((sample) => sample.kind), 'derived'];
  expect(Object.keys(WRONG).toSorted()).toEqual(kinds.toSorted());
  for (const [, ...wrong] of Object.values(WRONG)) expect(wrong.length).toBeGreaterThan(3);
});

describe('faults of a definition', () => {
  test('[SCH18] all are told at once, those of fields, roles, rules and what ties them together', () => {
    const definition = defineState({
      name: 'broken',
      version: 0,
      fields: {
        title: cas(open),
        plan: map(
          records(
            {
              phase: lattice({ start: 'open', edges: { open: ['done', 'failed'], done: [], failed: [] } }),
              kept: group({ at: z.number(), by: word }, { rule: 'lww' }),
            },
            { cap: 8 },
          ),
          { cap: 0 },
        ),
        step: machine({ start: 'a', moves: { a: [], b: ['c'], c: ['b'] } }),
        total: reduce({ ...last, reduce: (state: string) => `${state}x` }),
        n: counter({ start: 5 }),
        owner: field(counter(), { writers: ['boss'] }),
      },
      roles: { agent: { priority: 0.5 } },
      invariants: {
        low: { reads: ['n'], check: ({ after }) => after.n < 3 || 'too high' },
        odd: { reads: ['none' as 'n'], check: () => true },
        late: { reads: ['title'], check: () => 'never asked, as title does not load' },
      },
    });
    const { faults = [], message, path } = loadError(definition as unknown as StateDefinition);
    expect(faults.map((fault) => [fault.path, fault.rule.slice(0, 64)])).toEqual([
      ['/version', 'version: must be at least 1'],
      ['/fields/plan/*/*/kept/at', 'group: a number has no cap'],
      ['/fields/plan/*/*/phase', 'lattice: done and failed have no least upper bound'],
      ['/fields/plan', 'map: cap: must be a whole number of at least 1'],
      ['/fields/step', 'machine: nothing leads to b'],
      ['/fields/step', 'machine: nothing leads to c'],
      ['/fields/title', 'cas: a string has no cap'],
      ['/fields/total', 'reduce: the reducer does not give a state of its type for each s'],
      ['/roles/agent', 'agent is not a role with a whole priority'],
      ['/fields/owner', 'no role is called boss'],
      ['/invariants/odd', 'odd reads none, which is no field'],
      ['/invariants/low', 'low fails on the initial state: too high'],
    ]);
    expect(faults.every(isTold)).toBe(true);
    expect(path).toBe('/version');
    expect(message.split('\n').slice(0, 2)).toEqual(['12 faults in the definition', '/version: version: must be at least 1']);
  });

  test('[SCH18] all faults of one kind are told, and no more than the limit', () => {
    const type = z.strictObject({ a: open, b: z.array(z.number()), c: word });
    const places = (loadError({ fields: { f: set(type as unknown as z.ZodType<string>, { cap: 0 }) } }).faults ?? []).map(
      (fault) => fault.path,
    );
    expect(places).toEqual(['/fields/f/a', '/fields/f/b/*', '/fields/f/b', '/fields/f']);
    const many = loadError({ fields: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, cas(open)])) });
    expect(many.faults).toHaveLength(FAULTS_MAX);
    expect(many.message).toMatch(/^20 or more faults/);
  });

  test('[SCH18] one fault is told without a heading', () => {
    expect(loadError({ fields: { f: cas(open) } })).toMatchObject({ message: 'cas: a string has no cap', path: '/fields/f' });
  });

  test('[SCH19] nothing can be read in a faulty field, whoever uses it', () => {
    const faulty = cas(open);
    for (const use of [
      () => faulty.bytesMax,
      () => faulty.grade,
      () => faulty.empty(undefined),
      () => faulty.read({ set: 'x' }, '', () => {}),
      () => loadState({ name: 'x', version: 1, fields: { f: { ...faulty } } }, sha256),
      () => loadState({ name: 'x', version: 1, fields: { f: field(faulty, { doc: 'a note' }) } }, sha256),
      () => kindOfDeclaration({ kind: 'set', of: { type: 'string', maxLength: 3 }, cap: 0 }, '/f', 'f', { code: {} }),
    ])
      expect(use).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });
});

/** A path, words about what is broken, and a hint that says more than that something is. */
function isTold({ path, rule, hint }: Fault): boolean {
  return path.startsWith('/') && rule.length > 5 && /.{10}/.test(hint) && !/undefined|\[object/.test(`${rule}${hint}`);
}

function errorOf(load: () => unknown): OplusError | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    if (error instanceof OplusError) return error;
    throw error;
  }
}
