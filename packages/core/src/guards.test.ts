import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { counter } from './kinds/counter.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { cas } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { defineState, field } from './state-schema.ts';
import type { Fields } from './state-schema.ts';
import { codesOf, loadError, smallTeam } from './testing/index.ts';

const text = z.string().max(20);
const guarded = defineState({
  name: 'guarded',
  version: 1,
  fields: {
    goal: cas(text, { start: 'ship' }),
    found: set(text, { cap: 9 }),
    phase: machine({ start: 'open', moves: { open: ['closed'], closed: [] } }),
  },
  protections: {
    goal: { reads: ['phase'], check: ({ after }) => after.phase === 'closed' || 'The goal stays until the work is closed.' },
    found: {
      reads: ['phase'],
      check: ({ before }) =>
        before.phase === 'closed' || [{ path: '/found/remove', hint: 'Findings stay while the work is open.' }],
    },
  },
});

describe('protection', () => {
  test('[PRT1] what is protected is not erased until its condition holds; writing it is free', () => {
    const team = smallTeam(guarded);
    expect(team.ask('a', { goal: { unset: true } })).toMatchObject({
      issues: [{ path: '/goal', code: 'protected', rule: 'goal', hint: 'The goal stays until the work is closed.' }],
    });
    expect(codesOf(team.ask('a', { goal: { set: 'ship it' }, found: { add: ['x', 'y'] } }))).toEqual(['committed']);
    expect(team.ask('a', { found: { remove: ['x'] } })).toMatchObject({ issues: [{ path: '/found/remove', code: 'protected' }] });
    expect(codesOf(team.ask('b', { goal: { unset: true }, phase: { to: 'closed' } }))).toEqual(['committed']);
    expect(codesOf(team.ask('b', { found: { remove: ['x'] } }))).toEqual(['committed']);
    expect(team.state).toEqual({ goal: null, found: ['y'], phase: 'closed' });
  });

  test('[PRT2] one patch erases no more in a field than it allows', () => {
    const team = smallTeam({
      fields: { tags: field(set(text, { cap: 9 }), { eraseMax: 1 }), kept: field(cas(text), { eraseMax: 0 }) },
    });
    team.ask('a', { tags: { add: ['x', 'y', 'z'] }, kept: { set: 'it' } });
    expect(team.ask('a', { tags: { remove: ['x', 'y'], add: ['w'] } })).toMatchObject({
      issues: [{ path: '/tags', code: 'protected', rule: 'eraseMax', have: 1, want: 2 }],
    });
    expect(codesOf(team.ask('a', { kept: { unset: true } }))).toEqual(['protected']);
    expect(codesOf(team.ask('a', { tags: { remove: ['x'] } }))).toEqual(['committed']);
    expect(team.state).toEqual({ kept: 'it', tags: ['y', 'z'] });
  });

  test('[PRT3] erasures below keys and rows count', () => {
    const team = smallTeam({
      fields: {
        notes: field(map(map(cas(text), { cap: 3 }), { cap: 3 }), { eraseMax: 1 }),
        rows: field(records({ x: cas(text), n: counter() }, { cap: 3 }), { eraseMax: 1 }),
      },
    });
    team.ask('a', { notes: { at: { a: { at: { p: { set: '1' }, q: { set: '2' } } } } } });
    team.ask('a', { rows: { put: { r: { x: { set: '1' } }, s: { x: { set: '2' } } } } });
    expect(codesOf(team.ask('a', { notes: { at: { a: { drop: ['p', 'q'] } } } }))).toEqual(['protected']);
    expect(codesOf(team.ask('a', { notes: { at: { a: { at: { p: { unset: true } }, drop: ['q'] } } } }))).toEqual(['protected']);
    expect(codesOf(team.ask('a', { rows: { drop: ['r'], patch: { s: { x: { unset: true } } } } }))).toEqual(['protected']);
    expect(codesOf(team.ask('a', { rows: { drop: ['r'] }, notes: { at: { a: { drop: ['q'] } } } }))).toEqual(['committed']);
  });

  test('[PRT4] a protection of no field, or a limit that is no whole number, does not load', () => {
    const check = (): true => true;
    const fields: Fields = { n: counter() };
    expect(loadError({ fields, protections: { m: { reads: ['n'], check } } })).toMatchObject({
      path: '/protections/m',
    });
    expect(loadError({ fields, protections: { n: { reads: ['m'], check } } })).toMatchObject({
      path: '/protections/n',
    });
    expect(loadError({ fields: { n: field(counter(), { eraseMax: -1 }) } })).toMatchObject({ path: '/fields/n' });
    const kept = field(cas(text), { eraseMax: 0 });
    for (const [n, below] of [
      [map(kept, { cap: 2 }), '/*'],
      [map(map(kept, { cap: 2 }), { cap: 2 }), '/*/*'],
      [records({ kept }, { cap: 2 }), '/*/kept'],
    ] as const)
      expect(loadError({ fields: { n } })).toMatchObject({
        path: `/fields/n${below}`,
        message: expect.stringContaining('eraseMax') as string,
      });
  });
});
