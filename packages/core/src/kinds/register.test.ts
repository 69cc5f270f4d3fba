import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codesOf, outcomesOf, smallTeam } from '../testing/index.ts';
import { cas, lww, priority } from './register.ts';

const text = z.string().max(20);

describe('cas', () => {
  test('[CAS1] a set that did not see the current value is refused with it', () => {
    const team = smallTeam({ fields: { x: cas(text, { start: 'old' }) } });
    team.ask('a', { x: { set: 'one' } });
    const verdict = team.ask('b', { x: { set: 'two' } }, 0);
    expect(verdict).toMatchObject({
      kind: 'rejected',
      issues: [{ path: '/x', code: 'conflict', rule: 'cas', have: 'one', want: 'two', by: 'a', recovery: 're-read' }],
      retry: { after: 2 },
    });
    expect(team.ask('b', { x: { set: 'two' } }).kind).toBe('committed');
    expect(team.state).toEqual({ x: 'two' });
  });

  test('[CAS1] of two concurrent values in one round the first in canonical order stands', () => {
    const team = smallTeam({ fields: { x: cas(text) } });
    const verdicts = team.round({ agent: 'a', patch: { x: { set: 'a' } } }, { agent: 'b', patch: { x: { set: 'b' } } });
    expect(verdicts.map(({ kind }) => kind).sort()).toEqual(['committed', 'rejected']);
    const winner = verdicts[0]?.kind === 'committed' ? 'a' : 'b';
    expect(team.state).toEqual({ x: winner });
  });

  test('[CAS2] equal concurrent values agree', () => {
    const team = smallTeam({ fields: { x: cas(z.strictObject({ p: z.int().min(0).max(9), q: text })) } });
    const verdicts = team.round(
      { agent: 'a', patch: { x: { set: { p: 1, q: 'q' } } } },
      { agent: 'b', patch: { x: { set: { q: 'q', p: 1 } } } },
    );
    expect(verdicts.map(({ kind }) => kind)).toEqual(['committed', 'committed']);
    expect(verdicts.map(outcomesOf).filter((outcomes) => '/x' in outcomes)).toEqual([{ '/x': 'unchanged' }]);
    expect(team.ask('c', { x: { set: { p: 1, q: 'q' } } }, 0)).toMatchObject({
      kind: 'committed',
      outcomes: { '/x': { kind: 'unchanged' } },
    });
  });

  test('[CAS3] unset leaves a mark, so a stale set cannot resurrect', () => {
    const team = smallTeam({ fields: { x: cas(text, { start: 'old' }) } });
    team.ask('a', { x: { unset: true } });
    expect(team.state).toEqual({ x: null });
    expect(codesOf(team.ask('b', { x: { set: 'back' } }, 0))).toEqual(['conflict']);
    expect(codesOf(team.ask('b', { x: { unset: true } }, 0))).toEqual(['committed']);
    expect(codesOf(team.ask('b', { x: { set: 'back' } }))).toEqual(['committed']);
  });

  test('[CAS4] null is a value only where the type has it', () => {
    const team = smallTeam({ fields: { no: cas(text), yes: cas(text.nullable()) } });
    expect(codesOf(team.ask('a', { no: { set: null } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { yes: { set: null } }))).toEqual(['committed']);
    expect(codesOf(team.ask('b', { yes: { unset: true } }, 0))).toEqual(['conflict']);
    expect(team.state).toEqual({ no: null, yes: null });
  });

  test('[CAS5] a patch names one verb, and its value has the type and the size', () => {
    const team = smallTeam({ fields: { x: cas(text) } });
    expect(codesOf(team.ask('a', { x: { set: 'b', unset: true } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: {} }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { put: 1 } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: 'plain' }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { set: 5 } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { unset: false } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { set: 'x'.repeat(21) } }))).toEqual(['bound']);
    expect(team.state).toEqual({ x: null });
  });
});

