import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { timersOf } from '../expiry.ts';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import type { SmallTeam } from '../testing/index.ts';
import { map } from './map.ts';
import { multi } from './multi.ts';
import type { MultiDispute } from './multi.ts';
import { owned } from './owned.ts';
import type { OwnedOptions } from './owned.ts';

const text = z.string().max(20);
const roles = { judge: { priority: 0 }, agent: { priority: 0 } };
const agents = ['boss:judge', 'a', 'b', 'c', 'd'];
const set = (value: string): { x: { set: string } } => ({ x: { set: value } });
const force = (value: string): { x: { set: string; force: true } } => ({ x: { set: value, force: true } });

function multiTeam(dispute: Partial<MultiDispute<string>> = {}): SmallTeam {
  return smallTeam({ fields: { x: multi(text, { dispute: { arbiter: 'judge', ...dispute } }) }, roles }, agents);
}

/** Values of `a` and of `b` that contend: at revision 1 and 2, the dispute began at 2. */
function contending(dispute?: Partial<MultiDispute<string>>): SmallTeam {
  const team = multiTeam(dispute);
  team.ask('a', set('one'));
  team.ask('b', set('two'), 0);
  return team;
}

function ownedTeam(options: OwnedOptions<string> = {}): SmallTeam {
  return smallTeam({ fields: { x: owned(text, { dispute: { arbiter: 'judge' }, ...options }) }, roles }, agents);
}

function standing(team: SmallTeam): readonly unknown[] {
  const { value, rivals } = team.state['x'] as { readonly value: string; readonly rivals: readonly string[] };
  return [value, ...rivals].sort();
}

function expired(team: SmallTeam, token: number, cause: 'deadline' | 'lease' = 'deadline', path = '/x'): boolean {
  return team.events({ kind: 'expire', path, token, cause }).events.length === 1;
}

