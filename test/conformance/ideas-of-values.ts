/**
 * What happens to values: equal ones, computed ones, what overflows, what is large, how numbers and texts are written.
 */
import {
  cas,
  claim,
  counter,
  derived,
  growSet,
  loadState,
  log,
  lww,
  map,
  max,
  multi,
  owned,
  priority,
  records,
  removeWins,
  set,
  topK,
  vote,
} from '@oplus/core';
import { sha256 } from '@oplus/core/testing';
import { z } from 'zod';
import { asks, joined } from './hand-play.ts';
import type { Idea } from './hand-play.ts';

const words = z.string().max(20);
const ranked = z.strictObject({ name: words, score: z.int().min(-9).max(9) });
const roles = { lead: { priority: 1 }, worker: { priority: 0 } };
const team = [joined('ada', 'lead'), joined('bob'), joined('cy')];

const same = {
  cas: { set: 'x' },
  claim: { claim: true },
  grow: { add: ['x'] },
  log: { append: [{ id: 'x', note: 'same' }] },
  lww: { set: 'x' },
  multi: { set: 'x' },
  owned: { set: 'x' },
  priority: { set: 'x' },
  set: { add: ['x'] },
  top: { add: [{ name: 'x', score: 1 }] },
  vote: { vote: 'yes' },
} as const;

const equal: Idea = {
  name: 'equal',
  schema: loadState(
    {
      name: 'equal',
      version: 1,
      fields: {
        cas: cas(words),
        claim: claim(),
        grow: growSet(words, { cap: 3 }),
        log: log(z.strictObject({ id: words, note: words }), { keep: 3, id: 'id' }),
        lww: lww(words),
        max: max({ hi: 9 }),
        multi: multi(words),
        owned: owned(words),
        priority: priority(words),
        set: set(words, { cap: 3 }),
        top: topK(ranked, { k: 2, by: 'score' }),
        vote: vote({ options: ['yes', 'no'], voters: 3, quorum: 3 }),
      },
      roles,
    },
    sha256,
  ),
  rounds: [
    { events: team },
    { proposals: [...asks('ada', 1, 0, same), ...asks('bob', 1, 0, { ...same, claim: { claim: true }, max: { raise: 0 } })] },
    {
      proposals: [
        ...asks('ada', 2, 1, same),
        // Of two sets of one value the remove has seen one.
        ...asks('cy', 1, 1, { set: { remove: ['x'] }, log: { append: [{ id: 'x', note: 'other' }] } }),
        ...asks('bob', 2, 0, { set: { add: ['x'] }, multi: { set: 'x' }, owned: { set: 'x' } }),
      ],
    },
    { proposals: asks('cy', 2, 2, { cas: { set: 'y' }, multi: { set: 'y' } }, { multi: { set: 'y' }, lww: { set: 'x' } }) },
  ],
};

const overflow: Idea = {
  name: 'overflow',
  schema: loadState(
    {
      name: 'overflow',
      version: 1,
      fields: {
        last: log(words, { keep: 2 }),
        stamped: log(words, { keep: 2, order: 'stamp' }),
        full: log(words, { keep: 2, overflow: 'reject' }),
        spilt: log(words, { keep: 2, overflow: 'spill' }),
        best: topK(ranked, { k: 2, by: 'score' }),
        tags: set(words, { cap: 2 }),
        keys: map(log(words, { keep: 1 }), { cap: 1 }),
        rows: records({ lines: log(words, { keep: 1 }), best: topK(ranked, { k: 1, by: 'score' }) }, { cap: 2 }),
      },
      roles,
    },
    sha256,
  ),
  rounds: [
    { events: team },
    {
      proposals: [
        ...asks('ada', 1, 0, {
          last: { append: ['a', 'b'] },
          stamped: { append: ['a', 'b'] },
          spilt: { append: ['a', 'b', 'c'] },
          full: { append: ['a'] },
        }),
        ...asks(
          'bob',
          1,
          0,
          { last: { append: ['c'] }, stamped: { append: ['c'] }, spilt: { append: ['d'] } },
          { full: { append: ['b', 'c'] } },
        ),
        ...asks('cy', 1, 0, {
          best: { add: [3, -2, 5, 3].map((score, i) => ({ name: `n${i}`, score })) },
          tags: { add: ['a', 'b'] },
        }),
        ...asks('cy', 2, 0, { tags: { add: ['c'] } }, { tags: { remove: ['a'], add: ['c'] } }),
      ],
    },
    {
      proposals: [
        // Late by its stamp: it falls off as it comes.
        ...asks('cy', 4, 0, { stamped: { append: ['late'] }, best: { add: [{ name: 'low', score: 0 }] } }),
        ...asks('ada', 2, 1, {
          keys: { at: { 'a/b': { append: ['1', '2'] } } },
          rows: { put: { r: { lines: { append: ['1', '2'] } } } },
        }),
        ...asks('bob', 3, 1, { keys: { at: { c: { append: ['1'] } } } }, { spilt: { append: ['e', 'f'] } }),
        ...asks('bob', 5, 1, { rows: { add: [{ best: { add: [1, 2].map((score) => ({ name: 'n', score })) } }] } }),
      ],
    },
    { proposals: asks('ada', 3, 2, { spilt: { append: ['g'] }, best: { add: [{ name: 'n9', score: 9 }] } }) },
  ],
};

