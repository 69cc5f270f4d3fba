import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { field } from '../state-schema.ts';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import { counter } from './counter.ts';
import { log } from './log.ts';
import { records } from './records.ts';
import { cas } from './register.ts';

const text = z.string().max(20);
const tasks = records({ title: cas(text), points: counter() }, { cap: 4 });

describe('records', () => {
  test('[REC1] put makes a row or changes it; concurrent puts of one id merge by cell', () => {
    const team = smallTeam({ fields: { t: tasks } });
    team.round(
      { agent: 'a', patch: { t: { put: { x: { title: { set: 'A' } } } } } },
      { agent: 'b', patch: { t: { put: { x: { points: { inc: 2 } } } } } },
    );
    expect(team.state).toEqual({ t: { x: { title: 'A', points: 2 } } });
    expect(codesOf(team.ask('c', { t: { put: { x: { title: { set: 'C' } } } } }, 0))).toEqual(['conflict']);
    expect(outcomesOf(team.ask('c', { t: { put: { x: {} } } }))).toEqual({ '/t/x': 'unchanged' });
  });

  test('[REC2] a patch or a drop of a row that is not there, or not the one that was seen, answers gone or changes nothing', () => {
    const team = smallTeam({ fields: { t: tasks } });
    expect(codesOf(team.ask('a', { t: { patch: { x: { points: { inc: 1 } } } } }))).toEqual(['gone']);
    expect(outcomesOf(team.ask('a', { t: { drop: ['x'] } }))).toEqual({ '/t/x': 'unchanged' });
    team.ask('a', { t: { put: { x: { title: { set: 'first' } } } } });
    team.ask('a', { t: { drop: ['x'] } });
    team.ask('b', { t: { put: { x: { title: { set: 'second' } } } } });
    expect(team.ask('c', { t: { patch: { x: { points: { inc: 1 } } } } }, 3)).toMatchObject({
      issues: [{ path: '/t/x', code: 'gone', by: 'b', recovery: 're-read' }],
    });
    expect(codesOf(team.ask('c', { t: { drop: ['x'] } }, 3))).toEqual(['gone']);
    expect(codesOf(team.ask('c', { t: { put: { x: { points: { inc: 1 } } } } }, 3))).toEqual(['gone']);
    expect(team.state).toEqual({ t: { x: { title: 'second', points: 0 } } });
  });

  test('[REC3] a put that saw the drop begins another row; one that did not is refused', () => {
    const team = smallTeam({ fields: { t: tasks } });
    team.ask('a', { t: { put: { x: { points: { inc: 7 } } } } });
    team.ask('a', { t: { drop: ['x'] } });
    expect(codesOf(team.ask('b', { t: { put: { x: { points: { inc: 1 } } } } }, 1))).toEqual(['gone']);
    expect(codesOf(team.ask('b', { t: { put: { x: { points: { inc: 1 } } } } }))).toEqual(['committed']);
    expect(team.state).toEqual({ t: { x: { title: null, points: 1 } } });
  });

  test('[REC4] a drop that would erase a change it did not see is a conflict with the whole row', () => {
    const team = smallTeam({ fields: { t: tasks } });
    team.ask('a', { t: { put: { x: { title: { set: 'A' } } } } });
    team.ask('b', { t: { patch: { x: { points: { inc: 3 } } } } });
    expect(team.ask('a', { t: { drop: ['x'] } }, 1)).toMatchObject({
      issues: [{ path: '/t/x', code: 'conflict', have: { title: 'A', points: 3 }, want: null, by: 'b' }],
    });
    const verdicts = team.round(
      { agent: 'a', patch: { t: { drop: ['x'] } } },
      { agent: 'b', patch: { t: { patch: { x: { points: { inc: 1 } } } } } },
    );
    expect([
      ['committed', 'gone'],
      ['conflict', 'committed'],
    ]).toContainEqual(verdicts.flatMap(codesOf));
  });

  test('[REC4] an agent has seen its own changes, and not those of others before them', () => {
    const team = smallTeam({ fields: { t: tasks } });
    team.ask('a', { t: { put: { x: { points: { inc: 1 } } } } }, 0);
    expect(codesOf(team.ask('a', { t: { drop: ['x'] } }, 0))).toEqual(['committed']);
    team.ask('a', { t: { put: { x: { points: { inc: 1 } } } } });
    team.ask('b', { t: { patch: { x: { points: { inc: 1 } } } } });
    team.ask('a', { t: { patch: { x: { points: { inc: 1 } } } } }, 3);
    expect(team.ask('a', { t: { drop: ['x'] } }, 3)).toMatchObject({ issues: [{ code: 'conflict', by: 'b' }] });
  });

  test('[REC5] add issues ids from the dot: every add is its own row, and the sender is told its id', () => {
    const team = smallTeam({ fields: { t: records({ title: cas(text) }, { cap: 9 }) } }, ['a', 'a-1', 'b']);
    const verdicts = team.round(
      { agent: 'a-1', patch: { t: { add: [{ title: { set: '1' } }] } } },
      { agent: 'a', patch: { t: { add: [{ title: { set: '2' } }, { title: { set: '3' } }] } } },
      { agent: 'b', patch: { t: { add: [{}] } } },
    );
    expect(verdicts[0]).toMatchObject({ outcomes: { '/t/add/0': { kind: 'merged', id: 'a-1-1-0' } } });
    expect(verdicts[1]).toMatchObject({ outcomes: { '/t/add/0': { id: 'a-1-0' }, '/t/add/1': { id: 'a-1-1' } } });
    expect(Object.keys(team.state['t'] as object).sort()).toEqual(['a-1-0', 'a-1-1', 'a-1-1-0', 'b-1-0']);
  });

  test('[REC5] an id that somebody else took beforehand refuses the add instead of joining the row', () => {
    const team = smallTeam({ fields: { t: tasks } });
    team.ask('b', { t: { put: { 'a-1-0': { title: { set: 'squat' } } } } });
    expect(codesOf(team.ask('a', { t: { add: [{ title: { set: 'mine' } }] } }))).toEqual(['conflict']);
    expect(codesOf(team.ask('a', { t: { add: [{ title: { set: 'mine' } }] } }))).toEqual(['committed']);
    const strict = smallTeam({
      fields: {
        t: records(
          { title: cas(text) },
          {
            cap: 4,
            ids: z
              .string()
              .max(4)
              .regex(/^[A-Z]{1,4}$/),
          },
        ),
      },
    });
    expect(strict.ask('a', { t: { add: [{}] } })).toMatchObject({ issues: [{ path: '/t/add/0', code: 'schema' }] });
  });

  test('[REC6] rows beyond the cap are refused', () => {
    const team = smallTeam({ fields: { t: tasks } });
    team.ask('a', { t: { add: [{}, {}, {}, {}] } });
    expect(codesOf(team.ask('b', { t: { put: { x: {} } } }))).toEqual(['bound']);
    expect(codesOf(team.ask('b', { t: { drop: ['a-1-0'], put: { x: {} } } }))).toEqual(['committed']);
    expect(Object.keys(team.state['t'] as object)).toHaveLength(4);
  });

  test('[REC7] an id stands under one verb of a patch, and rows have the declared cells', () => {
    const team = smallTeam({ fields: { t: tasks } });
    team.ask('a', { t: { put: { x: {} } } });
    for (const patch of [
      { drop: ['x'], put: { x: {} } },
      { put: { x: {} }, patch: { x: { points: { inc: 1 } } } },
      { drop: ['x', 'x'] },
      { put: { y: { other: { set: 1 } } } },
      { put: { y: null } },
      { add: {} },
      { drop: 'x' },
    ]) {
      expect(codesOf(team.ask('a', { t: patch }))).toEqual(['schema']);
    }
    expect(loading(records({}, { cap: 2 }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(loading(records({ '0': counter() }, { cap: 2 }))).toThrow('cannot be the name of a cell');
    expect(loading(records({ constructor: counter() }, { cap: 2 }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  test('[REC8] what a cell of a row evicts is told with the path of the row', () => {
    const team = smallTeam({ fields: { t: records({ l: log(text, { keep: 1 }) }, { cap: 2 }) } });
    expect(outcomesOf(team.ask('a', { t: { put: { x: { l: { append: ['1', '2'] } } } } }))).toEqual({
      '/t/x/l/append/0': 'evicted',
    });
    expect(team.state).toEqual({ t: { x: { l: ['2'] } } });
  });

  test('[JDG5] writers of a cell hold for it, and for the drop of its row', () => {
    const fields = { t: records({ title: cas(text), approved: field(cas(text), { writers: ['lead'] }) }, { cap: 4 }) };
    const team = smallTeam({ fields, roles: { lead: { priority: 1 }, agent: { priority: 0 } } }, ['a:lead', 'b']);
    expect(codesOf(team.ask('b', { t: { put: { x: { title: { set: 'T' } } } } }))).toEqual(['committed']);
    expect(team.ask('b', { t: { patch: { x: { approved: { set: 'yes' } } } } })).toMatchObject({
      issues: [{ path: '/t/x/approved', code: 'forbidden' }],
    });
    expect(codesOf(team.ask('b', { t: { drop: ['x'] } }))).toEqual(['forbidden']);
    expect(codesOf(team.ask('a', { t: { drop: ['x'] } }))).toEqual(['committed']);
  });
});
