import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../json.ts';
import { provenanceOf } from '../provenance.ts';
import { decodeSpace, encodeSpace } from '../space.ts';
import { codesOf, loadError, smallTeam } from '../testing/index.ts';
import { counter } from './counter.ts';
import { derived } from './derived.ts';
import { map } from './map.ts';
import { max } from './extremum.ts';
import { cas } from './register.ts';

const done = counter();
const goal = cas(z.int().min(1).max(9), { start: 4 });
const share = derived(z.int().min(0).max(100), {
  from: { done, goal },
  compute: (views) => Math.round((100 * views.done) / (views.goal ?? 1)),
});
const board = { done, goal, share };

describe('derived', () => {
  test('[DRV1] the value follows its sources at every revision, the first included', () => {
    const team = smallTeam({ fields: board });
    expect(team.state['share']).toBe(0);
    team.round({ agent: 'a', patch: { done: { inc: 1 } } }, { agent: 'b', patch: { done: { inc: 2 } } });
    expect(team.state['share']).toBe(75);
    team.ask('a', { goal: { set: 6 } });
    expect(team.state['share']).toBe(50);
    expect(team.at(1).digests).not.toEqual(team.at(2).digests);
  });

  test('[SCH6] the order in which its sources are named is not part of the definition', () => {
    const compute = (): number => 0;
    const turned = derived(z.int().min(0).max(100), { from: { goal, done }, compute });
    const share = derived(z.int().min(0).max(100), { from: { done, goal }, compute });
    const idOf = (field: typeof share): string => smallTeam({ fields: { done, goal, share: field } }).schema.id;
    expect(idOf(turned)).toBe(idOf(share));
  });

  test('[DRV2] nobody writes it', () => {
    const team = smallTeam({ fields: board });
    const verdict = team.ask('a', { share: { set: 99 } });
    expect(verdict).toMatchObject({ kind: 'rejected', issues: [{ path: '/share', code: 'derived', recovery: 'change' }] });
  });

  test('[DRV3] a patch after which it cannot be computed, or leaves its type, is refused and changes nothing', () => {
    const team = smallTeam({ fields: board });
    const before = team.space.digests;
    const verdict = team.ask('a', { done: { inc: 5 } });
    expect(verdict).toMatchObject({
      issues: [{ path: '/share', code: 'derived', hint: expect.stringContaining('at most 100') as string }],
    });
    expect(team.space.digests).toEqual(before);
    const moody = derived(z.string().max(9), {
      from: { done },
      compute: (views) => {
        if (views.done > 1) throw new Error('platform words');
        return 'fine';
      },
    });
    const other = smallTeam({ fields: { done, moody } });
    const refused = other.ask('a', { done: { inc: 2 } });
    expect(codesOf(refused)).toEqual(['derived']);
    expect(JSON.stringify(refused)).not.toContain('platform words');
  });

  test.each(['\u0001', '\ud800', '\u200b', '<|im_start|>'])('[DRV3] what no message may hold is no computed value: %j', (odd) => {
    const said = derived(z.string().max(20), { from: { done }, compute: (views) => (views.done > 0 ? odd : 'fine') });
    const team = smallTeam({ fields: { done, said } });
    expect(codesOf(team.ask('a', { done: { inc: 1 } }))).toEqual(['derived']);
    expect(team.state).toEqual({ done: 0, said: 'fine' });
  });

  test('[DRV4] rules read the value that the patch leads to, and hear that it changed', () => {
    const heard: (readonly string[])[] = [];
    const team = smallTeam({
      fields: board,
      invariants: {
        notTooFar: {
          reads: ['share'],
          check: ({ after, touched }) => {
            heard.push([...touched]);
            return (after['share'] as number) <= 50 || 'Too far.';
          },
        },
      },
    });
    expect(codesOf(team.ask('a', { done: { inc: 2 } }))).toEqual(['committed']);
    expect(heard.at(-1)).toEqual(['/done', '/share']);
    expect(codesOf(team.ask('a', { done: { inc: 1 } }))).toEqual(['invariant']);
    expect(team.state['share']).toBe(50);
  });

  test('[DRV6] a premise on it fails once another has given it another value, and not before', () => {
    const team = smallTeam({ fields: { ...board, note: cas(z.string().max(9)) } });
    const relying = (base: number): readonly string[] =>
      codesOf(team.round({ agent: 'b', patch: { note: { set: 'v' } }, premises: ['/share'], base })[0]);
    team.round({ agent: 'a', patch: { done: { inc: 4 } } }, { agent: 'c', patch: { done: { inc: -4 } } });
    team.ask('a', { done: { inc: 1 } });
    expect(relying(1)).toEqual(['premise']);
    expect(relying(2)).toEqual(['committed']);
    team.ask('a', { done: { inc: 1 }, goal: { set: 8 } });
    expect(team.state['share']).toBe(25);
    expect(relying(2)).toEqual(['committed']);
    expect(provenanceOf(team.space, '/share')).toMatchObject({ agent: 'a', n: 2, revision: 2 });
    expect(decodeSpace(team.schema, JSON.parse(encodeSpace(team.space)) as Json).state).toBe(team.space.state);
  });

  test('[DRV6] it is trusted no more than what it is computed from', () => {
    const roles = { boss: { priority: 1 }, guest: { priority: 0, trust: 7 } };
    const team = smallTeam({ fields: { ...board, note: cas(z.string().max(9)) }, roles }, ['a:boss', 'g:guest']);
    team.ask('g', { done: { inc: 1 } });
    expect(provenanceOf(team.space, '/share')).toMatchObject({ agent: 'g', trust: 7 });
    team.ask('a', { goal: { set: 2 } });
    expect(provenanceOf(team.space, '/share')).toMatchObject({ agent: 'a', trust: 7 });
    team.round({ agent: 'a', patch: { note: { set: 'v' } }, premises: ['/share'] });
    expect(provenanceOf(team.space, '/note')).toMatchObject({ agent: 'a', trust: 7 });
  });

  test('[DRV5] one that has no sound sources does not load', () => {
    const of = z.int().min(0).max(9);
    expect(loadError({ fields: { board: map(derived(of, { from: { done }, compute: () => 1 }), { cap: 2 }) } })).toMatchObject({
      path: '/fields/board/*',
    });
    expect(loadError({ fields: { x: derived(of, { from: { done }, compute: () => 1 }) } })).toMatchObject({ path: '/fields/x' });
    expect(loadError({ fields: { done, share, x: derived(of, { from: { share }, compute: () => 1 }) } })).toMatchObject({
      path: '/fields/share',
    });
    expect(loadError({ fields: { x: derived(of, { from: {}, compute: () => 1 }) } })).toMatchObject({ path: '/fields/x' });
    const high = max({ lo: 0, hi: 9 });
    expect(loadError({ fields: { high, x: derived(of, { from: { high }, compute: () => 99 }) } })).toMatchObject({
      path: '/fields/x',
      hint: expect.stringContaining('at most 9') as string,
    });
  });
});
