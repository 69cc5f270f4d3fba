/**
 * What makes a round: events, which proposals are due, views that are old, drafts that were not made on a revision.
 */
import { cas, claim, counter, loadState, log, map, multi, owned, removeWins, set } from '@oplus/core';
import { sha256 } from '@oplus/core/testing';
import { z } from 'zod';
import { asks, joined } from './hand-play.ts';
import type { Idea } from './hand-play.ts';

const words = z.string().max(20);
const ada = joined('ada', 'lead');
const [bob, cy] = [joined('bob'), joined('cy')];
const roles = { lead: { priority: 1 }, worker: { priority: 0 } };

const events: Idea = {
  name: 'events',
  schema: loadState(
    {
      name: 'events',
      version: 1,
      fields: {
        busy: counter(),
        lock: claim({ leaseMs: 1000 }),
        locks: map(claim({ leaseMs: 1000 }), { cap: 2 }),
        plan: multi(words, { dispute: { arbiter: 'lead', deadlineMs: 1000 } }),
        seat: owned(words, { dispute: { arbiter: 'lead', deadlineMs: 1000 } }),
      },
      roles,
      invariants: {
        manned: {
          reads: ['busy', 'lock'],
          check: ({ after }) => after.busy === 0 || after.lock.holder !== undefined || 'Nobody is there.',
        },
      },
      agentsMax: 3,
    },
    sha256,
  ),
  checks: { manned: 'the lock is held while busy is not 0' },
  rounds: [
    { events: [cy, ada, bob, bob, joined('dan'), joined('Eve'), joined('constructor'), joined('fay', 'guest')] },
    {
      events: [joined('bob', 'lead', 'first'), joined('cy', 'worker', 'se cond')],
      proposals: [
        ...asks('ada', 1, 0, { lock: { claim: true }, busy: { inc: 1 } }, { plan: { set: 'a' }, seat: { set: 'a' } }),
        ...asks('bob', 1, 0, { locks: { at: { 'x/y': { claim: true } } } }, { plan: { set: 'b' }, seat: { set: 'b' } }),
        ...asks('dan', 1, 0, { busy: { inc: 1 } }),
      ],
    },
    {
      events: [
        { kind: 'expire', path: '/lock', token: 4096, cause: 'lease' },
        { kind: 'expire', path: '/locks/x~1y', token: 4098, cause: 'left' },
        { kind: 'expire', path: '/locks/none', token: 1, cause: 'lease' },
        { kind: 'expire', path: '/plan', token: 1, cause: 'deadline' },
        { kind: 'expire', path: '/seat', token: 1, cause: 'deadline' },
        { kind: 'expire', path: '/seat', token: 1, cause: 'deadline' },
        { kind: 'expire', path: '/elsewhere', token: 1, cause: 'deadline' },
      ],
      proposals: [
        ...asks('bob', 3, 1, { plan: { set: 'b' } }, { locks: { at: { 'x/y': { release: true } } } }),
        ...asks('ada', 3, 1, { busy: { inc: -1 } }),
      ],
    },
    {
      events: [
        { kind: 'expire', path: '/lock', token: 4096, cause: 'lease' },
        { kind: 'leave', agent: 'cy', incarnation: 1 },
        { kind: 'leave', agent: 'bob', incarnation: 2 },
        joined('bob', 'lead', 'second'),
      ],
      proposals: [
        ...asks('cy', 1, 2, { lock: { claim: true } }),
        { agent: 'bob', n: 5, incarnation: 2, base: 2, patch: { seat: { set: 'b', force: true } } },
        { agent: 'bob', n: 5, incarnation: 1, base: 2, patch: { seat: { release: true } } },
      ],
    },
    {
      term: 3,
      events: [{ kind: 'leave', agent: 'ada', incarnation: 1 }],
      proposals: [...asks('cy', 2, 3, { lock: { release: true } }), ...asks('ada', 4, 3, { seat: { release: true } })],
    },
    { events: [], proposals: asks('ada', 5, 4, { busy: { inc: 1 } }) },
  ],
};

const duplicates: Idea = {
  name: 'duplicates',
  schema: loadState({ name: 'duplicates', version: 1, fields: { n: counter(), at: cas(words) }, roles }, sha256),
  rounds: [
    { events: [ada, bob] },
    {
      proposals: [
        { agent: 'ada', n: 1, base: 0, patch: { at: { set: 'one' } }, why: 'b' },
        { agent: 'ada', n: 1, base: 0, patch: { at: { set: 'two' } }, why: 'a' },
        { agent: 'ada', n: 1, base: 0, patch: { at: { set: 'three' } }, why: 'a' },
        { agent: 'ada', n: 3, base: 0, patch: { n: { inc: 1 } } },
        { agent: 'bob', n: 1, base: 0, patch: { n: { inc: 8 } }, dry: true },
        { agent: 'bob', n: 2, base: 0, patch: { n: { inc: 8 } } },
      ],
    },
    {
      proposals: [
        { agent: 'ada', n: 1, base: 0, patch: { at: { set: 'one' } }, why: 'b' },
        { agent: 'ada', n: 3, base: 0, patch: { n: { inc: 4 } } },
        { agent: 'ada', n: 2, base: 0, patch: { n: { inc: 2 } } },
        { agent: 'ada', n: 2, base: 1, patch: { n: { inc: 2 } } },
        { agent: 'bob', n: 1, base: 1, patch: {}, premises: ['/at'] },
      ],
    },
    { proposals: asks('bob', 1, 2, { n: { inc: 1 } }) },
  ],
};