const computed: Idea = {
  name: 'computed',
  schema: loadState(
    {
      name: 'computed',
      version: 1,
      fields: {
        lines: log(words, { keep: 2 }),
        best: topK(ranked, { k: 1, by: 'score' }),
        lock: claim({ leaseMs: 1000 }),
        count: derived(z.int().min(0).max(2), {
          from: { lines: log(words, { keep: 2 }) },
          compute: ({ lines }) => lines.entries.length,
        }),
        sum: derived(z.int().min(-5).max(5), {
          from: { best: topK(ranked, { k: 1, by: 'score' }), lines: log(words, { keep: 2 }) },
          compute: ({ best, lines }) => (best[0]?.score ?? 0) - lines.entries.length,
        }),
        who: derived(words, { from: { lock: claim({ leaseMs: 1000 }) }, compute: ({ lock }) => lock.holder ?? 'nobody' }),
      },
      roles: { lead: { priority: 1 }, worker: { priority: 0, trust: 40 } },
      invariants: {
        few: {
          reads: ['count', 'sum'],
          check: ({ after }) =>
            after.sum + after.count < 5 || [
              { path: '/sum', hint: 'Too many in all.', have: after.sum, want: { sum: 4 } },
              { path: '/count', hint: 'So are these.' },
            ],
        },
      },
    },
    sha256,
  ),
  functions: {
    count: 'the number of lines',
    sum: 'the best score, or 0, minus the number of lines',
    who: 'the holder of the lock, or nobody',
  },
  checks: { few: 'sum and count are below 5, told of both' },
  rounds: [
    { events: team },
    {
      proposals: [
        // The log is settled when it is counted: three lines are two.
        ...asks('bob', 1, 0, { lines: { append: ['a', 'b', 'c'] } }, { count: { set: 1 } }),
        ...asks('ada', 1, 0, { best: { add: [{ name: 'a', score: -9 }] } }, { best: { add: [{ name: 'b', score: 9 }] } }),
        ...asks('cy', 1, 0, { lock: { claim: true } }, { best: { add: [{ name: 'c', score: 2 }] } }),
      ],
    },
    {
      proposals: [
        // Another line leaves the count as it was, so a premise on it holds.
        ...asks('bob', 3, 1, { lines: { append: ['d'] } }),
        { agent: 'ada', n: 3, base: 1, patch: { best: { add: [{ name: 'd', score: 3 }] } }, premises: ['/count'] },
        { agent: 'cy', n: 3, base: 0, patch: { lines: { append: ['e'] } }, premises: ['/sum'] },
        ...asks('ada', 4, 1, { best: { add: [{ name: 'e', score: 7 }] } }),
      ],
    },
    {
      events: [{ kind: 'expire', path: '/lock', token: 1, cause: 'lease' }],
      proposals: [{ agent: 'ada', n: 5, base: 2, patch: {}, premises: ['/who'] }],
    },
  ],
};