describe('disputes of a multi', () => {
  test('[DSP1] in a dispute a set takes the place of its own value alone, and the arbiter of all that it has seen', () => {
    const team = contending();
    expect(outcomesOf(team.ask('c', set('three')))).toEqual({ '/x': 'contested' });
    expect(standing(team)).toEqual(['one', 'three', 'two']);
    expect(outcomesOf(team.ask('c', set('four')))).toEqual({ '/x': 'contested' });
    expect(standing(team)).toEqual(['four', 'one', 'two']);
    team.ask('boss', set('decided'), 2);
    expect(standing(team)).toEqual(['decided', 'four']);
    team.ask('boss', set('decided'));
    expect(team.state).toEqual({ x: { value: 'decided', rivals: [] } });
  });

  test('[DSP1] who has seen no dispute replaces what it has seen, as without a policy', () => {
    const team = contending();
    expect(outcomesOf(team.ask('c', set('three'), 1))).toEqual({ '/x': 'contested' });
    expect(standing(team)).toEqual(['three', 'two']);
    const calm = multiTeam();
    calm.ask('a', set('one'));
    expect(calm.ask('b', set('two')).kind).toBe('committed');
    expect(calm.state).toEqual({ x: { value: 'two', rivals: [] } });
  });

  test('[DSP2] a dispute ends when the values agree: everyone may change its own', () => {
    const team = contending();
    expect(outcomesOf(team.ask('a', set('two')))).toEqual({});
    expect(team.state).toEqual({ x: { value: 'two', rivals: [] } });
    expect(team.ask('c', set('three')).kind).toBe('committed');
    expect(team.state).toEqual({ x: { value: 'three', rivals: [] } });
  });

  test('[DSP2] where no more values fit, who may only add one is told to wait', () => {
    const tight = multi(text, { cap: 2, dispute: { arbiter: 'judge' } });
    const team = smallTeam({ fields: { x: tight }, roles }, agents);
    team.ask('a', set('one'));
    team.ask('b', set('two'), 0);
    expect(team.ask('c', set('three'))).toMatchObject({ issues: [{ code: 'bound', recovery: 'wait' }] });
    expect(codesOf(team.ask('boss', set('three')))).toEqual(['committed']);
  });

  test('[DSP3] the deadline counts from when values began to contend, and leaves the greatest stamp', () => {
    const team = contending({ deadlineMs: 500 });
    expect(timersOf(team.space)).toEqual([{ path: '/x', token: 2, ms: 500 }]);
    team.ask('c', set('three'));
    expect(timersOf(team.space)).toEqual([{ path: '/x', token: 2, ms: 500 }]);
    const { value } = team.state['x'] as { readonly value: string };
    expect([expired(team, 3), expired(team, 2, 'lease'), expired(team, 2, 'deadline', '/x/y')]).toEqual([false, false, false]);
    expect(expired(team, 2)).toBe(true);
    expect(team.state).toEqual({ x: { value, rivals: [] } });
    expect(timersOf(team.space)).toEqual([]);
    expect(expired(team, 2)).toBe(false);
  });

  test.for([
    ['other', 'other'],
    ['greatest', 'greatest'],
  ])('[DSP3] the deadline leaves the declared value %s', ([value = '']) => {
    const team = contending({ deadlineMs: 500, fallback: { value } });
    expect(expired(team, 2)).toBe(true);
    expect(team.state).toEqual({ x: { value, rivals: [] } });
  });

  test('[DSP3] null may be what a deadline leaves', () => {
    const dispute = { arbiter: 'judge', deadlineMs: 500, fallback: { value: null } };
    const team = smallTeam({ fields: { x: multi(text.nullable(), { dispute }) }, roles }, agents);
    team.ask('a', set('one'));
    team.ask('b', set('two'), 0);
    expired(team, 2);
    expect(team.state).toEqual({ x: { value: null, rivals: [] } });
  });

  test('[DSP3] below a map, and only where values contend', () => {
    const field = map(multi(text, { dispute: { arbiter: 'judge', deadlineMs: 500 } }), { cap: 4 });
    const team = smallTeam({ fields: { x: field }, roles }, agents);
    const put = (value: string): { x: { at: { k: { set: string } } } } => ({ x: { at: { k: { set: value } } } });
    team.ask('a', put('one'));
    expect(timersOf(team.space)).toEqual([]);
    team.ask('b', put('two'), 0);
    expect(timersOf(team.space)).toEqual([{ path: '/x/k', token: 2, ms: 500 }]);
    expect(expired(team, 2, 'deadline', '/x/k')).toBe(true);
    expect(team.state).toMatchObject({ x: { k: { rivals: [] } } });
  });

  test('[DSP4] a set that has not seen what the deadline left contends with it, in a dispute of its own', () => {
    const team = contending({ deadlineMs: 500 });
    const base = team.revision;
    expired(team, 2);
    expect(outcomesOf(team.ask('boss', set('late'), base))).toEqual({ '/x': 'contested' });
    expect(timersOf(team.space)).toEqual([{ path: '/x', token: team.revision, ms: 500 }]);
    expect(outcomesOf(team.ask('boss', set('seen')))).toEqual({});
    expect(team.state).toEqual({ x: { value: 'seen', rivals: [] } });
  });
});

