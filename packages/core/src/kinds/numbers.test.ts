import { describe, expect, test } from 'vitest';
import { codesOf, outcomesOf, smallTeam } from '../testing/index.ts';
import { counter, quota } from './counter.ts';
import { max, min } from './extremum.ts';

describe('max and min', () => {
  test('[MAX1] concurrent raises leave the greatest', () => {
    const team = smallTeam({ fields: { x: max({ lo: 0, hi: 100, start: 5 }) } });
    team.round(
      { agent: 'a', patch: { x: { raise: 40 } } },
      { agent: 'b', patch: { x: { raise: 30 } } },
      { agent: 'c', patch: { x: { raise: 35 } } },
    );
    expect(team.state).toEqual({ x: 40 });
  });

  test('[MAX2] a raise to less or as much changes nothing and says so', () => {
    const team = smallTeam({ fields: { x: max({ lo: 0, hi: 100, start: 5 }) } });
    expect(outcomesOf(team.ask('a', { x: { raise: 5 } }))).toEqual({ '/x': 'unchanged' });
    expect(outcomesOf(team.ask('a', { x: { raise: 1 } }))).toEqual({ '/x': 'unchanged' });
    expect(team.state).toEqual({ x: 5 });
  });

  test('[XPL4] samples of a quota lie in its range', () => {
    expect(quota({ lo: 0, hi: 9, start: 0 }).samples()).toEqual([{ inc: 1 }, { inc: 2 }]);
    expect(quota({ lo: 0, hi: 1, start: 1 }).samples()).toEqual([{ inc: -1 }]);
    expect(counter().samples()).toEqual([{ inc: 1 }, { inc: -1 }, { inc: 2 }]);
  });

  test('[MAX3] what lies outside the range or is not whole is refused', () => {
    const team = smallTeam({ fields: { x: max({ lo: 0, hi: 10 }) } });
    expect(codesOf(team.ask('a', { x: { raise: 11 } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { x: { raise: -1 } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { x: { raise: 1.5 } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { raise: '3' } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { lower: 3 } }))).toEqual(['schema']);
  });

  test('[MIN1] concurrent lowerings leave the least, and only that', () => {
    const team = smallTeam({ fields: { x: min({ lo: 0, hi: 100 }) } });
    team.round({ agent: 'a', patch: { x: { lower: 40 } } }, { agent: 'b', patch: { x: { lower: 30 } } });
    expect(team.state).toEqual({ x: 30 });
    expect(outcomesOf(team.ask('a', { x: { lower: 50 } }))).toEqual({ '/x': 'unchanged' });
    expect(codesOf(team.ask('a', { x: { lower: -1 } }))).toEqual(['bound']);
  });
});

describe('counter and quota', () => {
  test('[CNT1] concurrent increments add up', () => {
    const agents = Array.from({ length: 30 }, (_, i) => `w${i}`);
    const team = smallTeam({ fields: { x: counter({ start: 2 }) } }, agents);
    team.round(...agents.map((agent) => ({ agent, patch: { x: { inc: 1 } } })));
    team.ask('w3', { x: { inc: -7 } }, 0);
    expect(team.state).toEqual({ x: 25 });
  });

  test('[CNT2] inc by a whole number is the only verb', () => {
    const team = smallTeam({ fields: { x: counter() } });
    for (const patch of [{ set: 5 }, { inc: 0.5 }, { inc: '1' }, { inc: null }, { dec: 1 }])
      expect(codesOf(team.ask('a', { x: patch }))).toEqual(['schema']);
    expect(outcomesOf(team.ask('a', { x: { inc: 0 } }))).toEqual({ '/x': 'unchanged' });
  });

  test('[CNT3] no single increment is greater than 1,000,000,000 either way', () => {
    const team = smallTeam({ fields: { n: counter() } });
    for (const inc of [1_000_000_001, -1_000_000_001, Number.MAX_SAFE_INTEGER])
      expect(codesOf(team.ask('a', { n: { inc } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { n: { inc: -1_000_000_000 } }))).toEqual(['committed']);
    expect(team.state).toEqual({ n: -1_000_000_000 });
  });

  test('[CNT3] a sum beyond what a double can hold is refused', () => {
    const team = smallTeam({ fields: { x: counter({ start: Number.MAX_SAFE_INTEGER - 1 }) } });
    expect(codesOf(team.ask('a', { x: { inc: 1 } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { x: { inc: 1 } }))).toEqual(['bound']);
    expect(team.state).toEqual({ x: Number.MAX_SAFE_INTEGER });
  });

  test('[QTA1] what would cross a bound is refused, never clamped', () => {
    const team = smallTeam({ fields: { x: quota({ lo: 0, hi: 10, start: 10 }) } });
    expect(team.ask('a', { x: { inc: -11 } })).toMatchObject({
      issues: [{ code: 'bound', rule: 'quota', have: 10, want: { inc: -11 }, hint: 'There is room for -10 to 0 now.' }],
    });
    expect(codesOf(team.ask('a', { x: { inc: 1 } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { x: { inc: -10 } }))).toEqual(['committed']);
    expect(team.state).toEqual({ x: 0 });
  });

  test('[QTA2] when there is not room for all, the first in canonical order get it', () => {
    const team = smallTeam({ fields: { x: quota({ lo: 0, hi: 3, start: 3 }) } }, ['a', 'b', 'c', 'd', 'e']);
    const verdicts = team.round(...['a', 'b', 'c', 'd', 'e'].map((agent) => ({ agent, patch: { x: { inc: -1 } } })));
    expect(verdicts.filter(({ kind }) => kind === 'committed')).toHaveLength(3);
    expect(team.state).toEqual({ x: 0 });
  });
});
