/**
 * What stands below something: guards of erasures, trust, keys and rows that are dropped and made anew, collections in collections.
 */
import {
  cas,
  claim,
  counter,
  field,
  growSet,
  loadState,
  log,
  map,
  multi,
  owned,
  records,
  removeWins,
  set,
  vote,
} from '@oplus/core';
import { sha256 } from '@oplus/core/testing';
import { z } from 'zod';
import { asks, joined } from './hand-play.ts';
import type { Idea } from './hand-play.ts';

const words = z.string().max(20);
const roles = { lead: { priority: 1 }, worker: { priority: 0 } };
const team = [joined('ada', 'lead'), joined('bob'), joined('cy')];

const isOpen = {
  reads: ['phase'],
  check: ({ after }: { readonly after: { readonly phase: string | undefined } }) =>
    after.phase === 'open' || 'The phase is not open.',
} as const;

const protectedOnes: Idea = {
  name: 'protected',
  schema: loadState(
    {
      name: 'protected',
      version: 1,
      fields: {
        phase: cas(z.enum(['open', 'shut']), { start: 'shut' }),
        at: cas(words, { start: 'x' }),
        notes: map(map(cas(words), { cap: 4 }), { cap: 4 }),
        rows: field(records({ tags: set(words, { cap: 4 }) }, { cap: 4 }), { eraseMax: 2 }),
        seat: owned(words),
        tags: field(set(words, { cap: 4 }), { eraseMax: 1 }),
        yes: vote({ options: ['a', 'b'], voters: 3, quorum: 3 }),
        fixed: field(cas(words, { start: 'x' }), { eraseMax: 0, writers: ['lead'] }),
      },
      roles,
      protections: { at: isOpen, notes: isOpen, seat: isOpen, yes: isOpen },
    },
    sha256,
  ),
  checks: { at: 'the phase is open', notes: 'the phase is open', seat: 'the phase is open', yes: 'the phase is open' },
  rounds: [
    { events: team },
    {
      proposals: asks('ada', 1, 0, {
        notes: { at: { a: { at: { b: { set: '1' }, c: { set: '2' } } } } },
        rows: { put: { r: { tags: { add: ['a', 'b', 'c'] } }, s: {} } },
        seat: { set: 'ada' },
        tags: { add: ['a', 'b'] },
        yes: { vote: 'a' },
      }),
    },
    {
      proposals: [
        ...asks(
          'ada',
          2,
          1,
          { at: { unset: true } },
          { notes: { drop: ['a'] } },
          { notes: { at: { a: { drop: ['b'] } } } },
          { seat: { release: true } },
        ),
        ...asks('ada', 6, 1, { yes: { abstain: true } }, { tags: { remove: ['a', 'b'] } }, { fixed: { unset: true } }),
        // At any depth; writes are not asked, nor what erases nothing that stands.
        ...asks('bob', 1, 1, { rows: { drop: ['s'], patch: { r: { tags: { remove: ['a', 'b'] } } } } }, { fixed: { set: 'y' } }),
        ...asks('bob', 3, 0, { notes: { drop: ['z'] } }, { notes: { at: { a: { at: { b: { set: '3' } } } } } }),
      ],
    },
    {
      proposals: asks(
        'ada',
        9,
        2,
        { phase: { set: 'open' }, at: { unset: true } },
        { notes: { at: { a: { drop: ['c'] } } } },
        { rows: { drop: ['r', 's'] } },
      ),
    },
  ],
};