describe('disputes of an owned value', () => {
  /** `a` owns `one`; `b` stands behind `two`. */
  function rivalled(options?: OwnedOptions<string>): SmallTeam {
    const team = ownedTeam(options);
    team.ask('a', set('one'));
    team.ask('b', set('two'));
    return team;
  }
  const state = (value: string | null, owners: readonly string[], ...rivals: readonly (readonly [string, string])[]): object => ({
    x: { value, owners, rivals: rivals.map(([by, rival]) => ({ by, value: rival })) },
  });

  test('[DSP5] another value is no refusal: it stands as a rival, one of each agent, the oldest first', () => {
    const team = ownedTeam();
    expect(outcomesOf(team.ask('a', set('one')))).toEqual({});
    expect(outcomesOf(team.ask('b', set('two')))).toEqual({ '/x': 'contested' });
    expect(outcomesOf(team.ask('c', set('three')))).toEqual({ '/x': 'contested' });
    expect(team.state).toEqual(state('one', ['a'], ['b', 'two'], ['c', 'three']));
    expect(outcomesOf(team.ask('b', set('two')))).toEqual({ '/x': 'contested' });
    team.ask('b', set('four'));
    expect(team.state).toEqual(state('one', ['a'], ['c', 'three'], ['b', 'four']));
    expect(team.schema.kinds[0]?.contested?.(team.space.cells[0], '/x')).toEqual(['/x']);
    team.ask('b', { x: { release: true } });
    team.ask('c', set('one'));
    expect(team.state).toEqual(state('one', ['a', 'c']));
    expect(team.schema.kinds[0]?.contested?.(team.space.cells[0], '/x')).toEqual([]);
  });

  test('[DSP5] at most 8 rivals stand', () => {
    const names = Array.from({ length: 10 }, (_, i) => `r${i}`);
    const team = smallTeam({ fields: { x: owned(text, { dispute: { arbiter: 'agent' } }) } }, names);
    const verdicts = names.map((name) => team.ask(name, set(name)));
    expect(verdicts.map(({ kind }) => kind)).toEqual([...Array<string>(9).fill('committed'), 'rejected']);
    expect(verdicts[9]).toMatchObject({ issues: [{ code: 'bound', have: 8, recovery: 'wait' }] });
    expect(codesOf(team.ask('r3', set('new')))).toEqual(['committed']);
  });

  test('[DSP6] a rival becomes the value when the owner agrees, and both own it', () => {
    const team = rivalled();
    team.ask('c', set('three'));
    expect(outcomesOf(team.ask('a', set('two')))).toEqual({});
    expect(team.state).toEqual(state('two', ['a', 'b'], ['c', 'three']));
  });

  test('[DSP6] of several owners every one has to agree, or to leave', () => {
    const team = ownedTeam();
    for (const agent of ['a', 'b', 'c']) team.ask(agent, set('one'));
    expect(outcomesOf(team.ask('a', set('two')))).toEqual({ '/x': 'contested' });
    expect(outcomesOf(team.ask('b', set('two')))).toEqual({ '/x': 'contested' });
    expect(team.state).toEqual(state('one', ['a', 'b', 'c'], ['a', 'two'], ['b', 'two']));
    team.ask('c', { x: { release: true } });
    expect(team.state).toEqual(state('two', ['a', 'b']));
  });

  test('[DSP6] what the last owner gives back goes to the oldest rival and all who stand behind the same', () => {
    const team = rivalled();
    team.ask('c', set('three'));
    team.ask('d', set('two'));
    team.ask('a', { x: { release: true } });
    expect(team.state).toEqual(state('two', ['b', 'd'], ['c', 'three']));
  });

  test('[DSP7] the arbiter decides by force: for the value, for a rival, who then owns it, or for one of its own', () => {
    const kept = rivalled();
    kept.ask('boss', force('one'));
    expect(kept.state).toEqual(state('one', ['a']));
    expect(outcomesOf(kept.ask('boss', force('one')))).toEqual({ '/x': 'unchanged' });
    const given = rivalled();
    given.ask('boss', force('two'));
    expect(given.state).toEqual(state('two', ['b']));
    const taken = rivalled();
    taken.ask('boss', force('three'));
    expect(taken.state).toEqual(state('three', ['boss']));
    expect(codesOf(rivalled().ask('c', force('two')))).toEqual(['forbidden']);
  });

  test('[DSP7] a rival that the arbiter has not seen still stands after its decision', () => {
    const team = rivalled();
    const base = team.revision;
    team.ask('c', set('three'));
    team.ask('boss', force('one'), base);
    expect(team.state).toEqual(state('one', ['a'], ['c', 'three']));
    team.ask('d', set('four'));
    team.ask('boss', force('five'), base + 1);
    expect(team.state).toEqual(state('five', ['boss'], ['d', 'four']));
  });

  test('[DSP8] each rival falls at its own deadline; the value and its owners stay', () => {
    const team = rivalled({ dispute: { arbiter: 'judge', deadlineMs: 500 } });
    team.ask('c', set('three'));
    expect(timersOf(team.space)).toEqual([
      { path: '/x', token: 2, ms: 500 },
      { path: '/x', token: 3, ms: 500 },
    ]);
    expect(outcomesOf(team.ask('b', set('two')))).toEqual({ '/x': 'contested' });
    expect([expired(team, 2, 'lease'), expired(team, 1), expired(team, 2, 'deadline', '/x/y')]).toEqual([false, false, false]);
    expect(expired(team, 2)).toBe(true);
    expect(team.state).toEqual(state('one', ['a'], ['c', 'three']));
    expect(expired(team, 2)).toBe(false);
    expect(timersOf(team.space)).toEqual([{ path: '/x', token: 3, ms: 500 }]);
  });

  test('[DSP8] rivals of one round fall together', () => {
    const team = ownedTeam({ dispute: { arbiter: 'judge', deadlineMs: 500 } });
    team.ask('a', set('one'));
    team.round({ agent: 'b', patch: set('two') }, { agent: 'c', patch: set('three') });
    expect(timersOf(team.space)).toEqual([{ path: '/x', token: 2, ms: 500 }]);
    expired(team, 2);
    expect(team.state).toEqual(state('one', ['a']));
  });
});