describe('lww', () => {
  test('[LWW1] the greatest stamp stands, in whatever order the writes come', () => {
    const late = smallTeam({ fields: { x: lww(text), other: lww(text) } });
    late.ask('c', { other: { set: 'v' } });
    late.ask('a', { x: { set: 'fresh' } }, 1);
    const verdict = late.ask('b', { x: { set: 'stale' } }, 0);
    expect(late.state['x']).toBe('fresh');
    expect(verdict).toEqual({
      kind: 'committed',
      revision: 3,
      outcomes: { '/x': { kind: 'superseded', by: 'a', value: 'fresh' } },
    });
    const early = smallTeam({ fields: { x: lww(text), other: lww(text) } });
    early.ask('c', { other: { set: 'v' } });
    early.ask('b', { x: { set: 'stale' } }, 0);
    early.ask('a', { x: { set: 'fresh' } }, 1);
    expect(early.state['x']).toBe('fresh');
  });

  test('[LWW2] who replaces a value that it did not see is told over whom', () => {
    const team = smallTeam({ fields: { x: lww(text) } });
    const verdicts = team.round({ agent: 'a', patch: { x: { set: 'a' } } }, { agent: 'b', patch: { x: { set: 'b' } } });
    const outcomes = verdicts.flatMap((verdict) => (verdict.kind === 'committed' ? Object.values(verdict.outcomes ?? {}) : []));
    const loser = team.state['x'] === 'a' ? 'b' : 'a';
    expect(outcomes).toEqual([{ kind: 'merged', over: { agent: loser, n: 1 } }]);
  });

  test('[LWW3] equal values agree, and the mark stays with whoever changed the value', () => {
    const team = smallTeam({ fields: { x: lww(text) } });
    team.ask('a', { x: { set: 'same' } });
    expect(outcomesOf(team.ask('b', { x: { set: 'same' } }, 0))).toEqual({ '/x': 'unchanged' });
    expect(team.ask('b', { x: { set: 'new' } }, 0)).toMatchObject({
      outcomes: { '/x': { kind: 'merged', over: { agent: 'a', n: 1 } } },
    });
  });

  test('[LWW4] an agent does not lose to itself, even on an older view', () => {
    const team = smallTeam({ fields: { x: lww(text), y: lww(text) } });
    team.ask('b', { y: { set: '1' } });
    team.ask('b', { y: { set: '2' } });
    team.ask('a', { x: { set: 'first' } }, 2);
    expect(outcomesOf(team.ask('a', { x: { set: 'second' } }, 0))).toEqual({});
    expect(team.state['x']).toBe('second');
  });

  test('[LWW4] an agent that comes back in a lower role does not lose to itself', () => {
    const team = smallTeam({ fields: { x: lww(text) }, roles: { lead: { priority: 5 }, agent: { priority: 0 } } }, [
      'a:lead',
      'b',
    ]);
    team.ask('a', { x: { set: 'as lead' } }, 0);
    team.events({ kind: 'join', agent: 'a', role: 'agent', session: 'second' });
    team.ask('a', { x: { set: 'as agent' } }, 0);
    expect(team.state).toEqual({ x: 'as agent' });
  });
});

describe('priority', () => {
  const roles = { lead: { priority: 5 }, agent: { priority: 0 } };

  test('[PRI1] the greatest priority stands, whoever read later and in whatever order the writes come', () => {
    const team = smallTeam({ fields: { x: priority(text, { start: 'old' }) }, roles }, ['boss:lead', 'a', 'b']);
    team.ask('a', { x: { set: 'first' } });
    team.ask('boss', { x: { set: 'decided' } }, 0);
    expect(team.state).toEqual({ x: 'decided' });
    expect(outcomesOf(team.ask('a', { x: { set: 'later' } }))).toEqual({ '/x': 'superseded' });
    expect(outcomesOf(team.ask('b', { x: { unset: true } }))).toEqual({ '/x': 'superseded' });
    expect(team.state).toEqual({ x: 'decided' });
    expect(outcomesOf(team.ask('boss', { x: { unset: true } }))).toEqual({});
    expect(team.state).toEqual({ x: null });
  });

  test('[PRI1] among equals the greatest stamp stands', () => {
    const team = smallTeam({ fields: { x: priority(text), y: priority(text) }, roles }, ['boss:lead', 'a', 'b']);
    team.ask('b', { y: { set: 'v' } });
    team.ask('a', { x: { set: 'fresh' } }, 1);
    expect(outcomesOf(team.ask('b', { x: { set: 'stale' } }, 0))).toEqual({ '/x': 'superseded' });
    expect(team.state['x']).toBe('fresh');
  });

  test('[PRI2] who loses is told by whom and what stands, who replaces unseen is told over whom, and equal values agree', () => {
    const team = smallTeam({ fields: { x: priority(text) }, roles }, ['boss:lead', 'a', 'b']);
    team.ask('a', { x: { set: 'one' } });
    expect(team.ask('boss', { x: { set: 'two' } }, 0)).toMatchObject({
      outcomes: { '/x': { kind: 'merged', over: { agent: 'a', n: 1 } } },
    });
    expect(team.ask('b', { x: { set: 'one' } })).toMatchObject({
      outcomes: { '/x': { kind: 'superseded', by: 'boss', value: 'two' } },
    });
    expect(outcomesOf(team.ask('b', { x: { set: 'two' } }))).toEqual({ '/x': 'unchanged' });
  });

  test('[PRI3] an agent does not lose to itself in the same role, and in a lower one it does', () => {
    const team = smallTeam({ fields: { x: priority(text), y: priority(text) }, roles }, ['a:lead', 'b', 'c']);
    team.ask('b', { y: { set: '1' } });
    team.ask('b', { y: { set: '2' } });
    team.ask('a', { x: { set: 'first' } }, 2);
    team.ask('a', { x: { set: 'as lead' } }, 0);
    expect(team.state['x']).toBe('as lead');
    team.events({ kind: 'join', agent: 'a', role: 'agent', session: 'second' });
    expect(team.ask('a', { x: { set: 'as agent' } })).toMatchObject({
      outcomes: { '/x': { kind: 'superseded', by: 'a', value: 'as lead' } },
    });
    expect(team.state['x']).toBe('as lead');
  });
});