const trust: Idea = {
  name: 'trust',
  schema: loadState(
    {
      name: 'trust',
      version: 1,
      fields: {
        at: cas(words),
        both: multi(words),
        lines: log(words, { keep: 4 }),
        n: counter(),
        rows: records({ a: cas(words), n: counter() }, { cap: 4 }),
        seat: owned(words),
        tags: set(words, { cap: 4 }),
      },
      roles: { lead: { priority: 1 }, worker: { priority: 0, trust: 60 }, guest: { priority: 0, trust: 20 } },
    },
    sha256,
  ),
  rounds: [
    { events: [joined('ada', 'lead'), joined('bob'), joined('cy', 'guest')] },
    {
      proposals: [
        ...asks('bob', 1, 0, {
          at: { set: 'b' },
          tags: { add: ['b'] },
          seat: { set: 'b' },
          rows: { put: { r: { a: { set: 'b' } } } },
        }),
        ...asks('cy', 1, 0, { n: { inc: 1 }, tags: { add: ['c'] }, both: { set: 'x' } }),
      ],
    },
    {
      proposals: [
        // Adding to it, agreeing with it and relying on it make nobody more trusted.
        ...asks('ada', 1, 1, { n: { inc: 1 }, tags: { add: ['b'] }, both: { set: 'x' } }),
        { agent: 'ada', n: 2, base: 1, patch: { lines: { append: ['on b'] } }, premises: ['/at', '/tags/b'] },
        { agent: 'ada', n: 3, base: 1, patch: { rows: { patch: { r: { n: { inc: 1 } } } } }, premises: ['/tags/c'] },
        { agent: 'bob', n: 2, base: 1, patch: { at: { set: 'on c' } }, premises: ['/both', '/rows/r/n'] },
      ],
    },
    {
      proposals: [
        ...asks('ada', 4, 2, { at: { set: 'mine' }, both: { set: 'y' }, seat: { set: 'b' } }),
        // Changed since the view, by another; and places that are none, or nothing yet.
        {
          agent: 'bob',
          n: 3,
          base: 1,
          patch: { lines: { append: ['late'] } },
          premises: ['/at', '/rows/r', '/rows/none/a', '/tags/none', '/nothing', ''],
        },
        { agent: 'bob', n: 4, base: 1, patch: { lines: { append: ['late'] } }, premises: ['/rows/r/a', '/seat'] },
        { agent: 'cy', n: 2, base: 1, patch: {}, premises: ['/rows/r/n'] },
        { agent: 'cy', n: 3, base: 2, patch: {} },
      ],
    },
  ],
};

const incarnations: Idea = {
  name: 'incarnations',
  schema: loadState(
    {
      name: 'incarnations',
      version: 1,
      fields: {
        keys: map(counter(), { cap: 2 }),
        sets: map(removeWins(words, { cap: 4 }), { cap: 2 }),
        rows: records({ a: cas(words), n: field(counter(), { writers: ['lead', 'worker'] }) }, { cap: 3 }),
        locks: map(claim(), { cap: 2 }),
      },
      roles: { ...roles, guest: { priority: 0 } },
    },
    sha256,
  ),
  rounds: [
    { events: [...team, joined('dan', 'guest')] },
    {
      proposals: [
        ...asks('ada', 1, 0, {
          keys: { at: { k: { inc: 1 } } },
          rows: { put: { r: { n: { inc: 1 } } } },
          sets: { at: { s: { add: ['a'] } } },
          locks: { at: { l: { claim: true } } },
        }),
        ...asks('bob', 1, 0, { rows: { add: [{ a: { set: 'b' } }, {}] } }, { rows: { add: [{}] } }),
      ],
    },
    {
      proposals: [
        ...asks('ada', 2, 1, { keys: { drop: ['k'] }, rows: { drop: ['r'] }, sets: { drop: ['s'] }, locks: { drop: ['l'] } }),
        // Who has not seen the drop reaches nothing; a drop of a row that changed is a conflict, of a key it is none.
        ...asks(
          'bob',
          3,
          1,
          { keys: { at: { k: { inc: 5 } } } },
          { rows: { patch: { r: { n: { inc: 5 } } } } },
          { rows: { put: { r: {} } } },
        ),
        ...asks('cy', 1, 1, { rows: { patch: { 'bob-1-0': { a: { set: 'c' } } } } }),
        ...asks('cy', 2, 0, { rows: { drop: ['bob-1-0', 'bob-1-1', 'none'] } }, { rows: { patch: { none: { n: { inc: 1 } } } } }),
        ...asks('dan', 1, 1, { rows: { put: { 'bob-1-1': { n: { inc: 1 } } } } }, { rows: { drop: ['bob-1-1'] } }),
      ],
    },
    {
      proposals: [
        ...asks('ada', 3, 2, {
          keys: { at: { k: { inc: 0 } } },
          rows: { put: { r: { a: { set: 'new' } } } },
          sets: { at: { s: { add: ['b'] } } },
          locks: { at: { l: { claim: true } } },
        }),
        ...asks('bob', 6, 2, { rows: { add: [{ a: { set: 'x' } }] } }, { keys: { drop: ['none'] }, rows: { drop: ['none'] } }),
      ],
    },
    {
      proposals: [
        // Old views of what was made anew.
        ...asks(
          'cy',
          4,
          1,
          { keys: { at: { k: { inc: 7 } } } },
          { sets: { at: { s: { remove: ['b'] } } } },
          { rows: { patch: { r: { a: { set: 'old' } } } } },
        ),
        ...asks('cy', 7, 1, { rows: { put: { r: { a: { set: 'old' } } } } }, { rows: { drop: ['r'] } }),
        { agent: 'bob', n: 8, base: 3, patch: { keys: { at: { k: { inc: 1 } } } }, premises: ['/rows/r/n', '/keys/k'] },
        ...asks('bob', 9, 3, { rows: { put: { 'bob-10-0': {} } } }, { rows: { drop: ['bob-1-1'], add: [{}] } }),
      ],
    },
  ],
};

