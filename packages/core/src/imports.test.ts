import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fromJsonPatch, fromMergePatch, fromPaperAnswer } from './imports.ts';
import type { Imported } from './imports.ts';
import type { Json, JsonObject } from './json.ts';
import { canonical, isJsonObject } from './json.ts';
import { claim } from './kinds/claim.ts';
import { counter } from './kinds/counter.ts';
import { max } from './kinds/extremum.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { codesOf, smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';

const text = z.string().max(20);
const fields = {
  title: cas(text),
  place: lww(z.strictObject({ x: z.int().min(0).max(9), y: z.int().min(0).max(9) })),
  phase: machine({ start: 'open', moves: { open: ['closed'], closed: [] } }),
  high: max({ lo: 0, hi: 99 }),
  done: counter(),
  tags: set(text, { cap: 9 }),
  said: log(text, { keep: 9 }),
  notes: map(map(cas(text), { cap: 9 }), { cap: 9 }),
  tasks: records({ title: cas(text), points: counter(), owner: claim() }, { cap: 9 }),
};

function teamOf(): SmallTeam {
  const team = smallTeam({ fields });
  team.ask('a', {
    title: { set: 'one' },
    place: { set: { x: 1, y: 2 } },
    tags: { add: ['p', 'q'] },
    said: { append: ['hello'] },
    notes: { at: { k: { at: { l: { set: 'm' } } } } },
    tasks: { put: { t1: { title: { set: 'first' } } } },
  });
  return team;
}

function patchOf(imported: Imported): JsonObject {
  if (!imported.ok) throw new Error(canonical(imported.issues as unknown as Json));
  return imported.patch;
}

function faultsOf(imported: Imported): readonly string[] {
  return imported.ok ? [] : imported.issues.map(({ path, code }) => `${path} ${code}`);
}

