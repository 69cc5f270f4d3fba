import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { counter } from './kinds/counter.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { provenanceOf } from './provenance.ts';
import { codesOf, loadError, smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';

const text = z.string().max(20);
const roles = { clerk: { priority: 0, trust: 20 }, boss: { priority: 1 }, guest: { priority: 0, trust: 0 } };
const AGENTS = ['a:boss', 'b:clerk', 'c:guest'];
const TRUST: { readonly [agent: string]: number } = { a: 100, b: 20, c: 0 };

function teamOf(): SmallTeam {
  return smallTeam({ fields: { x: cas(text), y: lww(text), m: map(cas(text), { cap: 4 }), n: counter() }, roles }, AGENTS);
}

describe('provenance', () => {
  test('[PRV1] a value says whose word it is, by which proposal, since when', () => {
    const team = teamOf();
    expect(provenanceOf(team.space, '/x')).toBeUndefined();
    team.ask('b', { n: { inc: 1 } });
    team.ask('b', { x: { set: 'v' }, m: { at: { k: { set: 'w' } } } });
    expect(provenanceOf(team.space, '/x')).toEqual({ agent: 'b', n: 2, revision: 2, trust: 20 });
    expect(provenanceOf(team.space, '/m/k')).toEqual({ agent: 'b', n: 2, revision: 2, trust: 20 });
    expect(provenanceOf(team.space, '/m/other')).toBeUndefined();
    expect(provenanceOf(team.space, '/nothing')).toBeUndefined();
    team.ask('a', { m: { at: { l: { set: 'u' } } } });
    expect(provenanceOf(team.space, '/m')).toMatchObject({ agent: 'a', trust: 100 });
    expect(provenanceOf(team.space, '/m/k')).toMatchObject({ agent: 'b', trust: 20 });
  });

  test('[PRV2] it reaches rows and their cells', () => {
    const team = smallTeam({ fields: { rows: records({ t: cas(text), u: cas(text) }, { cap: 4 }) }, roles }, AGENTS);
    team.ask('a', { rows: { put: { r: { t: { set: '1' } } } } });
    team.ask('c', { rows: { patch: { r: { u: { set: '2' } } } } });
    expect(provenanceOf(team.space, '/rows/r/t')).toMatchObject({ agent: 'a', trust: 100 });
    expect(provenanceOf(team.space, '/rows/r/u')).toMatchObject({ agent: 'c', trust: 0 });
    expect(provenanceOf(team.space, '/rows/r')).toMatchObject({ agent: 'c', trust: 0 });
  });

  test('[PRV3] it reaches the elements of a set, and repeating one does not raise its trust', () => {
    const tags = set(z.union([text, z.int().min(0).max(9)]), { cap: 9 });
    const team = smallTeam({ fields: { tags }, roles }, AGENTS);
    team.ask('b', { tags: { add: ['x', 9] } });
    team.ask('c', { tags: { add: ['9'] } });
    expect(provenanceOf(team.space, '/tags/x')).toEqual({ agent: 'b', n: 1, revision: 1, trust: 20 });
    expect(provenanceOf(team.space, '/tags/9')).toMatchObject({ agent: 'c' });
    team.ask('a', { tags: { add: ['x'], remove: ['9'] } });
    expect(provenanceOf(team.space, '/tags/x')).toMatchObject({ agent: 'a', trust: 20 });
    expect(provenanceOf(team.space, '/tags/9')).toMatchObject({ agent: 'b', trust: 20 });
    expect(provenanceOf(team.space, '/tags/none')).toBeUndefined();
    const premises = ['/tags/x'];
    team.ask('b', { tags: { add: ['new'] } });
    expect(codesOf(team.round({ agent: 'c', patch: { tags: { add: ['y'] } }, premises, base: 3 })[0])).toEqual(['committed']);
    expect(codesOf(team.round({ agent: 'c', patch: { tags: { add: ['w'] } }, premises, base: 2 })[0])).toEqual(['premise']);
  });

  test('[TRS1] what is written on the word of another is trusted no more than that', () => {
    const team = teamOf();
    team.ask('c', { x: { set: 'rumour' } });
    const [verdict] = team.round({ agent: 'a', patch: { y: { set: 'rumour' } }, premises: ['/x'] });
    expect(codesOf(verdict)).toEqual(['committed']);
    expect(provenanceOf(team.space, '/y')).toMatchObject({ agent: 'a', trust: 0 });
    team.round({ agent: 'b', patch: { m: { at: { k: { set: 'rumour' } } } }, premises: ['/y', '/n'] });
    expect(provenanceOf(team.space, '/m/k')).toMatchObject({ agent: 'b', trust: 0 });
    team.ask('a', { y: { set: 'checked' } });
    expect(provenanceOf(team.space, '/y')).toMatchObject({ agent: 'a', trust: 100 });
  });

  test('[TRS2] to agree with a value does not raise its trust', () => {
    const team = teamOf();
    team.ask('c', { x: { set: 'v' }, y: { set: 'v' }, m: { at: { k: { set: 'v' } } } });
    team.ask('a', { x: { set: 'v' }, y: { set: 'v' }, m: { at: { k: { set: 'v' } } } });
    for (const path of ['/x', '/y', '/m/k']) expect(provenanceOf(team.space, path)).toMatchObject({ agent: 'c', trust: 0 });
  });

  test('[TRS3] over random histories no value is trusted more than its author, nor than what the author relied on', () => {
    const step = fc.record({
      agent: fc.constantFrom('a', 'b', 'c'),
      to: fc.nat(2),
      from: fc.option(fc.nat(2)),
      value: fc.nat(2),
    });
    const paths = ['/x', '/y', '/m/k'];
    const patchOf = (to: number, value: string): { [name: string]: { set: string } | { at: { k: { set: string } } } } =>
      to === 2 ? { m: { at: { k: { set: value } } } } : { [to === 0 ? 'x' : 'y']: { set: value } };
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const team = teamOf();
        for (const { agent, to, from, value } of steps) {
          const path = paths[to] as string;
          const source = from === null ? undefined : provenanceOf(team.space, paths[from] as string);
          const before = provenanceOf(team.space, path);
          const premises = from === null ? {} : { premises: [paths[from] as string] };
          team.round({ agent, patch: patchOf(to, `v${value}`), ...premises });
          const after = provenanceOf(team.space, path);
          if (after?.revision === before?.revision) expect(after).toEqual(before);
          else expect(after?.trust).toBe(Math.min(TRUST[agent] as number, source?.trust ?? 100));
        }
      }),
    );
  });

  test('[TRS4] a trust that is not a whole number from 0 to 100 does not load', () => {
    for (const trust of [-1, 101, 0.5])
      expect(loadError({ fields: { n: counter() }, roles: { r: { priority: 0, trust } } })).toMatchObject({ path: '/roles/r' });
  });
});
