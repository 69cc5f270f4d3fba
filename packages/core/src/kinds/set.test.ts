import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codesOf, outcomesOf, smallTeam } from '../testing/index.ts';
import { growSet } from './grow-set.ts';
import { set } from './set.ts';

const tags = set(z.string().max(10), { cap: 3 });

describe('set', () => {
  test('[SET1] an add that a concurrent remove did not know survives it, in either order', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.ask('a', { s: { add: ['x'] } });
    team.round({ agent: 'b', patch: { s: { add: ['x'] } } }, { agent: 'c', patch: { s: { remove: ['x'] } } });
    expect(team.state).toEqual({ s: ['x'] });
    team.ask('a', { s: { add: ['y'] } });
    team.ask('b', { s: { remove: ['x'] } });
    team.ask('c', { s: { add: ['x'] } }, 2);
    expect(team.state).toEqual({ s: ['x', 'y'] });
  });

  test('[XPL4] its samples are two adds and a remove; where nothing is removed, three adds', () => {
    expect(tags.samples()).toEqual([{ add: ['a'] }, { add: ['b'] }, { remove: ['a'] }]);
    expect(growSet(z.string().max(10), { cap: 3 }).samples()).toHaveLength(3);
  });

  test('[SET2] a remove deletes what it saw; of what it did not see it is told who added it', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.ask('a', { s: { add: ['x', 'y'] } });
    expect(team.ask('b', { s: { remove: ['z', 'x', 'y'] } }, 0)).toMatchObject({
      kind: 'committed',
      outcomes: {
        '/s/remove/0': { kind: 'unchanged' },
        '/s/remove/1': { kind: 'superseded', by: 'a', value: 'x' },
        '/s/remove/2': { kind: 'superseded', by: 'a', value: 'y' },
      },
    });
    expect(outcomesOf(team.ask('b', { s: { remove: ['x'] } }))).toEqual({});
    expect(team.state).toEqual({ s: ['y'] });
  });

  test('[SET2] a remove sees the earlier adds of its own agent', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.round({ agent: 'a', patch: { s: { add: ['x'] } } }, { agent: 'a', patch: { s: { remove: ['x'] } } });
    expect(team.state).toEqual({ s: [] });
  });

  test('[SET3] adds beyond the cap are refused whole; removes make room in the same patch', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.ask('a', { s: { add: ['1', '2', '3'] } });
    expect(codesOf(team.ask('a', { s: { add: ['4'] } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { s: { add: ['3'] } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { s: { add: ['4'], remove: ['1'] } }))).toEqual(['committed']);
    expect(team.state).toEqual({ s: ['2', '3', '4'] });
  });

  test('[SET4] elements are equal when their canonical JSON is, and each stands once in a patch', () => {
    const team = smallTeam({
      fields: { s: set(z.strictObject({ p: z.int().min(0).max(9), q: z.int().min(0).max(9) }), { cap: 5 }) },
    });
    team.round({ agent: 'a', patch: { s: { add: [{ p: 1, q: 2 }] } } }, { agent: 'b', patch: { s: { add: [{ q: 2, p: 1 }] } } });
    expect(team.state).toEqual({ s: [{ p: 1, q: 2 }] });
    expect(
      codesOf(
        team.ask('a', {
          s: {
            add: [
              { p: 1, q: 2 },
              { q: 2, p: 1 },
            ],
          },
        }),
      ),
    ).toEqual(['schema']);
    expect(codesOf(team.ask('a', { s: { add: [{ p: 1, q: 2 }], remove: [{ q: 2, p: 1 }] } }))).toEqual(['schema']);
  });

  test('[SET5] what is not of the type is refused at its place', () => {
    const team = smallTeam({ fields: { s: tags } });
    expect(team.ask('a', { s: { add: ['ok', 5] } })).toMatchObject({ issues: [{ path: '/s/add/1', code: 'schema' }] });
    expect(team.ask('a', { s: { remove: ['x'.repeat(11)] } })).toMatchObject({
      issues: [{ path: '/s/remove/0', code: 'bound' }],
    });
    expect(team.ask('a', { s: { add: 'x' } })).toMatchObject({ issues: [{ path: '/s/add', code: 'schema' }] });
  });

  test('[SET6] its grade is A when there is room for every value of the type', () => {
    const gradeOf = (cap: number): string => set(z.strictObject({ x: z.boolean(), y: z.boolean() }), { cap }).grade.letter;
    expect([gradeOf(3), gradeOf(4), tags.grade.letter]).toEqual(['B', 'A', 'B']);
  });

  test('[IMP2] what a foreign patch asks of it is said in adds and removes', () => {
    const team = smallTeam({ fields: { s: tags } });
    team.ask('a', { s: { add: ['x', 'y'] } });
    const assign = (value: readonly string[]): unknown =>
      tags.assign(team.space.cells[0], { kind: 'set', value }, '/s', () => undefined);
    expect([assign(['y', 'z']), assign(['y', 'x'])]).toEqual([{ add: ['z'], remove: ['x'] }, undefined]);
  });
});
