import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { timersOf } from './expiry.ts';
import { counter } from './kinds/counter.ts';
import { group } from './kinds/group.ts';
import { growSet } from './kinds/grow-set.ts';
import { log } from './kinds/log.ts';
import { map } from './kinds/map.ts';
import { multi } from './kinds/multi.ts';
import { owned } from './kinds/owned.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { removeWins } from './kinds/remove-wins.ts';
import { set } from './kinds/set.ts';
import { provenanceOf } from './provenance.ts';
import { proposeAtOnce } from './stage.ts';
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
    expect(provenanceOf(team.space, '/m')).toMatchObject({ agent: 'a', trust: 20 });
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

  test('[TRS1] a premise on what many made is trusted as the least of them', () => {
    const fields = {
      n: counter(),
      l: log(text, { keep: 9 }),
      m: map(cas(text), { cap: 9 }),
      w: cas(text),
      v: cas(text),
      u: cas(text),
    };
    const team = smallTeam({ fields, roles }, AGENTS);
    team.ask('c', { n: { inc: 1000 }, l: { append: ['rumour'] }, m: { at: { k: { set: 'rumour' } } } });
    team.ask('a', { n: { inc: 1 }, l: { append: ['fact'] }, m: { at: { j: { set: 'fact' } } } });
    for (const [premise, to] of [
      ['/n', 'w'],
      ['/l', 'v'],
      ['/m', 'u'],
    ] as const) {
      team.round({ agent: 'a', patch: { [to]: { set: 'x' } }, premises: [premise] });
      expect([premise, provenanceOf(team.space, `/${to}`)?.trust]).toEqual([premise, 0]);
    }
    team.round({ agent: 'a', patch: { w: { set: 'y' } }, premises: ['/m/j'] });
    expect(provenanceOf(team.space, '/w')).toMatchObject({ trust: 100 });
  });

  test('[TRS2] to agree with a value does not raise its trust', () => {
    const team = teamOf();
    team.ask('c', { x: { set: 'v' }, y: { set: 'v' }, m: { at: { k: { set: 'v' } } } });
    team.ask('a', { x: { set: 'v' }, y: { set: 'v' }, m: { at: { k: { set: 'v' } } } });
    for (const path of ['/x', '/y', '/m/k']) expect(provenanceOf(team.space, path)).toMatchObject({ agent: 'c', trust: 0 });
  });

  test('[TRS2] nor does it where values stand side by side, in sets, and where a value is owned together', () => {
    const fields = {
      many: multi(text),
      mine: owned(text),
      whole: group({ part: text }, { rule: 'owned' }),
      tags: set(text, { cap: 4 }),
      revoked: removeWins(text, { cap: 4 }),
      seen: growSet(text, { cap: 4 }),
    };
    const paths = Object.keys(fields).map((name) => `/${name}`);
    const add = { add: ['v'] };
    const patch = {
      many: { set: 'v' },
      mine: { set: 'v' },
      whole: { set: { part: 'v' } },
      tags: add,
      revoked: add,
      seen: add,
    };
    for (const base of [undefined, 0]) {
      const team = smallTeam({ fields, roles }, AGENTS);
      team.ask('c', patch);
      const { state } = team;
      expect(codesOf(team.ask('a', patch, base))).toEqual(['committed']);
      expect({ ...team.state, mine: null, whole: null }).toEqual({ ...state, mine: null, whole: null });
      for (const path of paths) expect([path, provenanceOf(team.space, path)?.trust]).toEqual([path, 0]);
    }
  });

  test('[TRS2] what contends is trusted as the least of it, and settling on it does not raise its trust', () => {
    const team = smallTeam({ fields: { f: multi(text) }, roles }, AGENTS);
    team.round({ agent: 'c', patch: { f: { set: 'v' } } }, { agent: 'a', patch: { f: { set: 'w' } } });
    expect(provenanceOf(team.space, '/f')).toMatchObject({ trust: 0 });
    team.ask('b', { f: { set: 'v' } });
    expect(team.state).toEqual({ f: { value: 'v', rivals: [] } });
    expect(provenanceOf(team.space, '/f')).toMatchObject({ agent: 'b', trust: 0 });
    team.ask('a', { f: { set: 'x' } });
    expect(provenanceOf(team.space, '/f')).toMatchObject({ agent: 'a', trust: 100 });
  });

  test('[TRS2] a value that is taken from a rival is trusted as the rival is, whoever lets it stand', () => {
    const f = owned(text, { dispute: { arbiter: 'boss', deadlineMs: 9 } });
    const team = smallTeam({ fields: { f }, roles }, AGENTS);
    team.ask('b', { f: { set: 'v' } });
    team.ask('c', { f: { set: 'rumour' } });
    expect(provenanceOf(team.space, '/f')).toMatchObject({ agent: 'c', trust: 0 });
    const forced = team.at(team.revision);
    team.ask('b', { f: { release: true } });
    expect(team.state).toMatchObject({ f: { value: 'rumour', owners: ['c'] } });
    expect(provenanceOf(team.space, '/f')).toMatchObject({ agent: 'b', trust: 0 });
    team.ask('a', { f: { set: 'other' } });
    expect(provenanceOf(team.space, '/f')).toMatchObject({ agent: 'a', trust: 0 });
    const { space, decided } = proposeAtOnce(forced, [['a', { f: { set: 'rumour', force: true } }]]);
    expect(codesOf(decided[0]?.verdict)).toEqual(['committed']);
    expect(provenanceOf(space, '/f')).toMatchObject({ agent: 'a', trust: 0 });
    team.ask('a', { f: { set: 'mine', force: true } });
    expect(provenanceOf(team.space, '/f')).toMatchObject({ agent: 'a', trust: 100 });
  });

  test('[TRS2] a deadline leaves a value as trusted as it was', () => {
    const dispute = { arbiter: 'boss', deadlineMs: 9 };
    const fields = { many: multi(text, { dispute }), mine: owned(text, { dispute }) };
    const team = smallTeam({ fields, roles }, AGENTS);
    team.round({ agent: 'c', patch: { many: { set: 'v' }, mine: { set: 'v' } } }, { agent: 'b', patch: { many: { set: 'w' } } });
    team.ask('a', { mine: { set: 'w' } });
    for (const { path, token } of timersOf(team.space)) team.events({ kind: 'expire', path, token, cause: 'deadline' });
    const { many, mine } = team.state as { many: { value: string; rivals: [] }; mine: { value: string; rivals: [] } };
    expect([many.rivals, mine]).toEqual([[], { value: 'v', owners: ['c'], rivals: [] }]);
    expect(provenanceOf(team.space, '/many')).toMatchObject({ agent: '', trust: many.value === 'v' ? 0 : 20 });
    expect(provenanceOf(team.space, '/mine')).toMatchObject({ agent: '', trust: 0 });
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