const nested: Idea = {
  name: 'nested',
  schema: loadState(
    {
      name: 'nested',
      version: 1,
      fields: {
        teams: map(records({ n: counter(), tags: set(words, { cap: 2 }), own: owned(words) }, { cap: 2 }), { cap: 2 }),
        deep: map(map(records({ lines: log(words, { keep: 1 }), seen: growSet(words, { cap: 2 }) }, { cap: 2 }), { cap: 2 }), {
          cap: 2,
        }),
        rows: records(
          { notes: map(multi(words, { cap: 2 }), { cap: 2 }), say: vote({ options: ['a', 'b'], voters: 2, quorum: 1 }) },
          { cap: 2 },
        ),
      },
      roles,
    },
    sha256,
  ),
  rounds: [
    { events: team },
    {
      // Made at once by two: keys and rows merge, and so does what is in them.
      proposals: [
        ...asks('ada', 1, 0, {
          teams: { at: { 'a/b~': { put: { r: { n: { inc: 1 }, tags: { add: ['x', 'y'] } } } } } },
          deep: { at: { a: { at: { b: { put: { c: { lines: { append: ['1', '2'] } } } } } } } },
        }),
        ...asks('bob', 1, 0, { teams: { at: { 'a/b~': { put: { r: { n: { inc: 2 }, tags: { add: ['z'] } } } } } } }),
        ...asks('bob', 2, 0, {
          teams: { at: { 'a/b~': { put: { r: { n: { inc: 2 }, own: { set: 'b' } } } } } },
          deep: { at: { a: { at: { b: { put: { c: { seen: { add: ['s'] } } } } } } } },
        }),
        ...asks('cy', 1, 0, { rows: { put: { r: { notes: { at: { k: { set: '1' } } }, say: { vote: 'a' } } } } }),
        ...asks('ada', 2, 0, { rows: { put: { r: { notes: { at: { k: { set: '2' } } }, say: { vote: 'b' } } } } }),
      ],
    },
    {
      proposals: [
        // The drops have seen all but what this round brings below them.
        ...asks('ada', 3, 1, { teams: { at: { 'a/b~': { patch: { r: { n: { inc: 10 } } } } } } }),
        ...asks('bob', 3, 1, { teams: { drop: ['a/b~'] } }, { deep: { at: { a: { drop: ['b'] } } } }),
        ...asks(
          'cy',
          2,
          1,
          { deep: { at: { a: { at: { b: { put: { c: { seen: { add: ['t'] } } } } } } } } },
          { rows: { patch: { r: { notes: { drop: ['k'], at: { m: { set: '3' } } }, say: { abstain: true } } } } },
        ),
        ...asks('cy', 4, 1, {
          teams: { at: { 'a/b~': { patch: { r: { tags: { add: ['x'.repeat(21)] }, own: { set: 5 } } }, drop: ['s', 's'] } } },
        }),
      ],
    },
    {
      proposals: [
        ...asks('bob', 5, 2, { deep: { at: { a: { at: { b: { put: { c: { lines: { append: ['4'] } } } } } } } } }),
        ...asks('ada', 4, 1, { deep: { drop: ['a'] } }),
      ],
    },
  ],
};

export const IDEAS_OF_KEYS: readonly Idea[] = [incarnations, nested, protectedOnes, trust];