const horizon: Idea = {
  name: 'horizon',
  schema: loadState(
    {
      name: 'horizon',
      version: 1,
      fields: {
        n: counter(),
        notes: map(cas(words), { cap: 4 }),
        out: removeWins(words, { cap: 4 }),
        tags: set(words, { cap: 4 }),
        lines: log(words, { keep: 5 }),
      },
      roles,
      horizon: 4,
    },
    sha256,
  ),
  rounds: [
    { events: [ada, bob, cy] },
    {
      proposals: asks('ada', 1, 0, {
        notes: { at: { a: { set: 'x' }, b: { set: 'y' } } },
        out: { add: ['a'] },
        tags: { add: ['a'] },
        lines: { append: ['1', '2', '3', '4'] },
      }),
    },
    { proposals: asks('ada', 2, 1, { notes: { drop: ['a'] }, out: { remove: ['a', 'b'] } }) },
    {
      proposals: [
        ...asks('ada', 3, 2, { notes: { at: { a: { set: 'again' } } } }, { n: { inc: 1 } }),
        ...asks('bob', 1, 1, { notes: { at: { a: { set: 'late' } } } }, { out: { add: ['a'] } }),
      ],
    },
    // All have read revision 3 or later: what only older views could need is forgotten with the next drop.
    {
      proposals: [
        ...asks('ada', 5, 3, { n: { inc: 1 } }),
        ...asks('bob', 3, 3, { n: { inc: 1 } }),
        ...asks('cy', 1, 3, { n: { inc: 1 } }),
      ],
    },
    {
      proposals: [
        ...asks('ada', 6, 4, { notes: { drop: ['b'], at: { a: { set: 'kept' } } }, out: { remove: ['c'] } }),
        // An older view than its own last one: what stands where the patch aims is told.
        ...asks(
          'bob',
          4,
          0,
          { notes: { at: { a: { set: 'old' }, c: { set: 'old' } }, drop: ['b'] }, nothing: { set: 1 } },
          { tags: { add: ['b'], remove: ['a'] }, lines: { append: ['5'] }, n: { inc: 'x' } },
        ),
      ],
    },
    { proposals: asks('ada', 7, 5, { n: { inc: 1 } }) },
    { proposals: asks('ada', 8, 6, { n: { inc: 1 } }) },
    { proposals: asks('ada', 9, 7, { n: { inc: 1 } }) },
    {
      proposals: [
        // The definition's own horizon has passed what cy used last; bob's is just within it.
        ...asks('cy', 2, 3, { n: { inc: 1 } }),
        ...asks('bob', 6, 4, { n: { inc: 1 } }),
      ],
      events: [
        { kind: 'leave', agent: 'ada', incarnation: 1 },
        { kind: 'leave', agent: 'bob', incarnation: 1 },
        { kind: 'leave', agent: 'cy', incarnation: 1 },
      ],
    },
    {
      events: [joined('bob', 'worker', 'second')],
      proposals: [{ agent: 'bob', n: 7, incarnation: 2, base: 8, patch: { n: { inc: 1 } } }],
    },
  ],
};

const drafts: Idea = {
  name: 'drafts',
  schema: loadState(
    {
      name: 'drafts',
      version: 1,
      fields: {
        at: cas(words),
        notes: map(cas(words), { cap: 4 }),
        tags: set(words, { cap: 4 }),
        both: multi(words, { cap: 3 }),
      },
      roles,
    },
    sha256,
  ),
  rounds: [
    { events: [ada, bob, cy] },
    {
      proposals: [
        ...asks('ada', 1, 0, { at: { set: 'a' }, tags: { add: ['a'] }, both: { set: 'a' } }),
        ...asks('bob', 1, 0, { notes: { at: { k: { set: 'b' } } }, both: { set: 'b' } }),
      ],
    },
    {
      proposals: [
        // Made on revision 0, with what ada told and not what bob did.
        ...asks('cy', 1, { revision: 0, vector: { ada: 1 } }, { at: { set: 'c' }, tags: { remove: ['a'] }, both: { set: 'c' } }),
        // A drop needs the whole in its view: the vector does not stand for it.
        ...asks('cy', 2, { revision: 0, vector: { ada: 1, bob: 1 } }, { notes: { drop: ['k'] } }),
        // Nothing that the log does not hold, of oneself as little as of others.
        ...asks('ada', 2, { revision: 0, vector: { bob: 2, cy: 1 } }, { at: { set: 'd' } }),
        ...asks('ada', 3, { revision: 1, vector: { ada: 3 } }, { at: { set: 'd' } }),
        ...asks('ada', 4, { revision: 1, vector: { ada: 3 } }, { notes: { at: { l: { set: 'a' } } } }),
      ],
    },
    {
      proposals: [
        ...asks('bob', 2, { revision: 0, vector: { ada: 4, cy: 1 } }, { at: { set: 'b' }, both: { set: 'b' } }),
        {
          agent: 'bob',
          n: 3,
          base: { revision: 0, vector: { ada: 4, cy: 2 } },
          patch: { notes: { at: { k: { set: 'bb' } } } },
          premises: ['/at'],
        },
      ],
    },
  ],
};

export const IDEAS_OF_ROUNDS: readonly Idea[] = [drafts, duplicates, events, horizon];