describe('dispute policies', () => {
  test('[DSP9] a policy whose arbiter is no role, whose deadline is not whole, or whose fallback nothing leads to does not load', () => {
    const arbiter = 'judge';
    const load = (kind: ReturnType<typeof multi>): (() => unknown) => {
      return () => smallTeam({ fields: { x: kind } });
    };
    expect(load(multi(text, { dispute: { arbiter } }) as ReturnType<typeof multi>)).toThrow('no role is called judge');
    expect(load(owned(text, { dispute: { arbiter } }) as unknown as ReturnType<typeof multi>)).toThrow('no role is called judge');
    expect(load(owned(text, { force: ['boss'] }) as unknown as ReturnType<typeof multi>)).toThrow('no role is called boss');
    for (const deadlineMs of [0, 1.5, Number.NaN, 2 ** 60]) {
      expect(loading(multi(text, { dispute: { arbiter, deadlineMs } }))).toThrow(
        'multi: dispute.deadlineMs: must be a whole number of at least 1',
      );
      expect(loading(owned(text, { dispute: { arbiter, deadlineMs } }))).toThrow('owned: dispute.deadlineMs');
    }
    expect(loading(multi(text, { dispute: { arbiter, fallback: 'greatest' } }))).toThrow('no deadline');
    expect(loading(multi(text, { dispute: { arbiter, deadlineMs: 1, fallback: { value: 'x'.repeat(21) } } }))).toThrow(
      'not of its type',
    );
  });

  test('[DSP9] the digest of a schema covers the policy', () => {
    const policies: readonly MultiDispute<string>[] = [
      { arbiter: 'judge' },
      { arbiter: 'agent' },
      { arbiter: 'judge', deadlineMs: 1 },
      { arbiter: 'judge', deadlineMs: 1, fallback: { value: 'greatest' } },
    ];
    const digestOf = (x: ReturnType<typeof multi> | undefined): string =>
      smallTeam({ fields: { x: x ?? multi(text) }, roles }, []).schema.digest;
    const kinds = [multi(text), ...policies.map((dispute) => multi(text, { dispute }))] as readonly ReturnType<typeof multi>[];
    expect(new Set(kinds.map(digestOf)).size).toBe(5);
    expect(digestOf(multi(text, { dispute: { arbiter: 'judge', deadlineMs: 1, fallback: 'greatest' } }) as never)).toBe(
      digestOf(kinds[3]),
    );
  });
});
