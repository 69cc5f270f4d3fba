import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Field } from '../field-kind.ts';
import { fromMergePatch } from '../imports.ts';
import type { Json, JsonObject } from '../json.ts';
import { viewsOfSpace } from '../projection.ts';
import { field } from '../state-schema.ts';
import type { RuleContext, Views } from '../state-schema.ts';
import { codesOf, outcomesOf, smallTeam } from '../testing/index.ts';
import type { Trie } from '../trie.ts';
import { claim } from './claim.ts';
import type { MapView } from './collection-view.ts';
import { counter } from './counter.ts';
import { max } from './extremum.ts';
import type { Graves } from './graves.ts';
import { GRAVES_MAX, graveOf, NO_GRAVES, withGrave } from './graves.ts';
import { log } from './log.ts';
import { machine } from './machine.ts';
import { map } from './map.ts';
import { records } from './records.ts';
import { cas, lww } from './register.ts';
import { set } from './set.ts';

const text = z.string().max(20);

describe('map', () => {
  test('[MAP1] different keys never conflict', () => {
    const agents = Array.from({ length: 10 }, (_, i) => `w${i}`);
    const team = smallTeam({ fields: { m: map(cas(text), { cap: 20 }) } }, agents);
    const verdicts = team.round(...agents.map((agent) => ({ agent, patch: { m: { at: { [agent]: { set: agent } } } } })));
    expect(verdicts.flatMap(codesOf)).toEqual(agents.map(() => 'committed'));
    expect(Object.keys(team.state['m'] as object)).toHaveLength(10);
  });

  test('[MAP2] concurrent creation of one key merges by the rule of the child', () => {
    const team = smallTeam({ fields: { n: map(counter(), { cap: 4 }), d: map(map(cas(text), { cap: 4 }), { cap: 4 }) } });
    team.round(
      { agent: 'a', patch: { n: { at: { k: { inc: 1 } } }, d: { at: { k: { at: { x: { set: 'a' } } } } } } },
      { agent: 'b', patch: { n: { at: { k: { inc: 2 } } }, d: { at: { k: { at: { y: { set: 'b' } } } } } } },
    );
    expect(team.state).toEqual({ n: { k: 3 }, d: { k: { x: 'a', y: 'b' } } });
  });

  test('[MAP3] a drop deletes only what it saw: a child changed since stays, and the dropper is told', () => {
    const team = smallTeam({ fields: { m: map(counter(), { cap: 4 }) } });
    team.ask('a', { m: { at: { k: { inc: 1 } } } });
    team.ask('b', { m: { at: { k: { inc: 5 } } } });
    expect(team.ask('c', { m: { drop: ['k', 'none'] } }, 1)).toMatchObject({
      outcomes: { '/m/k': { kind: 'superseded', by: 'b', value: 6 }, '/m/none': { kind: 'unchanged' } },
    });
    team.ask('c', { m: { drop: ['k'] } });
    expect(team.state).toEqual({ m: {} });
  });

  test('[MAP3] own changes count as seen, the changes of others before them do not', () => {
    const team = smallTeam({ fields: { m: map(counter(), { cap: 4 }) } });
    team.ask('a', { m: { at: { k: { inc: 1 } } } }, 0);
    expect(outcomesOf(team.ask('a', { m: { drop: ['k'] } }, 0))).toEqual({});
    team.ask('b', { m: { at: { k: { inc: 1 } } } });
    team.ask('a', { m: { at: { k: { inc: 1 } } } }, 2);
    expect(team.ask('a', { m: { drop: ['k'] } }, 2)).toMatchObject({
      outcomes: { '/m/k': { kind: 'superseded', by: 'b', value: 2 } },
    });
  });

  test('[MAP4] a dropped key starts again from empty, and a write that did not see the drop cannot pass for a first one', () => {
    const team = smallTeam({ fields: { m: map(cas(text), { cap: 4 }), n: map(counter({ start: 1 }), { cap: 4 }) } });
    team.ask('a', { m: { at: { k: { set: 'old' } } }, n: { at: { k: { inc: 4 } } } });
    team.ask('a', { m: { drop: ['k'] }, n: { drop: ['k'] } });
    expect(team.ask('b', { m: { at: { k: { set: 'stale' } } } }, 1)).toMatchObject({
      issues: [{ path: '/m/k', code: 'gone', by: 'a' }],
    });
    team.ask('b', { m: { at: { k: { set: 'new' } } }, n: { at: { k: { inc: 1 } } } });
    expect(team.state).toEqual({ m: { k: 'new' }, n: { k: 2 } });
  });

  test('[MAP4] whatever the kind, a write that has not seen the drop brings nothing back', () => {
    const phase = machine({ start: 'open', moves: { open: ['doing'], doing: [] } });
    const kinds: readonly (readonly [Field, JsonObject, JsonObject])[] = [
      [counter(), { inc: 5 }, { inc: 1 }],
      [set(text, { cap: 4 }), { add: ['old'] }, { add: ['stale'] }],
      [log(text, { keep: 4 }), { append: ['old'] }, { append: ['stale'] }],
      [phase, { to: 'doing' }, { to: 'doing' }],
      [claim(), { claim: true }, { claim: true }],
      [lww(text), { set: 'old' }, { set: 'stale' }],
      [max({ lo: 0, hi: 9 }), { raise: 1 }, { raise: 2 }],
    ];
    for (const [kind, first, stale] of kinds) {
      const team = smallTeam({ fields: { m: map(kind, { cap: 4 }) } });
      team.ask('a', { m: { at: { k: first } } });
      team.ask('a', { m: { drop: ['k'] } });
      expect(team.ask('b', { m: { at: { k: stale } } }, 1)).toMatchObject({ issues: [{ path: '/m/k', code: 'gone', by: 'a' }] });
      expect(team.state).toEqual({ m: {} });
      expect(codesOf(team.ask('b', { m: { at: { k: stale } } }))).toEqual(['committed']);
    }
  });

  test('[MAP4] nor can one to a key of a map, or to a row, that stood below a dropped key', () => {
    const team = smallTeam({
      fields: { m: map(map(cas(text), { cap: 4 }), { cap: 4 }), r: map(records({ x: cas(text) }, { cap: 4 }), { cap: 4 }) },
    });
    team.ask('a', { m: { at: { k: { at: { i: { set: 'old' } } } } }, r: { at: { k: { put: { i: { x: { set: 'old' } } } } } } });
    team.ask('a', { m: { drop: ['k'] }, r: { drop: ['k'] } });
    expect(codesOf(team.ask('b', { m: { at: { k: { at: { i: { set: 'stale' } } } } } }, 1))).toEqual(['gone']);
    expect(codesOf(team.ask('b', { r: { at: { k: { put: { i: { x: { set: 'stale' } } } } } } }, 1))).toEqual(['gone']);
    expect(
      codesOf(
        team.ask('b', {
          m: { at: { k: { at: { i: { set: 'new' } } } } },
          r: { at: { k: { put: { i: { x: { set: 'new' } } } } } },
        }),
      ),
    ).toEqual(['committed']);
    expect(codesOf(team.ask('c', { m: { at: { k: { at: { other: { set: 'stale' } } } } } }, 1))).toEqual(['gone']);
  });

  test('[MAP4] a write that has not seen a drop does not reach the key that was made anew after it', () => {
    const team = smallTeam({ fields: { m: map(counter(), { cap: 4 }) } });
    team.ask('a', { m: { at: { k: { inc: 5 } } } });
    team.ask('b', { m: { drop: ['k'] } });
    team.ask('b', { m: { at: { k: { inc: 1 } } } });
    expect(codesOf(team.ask('a', { m: { at: { k: { inc: 100 } } } }, 1))).toEqual(['gone']);
    expect(codesOf(team.ask('c', { m: { at: { k: { inc: 10 } } } }, 2))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { m: { at: { k: { inc: 20 } } } }))).toEqual(['committed']);
    expect(team.state['m']).toEqual({ k: 31 });
  });

  test('[MAP5] keys beyond the cap are refused, and a drop makes room in the same patch', () => {
    const team = smallTeam({ fields: { m: map(counter(), { cap: 2 }) } });
    team.ask('a', { m: { at: { x: { inc: 1 }, y: { inc: 1 } } } });
    expect(codesOf(team.ask('a', { m: { at: { z: { inc: 1 } } } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { m: { drop: ['x'], at: { z: { inc: 1 } } } }))).toEqual(['committed']);
    expect(team.state).toEqual({ m: { y: 1, z: 1 } });
  });

  test('[MAP6] a key stands once in a patch, and keys have their type', () => {
    const team = smallTeam({
      fields: {
        m: map(counter(), {
          cap: 4,
          keys: z
            .string()
            .max(8)
            .regex(/^[a-z]{1,8}$/),
        }),
      },
    });
    expect(codesOf(team.ask('a', { m: { drop: ['k'], at: { k: { inc: 1 } } } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { m: { drop: ['k', 'k'] } }))).toEqual(['schema']);
    expect(team.ask('a', { m: { at: { K: { inc: 1 } } } })).toMatchObject({
      issues: [{ path: '/m/K', code: 'schema', rule: 'map key' }],
    });
    expect(codesOf(team.ask('a', { m: { at: { verylongkey: { inc: 1 } } } }))).toEqual(['schema']);
  });

  test('[MAP7] keys are literal: slashes, tildes, digits and names of methods make no other object', () => {
    const team = smallTeam({ fields: { m: map(cas(text), { cap: 9 }) } });
    const keys = ['user/name', 'a~b', '10', '9', '01', 'toString', 'hasOwnProperty', 'valueOf'];
    const verdict = team.ask('a', { m: { at: Object.fromEntries(keys.map((key) => [key, { set: key }])) } });
    expect(verdict.kind).toBe('committed');
    expect(team.state['m']).toEqual(Object.fromEntries(keys.map((key) => [key, key])));
    expect(team.ask('b', { m: { at: { 'user/name': { set: 'x' }, 'a~b': { set: 'y' } } } }, 0)).toMatchObject({
      issues: [{ path: '/m/a~0b' }, { path: '/m/user~1name' }],
    });
  });

  test('[MAP8] a write that leaves an absent key at a start value makes the key; one that leaves nothing does not', () => {
    const team = smallTeam({
      fields: {
        c: map(cas(text, { start: 'a' }), { cap: 4 }),
        n: map(counter(), { cap: 4 }),
        e: map(cas(text), { cap: 4 }),
        s: map(set(text, { cap: 2 }), { cap: 4 }),
        l: map(lww(text, { start: 'a' }), { cap: 4 }),
      },
    });
    team.ask('a', {
      c: { at: { k: { set: 'a' } } },
      n: { at: { k: { inc: 0 } } },
      e: { at: { k: { unset: true } } },
      s: { at: { k: { remove: ['x'] } } },
      l: { at: { k: { set: 'a' } } },
    });
    expect(team.state).toEqual({ c: { k: 'a' }, n: { k: 0 }, e: {}, s: {}, l: { k: 'a' } });
    expect(outcomesOf(team.ask('b', { c: { drop: ['k'] }, n: { drop: ['k'] }, l: { drop: ['k'] } }, 0))).toEqual({
      '/c/k': 'superseded',
      '/n/k': 'superseded',
      '/l/k': 'superseded',
    });
  });

  test('[MAP7] the view that rules read finds the keys that stand, in order, and no others', () => {
    const team = smallTeam({ fields: { m: map(cas(text), { cap: 4 }) } });
    team.ask('a', { m: { at: { k: { set: 'v' }, a: { set: 'w' } } } });
    const view = team.schema.kinds[0]?.view(team.space.cells[0]) as MapView<string | undefined>;
    expect([view.size, view.has('k'), view.get('k'), view.keys()]).toEqual([2, true, 'v', ['a', 'k']]);
    expect(Object.fromEntries(view)).toEqual({ a: 'w', k: 'v' });
    for (const key of ['b', '__proto__']) expect([view.has(key), view.get(key)]).toEqual([false, undefined]);
  });

  test('[IMP2] a merge patch cannot make a key at the value that it starts with, and is told so', () => {
    const team = smallTeam({ fields: { n: map(counter({ start: 3 }), { cap: 4 }), c: map(cas(text), { cap: 4 }) } });
    expect(fromMergePatch(team.space, { n: { k: 3 } })).toMatchObject({
      issues: [{ path: '/n/k', code: 'schema', hint: expect.stringContaining('use inc') as string }],
    });
    expect(fromMergePatch(team.space, { n: { k: 4 } })).toMatchObject({ issues: [{ path: '/n/k' }] });
    expect(fromMergePatch(team.space, { n: { k: null }, c: { k: null } })).toEqual({ ok: true, patch: {}, premises: [] });
    team.ask('a', { n: { at: { k: { inc: 0 } } } });
    expect(fromMergePatch(team.space, { n: { k: 3 } })).toEqual({ ok: true, patch: {}, premises: [] });
  });

  test('[MAP9] tombstones are bounded; a view older than what was forgotten meets the floor instead', () => {
    let graves: Graves = NO_GRAVES;
    for (let i = 0; i < GRAVES_MAX * 5; i += 1) graves = withGrave(graves, `k${i}`, { agent: 'a', n: i + 1, revision: i + 1 }, 0);
    expect(graves.young.size + graves.old.size).toBeLessThanOrEqual(2 * GRAVES_MAX);
    expect(graves.floor).toBeGreaterThan(0);
    expect(graveOf(graves, 'k0')).toEqual({ agent: '', n: 0, revision: graves.floor });
    expect(graveOf(graves, `k${GRAVES_MAX * 5 - 1}`)?.revision).toBe(GRAVES_MAX * 5);
    for (let i = 0; i < GRAVES_MAX * 5; i += 1) expect(graveOf(graves, `k${i}`)?.revision).toBeGreaterThanOrEqual(i + 1);
  });

  test('[MAP9] however many are dropped in one round, the floor stays below it', () => {
    let graves: Graves = NO_GRAVES;
    for (let revision = 1; revision < 9; revision += 1) {
      for (let i = 0; i < GRAVES_MAX * 3; i += 1) {
        graves = withGrave(graves, `${revision} ${i}`, { agent: 'a', n: i + 1, revision }, 0);
        expect(graves.floor).toBeLessThan(revision);
      }
    }
    expect(graves.floor).toBeGreaterThan(0);
  });

  test('[MAP9] tombstones that no base can predate are forgotten', () => {
    const team = smallTeam({ fields: { m: map(cas(text), { cap: 4 }) }, horizon: 4 });
    for (let i = 0; i < 30; i += 1) {
      team.ask('a', { m: { at: { [`k${i}`]: { set: 'x' } } } });
      team.ask('a', { m: { drop: [`k${i}`] } });
    }
    const cell = team.space.cells[0] as {
      readonly graves: { readonly young: Trie<unknown>; readonly old: Trie<unknown>; readonly floor: number };
    };
    expect(cell.graves.young.size + cell.graves.old.size).toBeLessThanOrEqual(8);
    expect(cell.graves.floor).toBe(0);
  });

  test('[JDG8] a rule finds undefined at a key or a row that is not there, before and after, and what stands where one is', () => {
    const fields = { m: map(counter(), { cap: 4 }), r: records({ n: counter() }, { cap: 4 }) };
    const found: Json[] = [];
    const look = ({ before, after }: RuleContext<Views<typeof fields>>): true => {
      for (const { m, r } of [before, after])
        for (const key of ['k', 'nope', '__proto__', ''])
          found.push([key, m.has(key), m.get(key) ?? 'none', r.has(key), r.get(key)?.n ?? 'none']);
      return true;
    };
    const team = smallTeam({ fields, transitions: { look: { reads: ['m', 'r'], check: look } } });
    found.length = 0;
    team.ask('a', { m: { at: { k: { inc: 2 } } }, r: { put: { k: { n: { inc: 3 } } } } });
    const absent = (key: string): Json => [key, false, 'none', false, 'none'];
    const others = ['nope', '__proto__', ''].map(absent);
    expect(found).toEqual([absent('k'), ...others, ['k', true, 2, true, 3], ...others]);
    found.length = 0;
    team.ask('a', { m: { drop: ['k'] }, r: { drop: ['k'] } });
    expect(found.slice(-4)).toEqual([absent('k'), ...others]);
    const views = viewsOfSpace<typeof fields>(team.space);
    expect([views.m.get('k'), views.r.get('k')]).toEqual([undefined, undefined]);
  });

  test('[JDG5] writers of a child hold for its keys, and for their drop', () => {
    const team = smallTeam(
      {
        fields: { m: map(field(cas(text), { writers: ['lead'] }), { cap: 4 }) },
        roles: { lead: { priority: 1 }, agent: { priority: 0 } },
      },
      ['a:lead', 'b'],
    );
    expect(codesOf(team.ask('a', { m: { at: { k: { set: 'x' } } } }))).toEqual(['committed']);
    expect(team.ask('b', { m: { at: { k: { set: 'y' } } } })).toMatchObject({
      issues: [{ path: '/m/k', code: 'forbidden', recovery: 'stop' }],
    });
    expect(codesOf(team.ask('b', { m: { drop: ['k'] } }))).toEqual(['forbidden']);
    expect(codesOf(team.ask('a', { m: { drop: ['k'] } }))).toEqual(['committed']);
  });
});
