import { describe, expect, test } from 'vitest';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import { machine } from './machine.ts';

const phase = machine({
  start: 'todo',
  moves: { todo: ['doing'], doing: ['todo', 'done', 'failed'], done: [], failed: ['todo'] },
});

describe('machine', () => {
  test('[MCH1] the table is checked on the merged value: the second of two moves is judged from where the first led', () => {
    const team = smallTeam({ fields: { x: phase } });
    team.ask('a', { x: { to: 'doing' } });
    const verdicts = team.round({ agent: 'a', patch: { x: { to: 'done' } } }, { agent: 'b', patch: { x: { to: 'failed' } } });
    expect(verdicts.flatMap(codesOf).sort()).toEqual(['committed', 'transition']);
    const first = verdicts[0]?.kind === 'committed' ? 'done' : 'failed';
    expect(team.state).toEqual({ x: first });
  });

  test('[MCH2] from, where it is given, must be where the state stands', () => {
    const team = smallTeam({ fields: { x: phase } });
    expect(codesOf(team.ask('a', { x: { from: 'doing', to: 'done' } }))).toEqual(['transition']);
    expect(codesOf(team.ask('a', { x: { from: 'todo', to: 'doing' } }))).toEqual(['committed']);
    expect(codesOf(team.ask('b', { x: { from: 'todo', to: 'doing' } }, 1))).toEqual(['transition']);
    expect(outcomesOf(team.ask('b', { x: { to: 'doing' } }))).toEqual({ '/x': 'unchanged' });
    // Also where the move is open from the state that stands there now.
    expect(codesOf(team.ask('b', { x: { from: 'todo', to: 'done' } }))).toEqual(['transition']);
    expect(codesOf(team.ask('b', { x: { from: 'doing', to: 'done' } }))).toEqual(['committed']);
  });

  test('[MCH3] a state without moves is final, and the hint says what is open', () => {
    const team = smallTeam({ fields: { x: phase } });
    expect(team.ask('a', { x: { to: 'done' } })).toMatchObject({
      issues: [{ have: 'todo', want: 'done', hint: 'From todo it may move to doing.' }],
    });
    team.ask('a', { x: { to: 'doing' } });
    team.ask('a', { x: { to: 'done' } });
    expect(team.ask('b', { x: { to: 'todo' } }, 0)).toMatchObject({
      issues: [{ code: 'transition', by: 'a', recovery: 're-read', hint: 'done is final.' }],
    });
    expect(team.ask('b', { x: { to: 'todo' } })).toMatchObject({ issues: [{ recovery: 'change' }] });
    expect(codesOf(team.ask('a', { x: { to: 'nowhere' } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { from: 'done' } }))).toEqual(['schema']);
  });

  test('[MCH4] a table with an unknown target, an unknown start or a state that nothing leads to does not load', () => {
    const bad = (options: { start: string; moves: { [state: string]: readonly string[] } }) => loading(machine(options));
    expect(bad({ start: 'a', moves: { a: ['b'] } })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(bad({ start: 'z', moves: { a: [] } })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(bad({ start: 'a', moves: { a: [], b: ['a'] } })).toThrow('nothing leads to b');
  });
});