describe('merge patches', () => {
  test('[IMP1] each kind reads a merge patch in its own verbs', () => {
    const team = teamOf();
    const patch = patchOf(
      fromMergePatch(team.space, {
        title: null,
        place: { y: 7 },
        phase: 'closed',
        high: 12,
        tags: ['q', 'r'],
        said: ['hello', 'again'],
        notes: { k: { l: null, n: 'o' }, k2: { a: 'b' } },
        tasks: { t1: { title: 'changed' }, t2: { title: 'second' } },
      }),
    );
    expect(patch).toEqual({
      title: { unset: true },
      place: { set: { x: 1, y: 7 } },
      phase: { to: 'closed' },
      high: { raise: 12 },
      tags: { add: ['r'], remove: ['p'] },
      said: { append: ['again'] },
      notes: { at: { k: { at: { n: { set: 'o' } }, drop: ['l'] }, k2: { at: { a: { set: 'b' } } } } },
      tasks: { put: { t1: { title: { set: 'changed' } }, t2: { title: { set: 'second' } } } },
    });
    expect(codesOf(team.ask('b', patch))).toEqual(['committed']);
  });

  test('[IMP2] what a kind has no verb for is refused with the verb that it has', () => {
    const imported = fromMergePatch(teamOf().space, {
      done: 5,
      said: ['other'],
      high: null,
      tasks: { t1: { points: 3, owner: 'me' } },
    });
    expect(faultsOf(imported).toSorted()).toEqual([
      '/done schema',
      '/high schema',
      '/said schema',
      '/tasks/t1/owner schema',
      '/tasks/t1/points schema',
    ]);
    expect(canonical((imported.ok ? [] : imported.issues) as unknown as Json)).toContain('use inc');
  });

  test('[IMP2] a collection of keys takes an object of keys, nothing else, and says so', () => {
    const space = teamOf().space;
    for (const odd of [5, 'x', true, ['a']])
      expect(faultsOf(fromMergePatch(space, { notes: odd, tasks: odd }))).toEqual(['/notes schema', '/tasks schema']);
    expect(faultsOf(fromMergePatch(space, { notes: { k: 5 } }))).toEqual(['/notes/k schema']);
  });

  test('[IMP3] null erases: a key, a row, a whole collection', () => {
    const team = teamOf();
    const patch = patchOf(fromMergePatch(team.space, { tasks: { t1: null, nobody: null }, notes: null }));
    expect(patch).toEqual({ tasks: { drop: ['t1'] }, notes: { drop: ['k'] } });
    expect(codesOf(team.ask('a', patch))).toEqual(['committed']);
    expect(team.state).toMatchObject({ tasks: {}, notes: {} });
  });

  test('[IMP4] what the view shows already is no change', () => {
    const team = teamOf();
    expect(patchOf(fromMergePatch(team.space, team.state))).toEqual({});
  });

  test('[IMP5] over random values: a patch that is read and committed makes what RFC 7396 makes', () => {
    const value = fc.constantFrom<Json>('u', 'v', null);
    const within = fc.dictionary(fc.constantFrom('k', 'l', 'm'), value, { maxKeys: 3, noNullPrototype: true });
    const notes = fc.dictionary(fc.constantFrom('k', 'n'), fc.oneof(within, fc.constant(null)), {
      maxKeys: 2,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(fc.record({ title: value, notes }, { requiredKeys: [], noNullPrototype: true }), (given) => {
        const team = teamOf();
        const wanted = applied(team.state, given as JsonObject) as JsonObject;
        const patch = patchOf(fromMergePatch(team.space, given as JsonObject));
        if (Object.keys(patch).length > 0) expect(codesOf(team.ask('a', patch))).toEqual(['committed']);
        expect(team.state['notes']).toEqual(withoutEmpty(wanted['notes'] as JsonObject));
        expect(team.state['title']).toEqual(wanted['title'] ?? null);
      }),
    );
  });

  test('[IMP6] an answer in the form of the paper is read as one, its action beside it', () => {
    const team = teamOf();
    const action = 'Store box shelf-1';
    expect(fromPaperAnswer(team.space, { state_patch: { title: 'two' }, action })).toEqual({
      ok: true,
      patch: { title: { set: 'two' } },
      premises: [],
      action,
    });
    expect(faultsOf(fromPaperAnswer(team.space, 'Wait'))).toEqual([' schema']);
    for (const answer of [{ state_patch: {} }, { state_patch: {}, action: null }])
      expect(Object.keys(fromPaperAnswer(team.space, answer))).not.toContain('action');
  });
});

describe('JSON patches', () => {
  test('[IMP7] keyed paths and appends are read; a test becomes a premise', () => {
    const team = teamOf();
    const imported = fromJsonPatch(team.space, [
      { op: 'test', path: '/tasks/t1/title', value: 'first' },
      { op: 'replace', path: '/tasks/t1/title', value: 'changed' },
      { op: 'add', path: '/tags/-', value: 'r' },
      { op: 'add', path: '/said/-', value: 'once' },
      { op: 'add', path: '/said/-', value: 'twice' },
      { op: 'add', path: '/notes/k/new', value: 'v' },
      { op: 'remove', path: '/notes/k/l' },
    ]);
    expect(imported).toEqual({
      ok: true,
      patch: {
        tasks: { put: { t1: { title: { set: 'changed' } } } },
        tags: { add: ['r'] },
        said: { append: ['once', 'twice'] },
        notes: { at: { k: { at: { new: { set: 'v' } }, drop: ['l'] } } },
      },
      premises: ['/tasks/t1/title'],
    });
    team.ask('b', { tasks: { patch: { t1: { title: { set: 'mine' } } } } });
    const [verdict] = team.round({ agent: 'c', patch: patchOf(imported), premises: ['/tasks/t1/title'], base: 1 });
    expect(codesOf(verdict)).toContain('premise');
  });

  test('[IMP8] index paths, move, copy and whatever has no order are refused, each at its path', () => {
    const faults = (operations: Json): readonly string[] => faultsOf(fromJsonPatch(teamOf().space, operations));
    expect(faults([{ op: 'remove', path: '/tags/0' }])).toEqual(['/tags/0 schema']);
    expect(faults([{ op: 'test', path: '/said/0', value: 'hello' }])).toEqual(['/said/0 schema']);
    expect(faults([{ op: 'move', from: '/title', path: '/tags/-' }])).toEqual(['/tags/- schema']);
    expect(faults([{ op: 'copy', from: '/title', path: '/tags/-' }])).toEqual(['/tags/- schema']);
    expect(faults([{ op: 'remove', path: '/tags/-' }])).toEqual(['/tags/- schema']);
    expect(faults([{ op: 'remove', path: '/notes/nobody' }])).toEqual(['/notes/nobody gone']);
    expect(faults([{ op: 'replace', path: '', value: {} }])).toEqual([' schema']);
    expect(
      faults([
        { op: 'add', path: '/title', value: 'a' },
        { op: 'add', path: '/title', value: 'b' },
      ]),
    ).toEqual(['/title schema']);
    expect(
      faults([
        { op: 'remove', path: '/notes/k' },
        { op: 'add', path: '/notes/k/l', value: 'b' },
      ]),
    ).toEqual(['/notes/k/l schema']);
    const appended = { op: 'add', path: '/tags/-', value: 'a' };
    const replaced = { op: 'replace', path: '/tags', value: [] };
    for (const both of [
      [appended, replaced],
      [replaced, appended],
    ])
      expect(faults(both)).toEqual(['/tags schema']);
    expect(faults([{ op: 'test', path: '/title', value: 'other' }])).toEqual(['/title premise']);
    expect(faults([{ op: 'add', path: 'title', value: 'a' }])).toEqual([' schema']);
    expect(faults([{ op: 'add', path: '/title' }])).toEqual(['/title schema']);
    expect(faults([{ op: 'drop', path: '/title' }])).toEqual(['/title schema']);
    expect(faults([{ op: 'add', path: '/__proto__/x', value: 1 }])).toEqual(['/__proto__ schema']);
    expect(faults({ op: 'add' })).toEqual([' schema']);
    expect(faults([null])).toEqual([' schema']);
  });

  test('[IMP9] no JSON makes an import throw, and nothing reaches a prototype', () => {
    const team = teamOf();
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        fromMergePatch(team.space, one as Json);
        fromJsonPatch(team.space, one as Json);
        fromJsonPatch(team.space, [{ op: 'add', path: '/notes/__proto__/x', value: other as Json }]);
        fromMergePatch(team.space, {
          notes: JSON.parse('{"__proto__":{"x":"y"}}') as Json,
          tasks: one as Json,
          place: other as Json,
        });
        expect(({} as { readonly x?: unknown }).x).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  test.each([24, 130, 20_000])('[IMP9] a patch that nests %i deep is refused, not run into', (depth) => {
    const { space } = teamOf();
    for (const deep of [nested(depth, (inner) => ({ a: inner })), nested(depth, (inner) => [inner])]) {
      const imports = [
        fromMergePatch(space, { notes: deep }),
        fromPaperAnswer(space, { state_patch: { place: deep }, action: null }),
        fromJsonPatch(space, [{ op: 'test', path: '/place', value: deep }]),
        fromJsonPatch(space, [{ op: 'add', path: '/notes/k', value: deep }]),
        fromJsonPatch(space, [deep]),
      ];
      for (const imported of imports) expect(imported).toMatchObject({ ok: false, issues: [{ path: '', code: 'depth' }] });
    }
  });
});

/** A value inside so many others. */
function nested(depth: number, wrap: (inner: Json) => Json): Json {
  let value: Json = 'x';
  for (let i = 0; i < depth; i += 1) value = wrap(value);
  return value;
}

/** A key comes to be with the first thing in it. */
function withoutEmpty(notes: JsonObject): JsonObject {
  const isEmpty = (value: Json): boolean => isJsonObject(value) && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(notes).filter(([key, value]) => key === 'k' || !isEmpty(value)));
}

/** RFC 7396, section 2, as it stands there. */
function applied(target: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: { [key: string]: Json } =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...(target as JsonObject) } : {};
  for (const [key, value] of Object.entries(patch as JsonObject)) {
    if (value === null) delete result[key];
    else result[key] = applied(result[key] ?? null, value);
  }
  return result;
}
