import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import { growSet } from './grow-set.ts';

const tags = growSet(z.string().max(10), { cap: 3 });

describe('grow-set', () => {
  test('[GST1] it is the union of all that was added, in the order of the texts', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.round({ agent: 'a', patch: { s: { add: ['y'] } } }, { agent: 'b', patch: { s: { add: ['x', 'z'] } } });
    expect(team.state).toEqual({ s: ['x', 'y', 'z'] });
    const view = team.schema.kinds[0]?.view(team.space.cells[0]) as ReadonlySet<string>;
    expect([view.size, view.has('x'), view.has('q'), ...view]).toEqual([3, true, false, 'x', 'y', 'z']);
  });

  test('[GST2] equal values agree, and a value that is there is no write', () => {
    const pair = z.strictObject({ p: z.int().min(0).max(9), q: z.int().min(0).max(9) });
    const team = smallTeam({ fields: { s: growSet(pair, { cap: 5 }) } });
    const told = team.round(
      { agent: 'a', patch: { s: { add: [{ p: 1, q: 2 }] } } },
      { agent: 'b', patch: { s: { add: [{ q: 2, p: 1 }] } } },
    );
    expect(told.map((verdict) => Object.values(outcomesOf(verdict)).join()).sort()).toEqual(['', 'unchanged']);
    const kind = team.schema.kinds[0];
    const op = {
      add: [
        { p: 1, q: 2 },
        { p: 2, q: 2 },
      ],
      remove: [],
    };
    expect(kind?.withoutEcho(team.space.cells[0], op)).toEqual({ add: [{ p: 2, q: 2 }], remove: [] });
    expect(kind?.withoutEcho(team.space.cells[0], { ...op, add: op.add.slice(0, 1) })).toBeUndefined();
  });

  test('[GST3] adds beyond the cap are refused whole; what is there may be added again', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.ask('a', { s: { add: ['1', '2'] } });
    expect(team.ask('b', { s: { add: ['3', '4'] } })).toMatchObject({ issues: [{ path: '/s', code: 'bound', have: 2 }] });
    team.ask('b', { s: { add: ['3'] } });
    expect(codesOf(team.ask('b', { s: { add: ['1', '2'] } }))).toEqual(['committed']);
    expect(team.state).toEqual({ s: ['1', '2', '3'] });
  });

  test('[GST4] nothing is removed, by no verb and by no foreign patch', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.ask('a', { s: { add: ['x', 'y'] } });
    expect(codesOf(team.ask('a', { s: { remove: ['x'] } }))).toEqual(['schema']);
    expect(tags.erases({ add: ['x'], remove: [] })).toBe(0);
    const complaints: string[] = [];
    const assign = (value: readonly string[]): unknown =>
      tags.assign(team.space.cells[0], { kind: 'set', value }, '/s', (path, { code }) => complaints.push(`${path} ${code}`));
    expect(assign(['x'])).toBeUndefined();
    expect(complaints).toEqual(['/s schema']);
    expect(assign(['y', 'z', 'x'])).toEqual({ add: ['z'] });
    expect(assign(['y', 'x'])).toBeUndefined();
    expect(complaints).toHaveLength(1);
  });

  test('[GST5] its grade is A when there is room for every value of the type', () => {
    const gradeOf = (cap: number): string => growSet(z.enum(['a', 'b', 'c']).nullable(), { cap }).grade.letter;
    expect([gradeOf(3), gradeOf(4), tags.grade.letter]).toEqual(['B', 'A', 'B']);
    expect(loading(growSet(z.boolean(), { cap: 0 }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });
});