const large: Idea = {
  name: 'large',
  schema: loadState(
    {
      name: 'large',
      version: 1,
      fields: {
        keys: map(counter(), { cap: 64 }),
        tags: set(z.string().max(300), { cap: 64 }),
        lines: log(z.string().max(300), { keep: 64 }),
        best: topK(ranked, { k: 40, by: 'score' }),
        out: removeWins(words, { cap: 40 }),
        one: cas(z.string().max(300)),
      },
      roles,
    },
    sha256,
  ),
  rounds: [
    { events: team },
    {
      proposals: [
        ...asks('ada', 1, 0, { keys: { at: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, { inc: i }])) } }),
        ...asks('ada', 2, 0, {
          tags: { add: Array.from({ length: 20 }, (_, i) => `${i} é 😀`) },
          lines: { append: Array.from({ length: 20 }, (_, i) => `${i * i}`) },
        }),
        ...asks('bob', 1, 0, {
          best: { add: Array.from({ length: 19 }, (_, i) => ({ name: `n${i}`, score: ((i * 7) % 19) - 9 })) },
        }),
        ...asks('bob', 2, 0, { out: { remove: Array.from({ length: 20 }, (_, i) => `r${i}`), add: ['r0', 'x'] } }),
        // More than 64 operations, more than 32 issues, and what is told is cut.
        ...asks('cy', 1, 0, { keys: { at: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, { inc: 1 }])) } }),
        ...asks('cy', 2, 0, { keys: { at: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, { set: i }])) } }),
        ...asks('cy', 3, 0, { one: { set: `${'a'.repeat(199)}😀${'b'.repeat(60)}` } }),
      ],
    },
    {
      proposals: [
        ...asks('ada', 3, 1, { keys: { drop: Array.from({ length: 18 }, (_, i) => `k${2 * i}`) } }),
        ...asks(
          'bob',
          3,
          0,
          { one: { set: 'mine' } },
          { tags: { remove: ['x'.repeat(301)] } },
          { one: { set: [[[[[[[[[[1]]]]]]]]]] } },
        ),
      ],
    },
  ],
};

const spelling: Idea = {
  name: 'spelling',
  schema: loadState(
    {
      name: 'spelling',
      version: 1,
      fields: {
        n: lww(z.number().min(-1e300).max(1e300)),
        s: cas(z.string().max(40)),
        o: cas(
          z.strictObject({
            b: z.union([z.number().min(0).max(9), z.null()]),
            a: z.array(z.union([z.string().max(3), z.int().min(0).max(9)])).max(3),
          }),
        ),
        keys: map(lww(z.boolean()), { cap: 8 }),
        tags_2: set(z.number().min(-10).max(10), { cap: 5 }),
      },
      roles,
    },
    sha256,
  ),
  rounds: [
    { events: team },
    {
      proposals: [
        ...asks(
          'ada',
          1,
          0,
          ...[1e-7, 0.000001, -1.5, 5e-324, -0, 0.1, 123456789.25, 9007199254740991].map((n) => ({ n: { set: n } })),
        ),
        ...asks('bob', 1, 0, { s: { set: 'tab\there "q" \\ é 😀 ﬁ' } }, { o: { set: { b: null, a: ['x', 1] } } }),
        ...asks(
          'bob',
          3,
          0,
          { tags_2: { add: [0.5, 10, 2, -1] } },
          {
            keys: {
              at: {
                '10': { set: true },
                '9': { set: false },
                b: { set: true },
                a: { set: true },
                é: { set: true },
                '01': { set: true },
                '😀': { set: true },
                ﬁ: { set: true },
              },
            },
          },
        ),
        ...asks(
          'cy',
          1,
          0,
          { o: { set: { b: 10, a: [1, 'long'] } } },
          { o: { set: { b: 1, a: [11] } } },
          { o: { set: { b: 1, a: [], c: 1 } } },
          { o: { set: { b: 'x', a: [true] } } },
        ),
      ],
    },
    { proposals: asks('bob', 5, 1, { tags_2: { remove: [0.5], add: [1e-7] } }, { keys: { drop: ['10', '01'] } }) },
  ],
};

export const IDEAS_OF_VALUES: readonly Idea[] = [computed, equal, large, overflow, spelling];
