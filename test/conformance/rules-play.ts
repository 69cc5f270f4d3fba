/**
 * A play by hand for what no play of one kind shows: rules, protections, erasures, a derived field, roles, premises, bases that
 * are too old or too new, what ends by itself, an agent that leaves and comes back.
 */
import { cas, claim, counter, derived, field, loadState, lww, map } from '@oplus/core';
import { sha256 } from '@oplus/core/testing';
import { z } from 'zod';
import { joined } from './hand-play.ts';
import type { Drafted, Idea } from './hand-play.ts';

const words = z.string().max(20);

const schema = loadState(
  {
    name: 'rules',
    version: 1,
    fields: {
      stock: counter({ start: 5 }),
      reserved: counter(),
      free: derived(z.int().min(-50).max(100), {
        from: { stock: counter(), reserved: counter() },
        compute: ({ stock, reserved }) => stock - reserved,
      }),
      phase: cas(z.enum(['draft', 'final']), { start: 'draft' }),
      notes: field(map(cas(words), { cap: 4 }), { eraseMax: 1 }),
      decision: field(lww(words), { writers: ['lead'] }),
      lock: claim({ leaseMs: 1000 }),
    },
    roles: { lead: { priority: 1 }, worker: { priority: 0, trust: 60 } },
    invariants: {
      enough: {
        reads: ['stock', 'reserved'],
        check: ({ after }) => after.reserved <= after.stock || `${after.reserved} of ${after.stock} are reserved.`,
      },
    },
    transitions: {
      forward: {
        reads: ['phase'],
        check: ({ before, after }) => !(before.phase === 'final' && after.phase === 'draft') || 'What is final stays so.',
      },
    },
    protections: {
      notes: { reads: ['phase'], check: ({ after }) => after.phase !== 'final' || 'The phase is final.' },
    },
    horizon: 2,
  },
  sha256,
);

const ROUNDS: readonly Drafted[] = [
  { events: [joined('ada', 'lead'), joined('bob'), joined('cy')], proposals: [] },
  {
    proposals: [
      {
        agent: 'ada',
        n: 1,
        base: 0,
        patch: { notes: { at: { a: { set: 'one' }, b: { set: 'two' }, '10': { set: 'ten' }, '9': { set: 'nine' } } } },
      },
      { agent: 'ada', n: 2, base: 0, patch: { decision: { set: 'wait' } } },
      { agent: 'bob', n: 1, base: 0, patch: { stock: { inc: 2 }, reserved: { inc: 3 } } },
      { agent: 'bob', n: 2, base: 0, patch: { decision: { set: 'go' }, free: { set: 9 } } },
      { agent: 'cy', n: 1, base: 0, patch: { reserved: { inc: 9 } } },
      { agent: 'cy', n: 2, base: 0, patch: { lock: { claim: true } } },
      { agent: 'cy', n: 3, base: 0, patch: { reserved: { inc: 99 } } },
      { agent: 'cy', n: 5, base: 0, patch: { lock: { release: true } } },
    ],
  },
  {
    proposals: [
      { agent: 'ada', n: 3, base: 1, patch: { phase: { set: 'final' } } },
      { agent: 'bob', n: 3, base: 1, patch: { notes: { drop: ['a', 'b'] } } },
      { agent: 'bob', n: 4, base: 1, patch: { notes: { drop: ['a'] } } },
      { agent: 'cy', n: 4, base: 0, patch: { reserved: { inc: 1 } }, premises: ['/free'] },
      { agent: 'cy', n: 5, base: 1, patch: { notes: { at: { '10': { set: 10 }, '9': { set: 9 }, c: { set: 'three' } } } } },
    ],
  },
  {
    proposals: [
      { agent: 'ada', n: 4, base: 2, patch: { phase: { set: 'draft' } } },
      { agent: 'bob', n: 5, base: 7, patch: { reserved: { inc: 1 } } },
      { agent: 'bob', n: 6, base: 2, patch: { reserved: { inc: -4 }, phase: { set: 'draft' } } },
      { agent: 'cy', n: 6, base: 2, patch: { notes: { at: { b: { set: 'on trust' } } } }, premises: ['/decision'] },
      { agent: 'cy', n: 7, base: { revision: 2, vector: { bob: 9 } }, patch: { lock: { release: true } } },
    ],
  },
  {
    term: 2,
    events: [
      { kind: 'expire', path: '/lock', token: 4101, cause: 'lease' },
      { kind: 'expire', path: '/lock', token: 4, cause: 'lease' },
      { kind: 'leave', agent: 'bob', incarnation: 1 },
    ],
    proposals: [
      { agent: 'ada', n: 5, base: 3, patch: { decision: { set: 'as noted' } }, premises: ['/notes/b'] },
      { agent: 'bob', n: 7, base: 0, patch: { stock: { inc: 1 } } },
      { agent: 'bob', n: 8, base: 3, patch: { stock: { inc: 1 } }, schema: '0123456789abcdef' },
      {
        agent: 'cy',
        n: 8,
        base: { revision: 3, vector: { ada: 4 } },
        patch: { lock: { claim: true }, decision: { unset: true } },
      },
      { agent: 'cy', n: 9, base: 3, patch: { lock: { claim: true } } },
    ],
  },
  {
    events: [joined('bob', 'worker', 'second'), joined('dan', 'stranger'), { kind: 'leave', agent: 'bob', incarnation: 1 }],
    proposals: [
      { agent: 'bob', n: 9, base: 4, patch: { stock: { inc: 1 } } },
      { agent: 'bob', n: 9, base: 4, patch: { stock: { inc: -3 }, reserved: { inc: -3 } }, incarnation: 2 },
      { agent: 'ada', n: 6, base: 4, patch: { lock: { claim: true }, stock: { inc: 1 } } },
      { agent: 'dan', n: 1, base: 4, patch: { stock: { inc: 1 } } },
    ],
  },
];

export const rulesIdea: Idea = {
  name: 'rules',
  schema,
  functions: { free: 'stock minus reserved' },
  checks: {
    enough: 'reserved is at most stock',
    forward: 'final does not become draft again',
    notes: 'nothing is erased while the phase is final',
  },
  rounds: ROUNDS,
};
