import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { counter } from './kinds/counter.ts';
import { map } from './kinds/map.ts';
import { cas } from './kinds/register.ts';
import { horizonOf } from './space.ts';
import { codesOf, smallTeam } from './testing/index.ts';

const fields = { n: counter(), m: map(cas(z.string().max(9)), { cap: 4 }) };
const inc = { n: { inc: 1 } };

describe('horizon', () => {
  test('[HRZ1] it follows the oldest view that a live agent may still hold', () => {
    const team = smallTeam({ fields });
    for (let i = 0; i < 4; i += 1) team.ask('a', inc);
    expect(horizonOf(team.space)).toBe(0);
    team.ask('b', inc, 2);
    team.ask('c', inc, 3);
    expect(horizonOf(team.space)).toBe(2);
    expect(team.ask('a', inc, 1)).toMatchObject({
      issues: [
        { path: '/base', code: 'stale_base', have: 2, want: 1, recovery: 're-read' },
        { path: '/n', code: 'stale_base', recovery: 're-read' },
      ],
    });
    expect(codesOf(team.ask('a', inc, 2))).toEqual(['committed']);
    team.events({ kind: 'leave', agent: 'b', incarnation: 1 });
    expect(horizonOf(team.space)).toBe(3);
  });

  test('[HRZ2] a view as new as the newest that its agent has used is never stale while the definition allows it', () => {
    const team = smallTeam({ fields });
    for (let i = 0; i < 5; i += 1) {
      team.ask('a', inc);
      team.ask('c', inc);
    }
    expect(horizonOf(team.space)).toBe(0);
    expect(codesOf(team.ask('b', inc, 0))).toEqual(['committed']);
    expect(codesOf(team.ask('b', inc, 0))).toEqual(['committed']);
  });

  test('[HRZ3] an agent that falls silent holds it back no longer than the definition allows', () => {
    const team = smallTeam({ fields, horizon: 3 });
    for (let i = 0; i < 9; i += 1) team.ask('a', inc);
    expect(horizonOf(team.space)).toBe(6);
    expect(codesOf(team.ask('b', inc, 5))).toEqual(['stale_base', 'stale_base']);
  });

  test('[HRZ4] when all have left it is the newest revision, and who comes back begins there', () => {
    const team = smallTeam({ fields }, ['a']);
    team.ask('a', inc);
    team.events({ kind: 'leave', agent: 'a', incarnation: 1 });
    expect(horizonOf(team.space)).toBe(2);
    team.events({ kind: 'join', agent: 'a', role: 'agent', session: 'again' });
    expect(horizonOf(team.space)).toBe(3);
  });

  test('[HRZ5] tombstones that every view is newer than are forgotten', () => {
    const team = smallTeam({ fields }, ['a']);
    const sizes: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      team.ask('a', { m: { at: { [`k${i}`]: { set: 'v' } } } });
      team.ask('a', { m: { drop: [`k${i}`] } });
      sizes.push(team.schema.kinds[0]?.encode(team.space.cells[0]).length ?? 0);
    }
    const late = sizes.slice(10);
    expect(Math.max(...late) - Math.min(...late)).toBeLessThan(20);
  });
});
