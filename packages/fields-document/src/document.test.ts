import * as automerge from '@automerge/automerge';
import { decodeSpace, encodeSpace, fold, loadState, map, provenanceOf, replay } from '@oplus/core';
import type { Complain, Field, FieldKind, Issue, Json, JsonObject } from '@oplus/core';
import { codesOf, loading, outcomesOf, sha256, smallTeam } from '@oplus/core/testing';
import type { SmallTeam } from '@oplus/core/testing';
import { describe, expect, test } from 'vitest';
import { documentKind } from './document.ts';
import type { DocumentView } from './registers.ts';

const document = documentKind(automerge);

function notes(kind: Field = document({ bytesMax: 4096 }) as Field): SmallTeam {
  return smallTeam({ fields: { f: kind } });
}

function shown(team: SmallTeam): DocumentView {
  return team.state['f'] as unknown as DocumentView;
}

/** What a snapshot holds of the document. */
function stored(team: SmallTeam): { readonly changes: readonly { readonly beyond: readonly string[] }[] } {
  return JSON.parse((team.schema.kinds[0] as FieldKind).encode(team.space.cells[0])) as ReturnType<typeof stored>;
}

function merge(patch: JsonObject): JsonObject {
  return { f: { merge: patch } };
}

describe('merging', () => {
  test('[DOC1] objects merge, null erases, all else is replaced whole', () => {
    const team = notes();
    team.ask('a', merge({ plan: { step: 1, tags: ['x', 'y'] }, goal: 'g' }));
    team.ask('b', merge({ plan: { step: 2, tags: ['z'], owner: null }, goal: null }));
    expect(shown(team)).toEqual({ value: { plan: { step: 2, tags: ['z'] } }, contested: {} });
    team.ask('b', merge({ plan: { step: null, tags: null } }));
    expect(shown(team).value).toEqual({ plan: {} });
    team.ask('b', merge({ plan: 7 }));
    team.ask('b', merge({ plan: { a: null, b: { c: null } } }));
    expect(shown(team).value).toEqual({ plan: { b: {} } });
  });

  test('[DOC2] merges of different places commute, and concurrent creation of one object merges', () => {
    const team = notes();
    const verdicts = team.round(
      { agent: 'a', patch: merge({ plan: { deep: { x: 1 } } }) },
      { agent: 'b', patch: merge({ plan: { deep: { y: 2 } } }) },
    );
    expect(verdicts.map(outcomesOf)).toEqual([{}, {}]);
    expect(shown(team)).toEqual({ value: { plan: { deep: { x: 1, y: 2 } } }, contested: {} });
  });

  test('[DOC3] different values of one place stand side by side, and who wrote there is told; equal ones agree', () => {
    const team = notes();
    const base = team.revision;
    team.ask('a', merge({ goal: 'north', same: [1], plan: { x: 1 } }), base);
    const late = team.ask('b', merge({ goal: 'south', same: [1], plan: 5 }), base);
    expect(outcomesOf(late)).toEqual({ '/f/value/goal': 'contested', '/f/value/plan': 'contested' });
    const { value, contested } = shown(team);
    expect(Object.keys(contested)).toEqual(['/goal', '/plan']);
    expect(new Set(contested['/goal'])).toEqual(new Set(['north', 'south']));
    expect(contested['/goal']?.[0]).toBe(value['goal']);
    expect(contested['/plan']).toContainEqual({ x: 1 });
    expect(value['same']).toEqual([1]);
    const kind = team.schema.kinds[0] as FieldKind;
    expect(kind.contested?.(team.space.cells[0], '/f')).toEqual(['/f/value/goal', '/f/value/plan']);
  });

  test('[DOC3] the greatest stamp is shown: who has read a later revision', () => {
    const team = notes();
    team.ask('a', merge({ k: 'old' }), 0);
    team.ask('c', merge({ other: 1 }));
    const early = team.ask('b', merge({ k: 'late' }), 0);
    expect(outcomesOf(early)).toEqual({ '/f/value/k': 'contested' });
    team.ask('c', merge({ k: 'newest' }), 1);
    expect(shown(team)).toEqual({ value: { k: 'newest', other: 1 }, contested: { '/k': ['newest', 'late'] } });
  });

  test('[DOC4] a merge that saw the values and goes there leaves one', () => {
    const contest = (): SmallTeam => {
      const team = notes();
      team.round({ agent: 'a', patch: merge({ k: { x: 1 } }) }, { agent: 'b', patch: merge({ k: 2 }) });
      expect(Object.keys(shown(team).contested)).toEqual(['/k']);
      return team;
    };
    const repeated = contest();
    repeated.ask('c', merge({ k: shown(repeated).value['k'] as Json }));
    expect(shown(repeated).contested).toEqual({});
    const other = contest();
    other.ask('c', merge({ k: 3 }));
    expect(shown(other)).toEqual({ value: { k: 3 }, contested: {} });
    const within = contest();
    const before = shown(within).value['k'];
    within.ask('c', merge({ k: { y: 1 } }));
    expect(shown(within)).toEqual({ value: { k: before === 2 ? { y: 1 } : { x: 1, y: 1 } }, contested: {} });
    const elsewhere = contest();
    elsewhere.ask('c', merge({ j: 1 }));
    expect(Object.keys(shown(elsewhere).contested)).toEqual(['/k']);
  });

  test('[DOC5] what was set stays beside an erasure that had not seen it, in either order', () => {
    for (const order of [0, 1]) {
      const team = notes();
      team.ask('a', merge({ plan: { x: 1, y: 1 } }));
      const base = team.revision;
      const asks = [
        (): unknown => team.ask('b', merge({ plan: { x: 2 } }), base),
        (): unknown =>
          expect(outcomesOf(team.ask('c', merge({ plan: null }), base))).toEqual(
            order === 0 ? { '/f/value/plan': 'superseded' } : {},
          ),
      ];
      for (const ask of order === 0 ? asks : asks.toReversed()) ask();
      expect(shown(team)).toEqual({ value: { plan: { x: 2 } }, contested: {} });
    }
  });

  test('[DOC5] a change inside an object keeps the object, also when it leaves nothing in it', () => {
    const team = notes();
    team.ask('a', merge({ plan: { x: 1 } }));
    team.round({ agent: 'b', patch: merge({ plan: null }) }, { agent: 'c', patch: merge({ plan: { x: null } }) });
    expect(shown(team).value).toEqual({ plan: {} });
  });

  test('[DOC7] a merge is judged on its own view, and has seen what its agent had merged before', () => {
    const team = notes();
    team.ask('a', merge({ k: 1 }));
    const base = team.revision;
    team.ask('b', merge({ k: 2 }));
    team.ask('a', merge({ j: 1 }));
    // On the old view k is 1: to say so again is no write, whatever stands now.
    expect(outcomesOf(team.ask('c', merge({ k: 1 }), base))).toEqual({ '/f': 'unchanged' });
    expect(shown(team).value).toEqual({ k: 2, j: 1 });
    // The agent's earlier merge had seen k = 2, so this one has, on whatever view.
    team.ask('a', merge({ k: 3 }), base);
    expect(shown(team)).toEqual({ value: { k: 3, j: 1 }, contested: {} });
    expect(stored(team).changes.map(({ beyond }) => beyond)).toEqual([[], [], [], []]);
  });

  test('[DOC7] a draft with a vector has seen what that names', () => {
    const team = notes();
    team.ask('a', merge({ k: 1 }));
    team.round({ agent: 'b', patch: merge({ k: 2 }), base: { revision: 0, vector: { a: 1 } } });
    expect(shown(team)).toEqual({ value: { k: 2 }, contested: {} });
  });

  test('[DOC7] what a draft had seen, its agent has seen from then on', () => {
    const team = notes();
    team.round({ agent: 'b', patch: merge({ k: 1 }) }, { agent: 'c', patch: merge({ j: 1 }) });
    team.round({ agent: 'a', patch: merge({ x: 1 }), base: { revision: 0, vector: { b: 1 } } });
    expect(stored(team).changes.at(-1)?.beyond).toEqual(['b 1']);
    team.ask('a', merge({ k: 2, j: 2 }), 0);
    expect(stored(team).changes.at(-1)?.beyond).toEqual(['b 1']);
    expect(shown(team)).toMatchObject({ value: { k: 2 }, contested: { '/j': expect.anything() as unknown } });
    expect(Object.keys(shown(team).contested)).toEqual(['/j']);
  });
});

describe('limits', () => {
  test('[DOC8] what would exceed the cap is refused, contested values counted; nothing is cut', () => {
    const team = notes(document({ bytesMax: 64 }) as Field);
    const text = 'x'.repeat(20);
    expect(codesOf(team.ask('a', merge({ k: 'x'.repeat(40) })))).toEqual(['bound']);
    const [first, second] = team.round(
      { agent: 'a', patch: merge({ k: `${text}a` }) },
      { agent: 'b', patch: merge({ k: `${text}b` }) },
    );
    expect([codesOf(first), codesOf(second)].flat().sort()).toEqual(['bound', 'committed']);
    expect(codesOf(team.ask('c', merge({ k: null, j: text })))).toEqual(['committed']);
    expect(JSON.stringify(team.state['f']).length).toBeLessThanOrEqual(64);
  });

  test('[DOC8] paths count too when they are much longer than what stands', () => {
    const long = 'k'.repeat(100);
    const deep = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${i}`, 1]));
    const patch = { [long]: { [long]: { [long]: { [long]: deep } } } };
    expect(JSON.stringify(patch).length).toBeLessThan(1024);
    expect(codesOf(notes(document({ bytesMax: 1024 }) as Field).ask('a', merge(patch)))).toEqual(['bound']);
  });

  test('[DOC8] a document without a sound cap does not load', () => {
    for (const bytesMax of [0, 63, 1_048_577, 100.5, Number.NaN]) {
      expect(loading(document({ bytesMax }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID', path: '/fields/f' }));
    }
    expect(loading(document(null as never))).toThrow('document has no cap');
  });

  test('[DOC9] history is cut when it is long; what stands does not change, and views from before are refused', () => {
    const team = notes(documentKind(automerge, () => ({ changesMax: 8, keep: 4, bytesMax: 1e9 }))({ bytesMax: 4096 }) as Field);
    for (let i = 0; i < 20; i += 1) {
      expect(codesOf(team.ask('a', merge({ [`k${i % 3}`]: i })))).toEqual(['committed']);
      expect(stored(team).changes.length).toBeLessThanOrEqual(9);
    }
    expect(shown(team).value).toEqual({ k0: 18, k1: 19, k2: 17 });
    const refused = team.ask('b', merge({ k0: 'old' }), 3);
    expect(refused).toMatchObject({
      kind: 'rejected',
      issues: [{ path: '/f/value/k0', code: 'stale_base', rule: 'document', have: 18, recovery: 're-read' }],
    });
    const absent = team.ask('b', merge({ 'k/9': 1 }), 3);
    expect(absent).toMatchObject({ issues: [{ path: '/f/value/k~19', code: 'stale_base' }] });
    expect(absent).not.toHaveProperty('issues.0.have');
    expect(codesOf(team.ask('b', merge({ k0: 'new' }), team.revision - 3))).toEqual(['committed']);
  });

  test('[DOC9] history is also cut by its bytes', () => {
    const team = notes(
      documentKind(automerge, () => ({ changesMax: 1_000, keep: 1_000, bytesMax: 1_000 }))({ bytesMax: 4096 }) as Field,
    );
    for (let i = 0; i < 60; i += 1) team.ask('a', merge({ k: `${i}` }));
    const text = (team.schema.kinds[0] as FieldKind).encode(team.space.cells[0]);
    expect(text.length).toBeLessThan(1_400);
    expect(codesOf(team.ask('b', merge({ k: 'old' }), 1))).toEqual(['stale_base']);
  });

  test('[DOC9] an erasure of what was forgotten since counts as seen by who saw it', () => {
    const team = notes(
      documentKind(automerge, () => ({ changesMax: 0, keep: 1_000, bytesMax: 1e9 }))({ bytesMax: 4096 }) as Field,
    );
    team.ask('a', merge({ plan: { x: 1 }, other: 1 }));
    const base = team.revision;
    team.ask('b', merge({ plan: null }), base);
    team.ask('c', merge({ other: 2 }), base);
    for (const agent of ['a', 'b', 'c']) team.ask(agent, merge({ [agent]: 1 }));
    team.ask('b', merge({ other: 3 }));
    expect(shown(team)).toEqual({ value: { a: 1, b: 1, c: 1, other: 3 }, contested: {} });
  });

  test('[DOC12] what is no merge patch, a key that the gate would refuse, and deep nesting are refused', () => {
    const kind: FieldKind = document({ bytesMax: 4096 });
    const issuesOf = (intent: Json): readonly [string, string][] => {
      const issues: [string, string][] = [];
      const complain: Complain = (path, { code }) => issues.push([path, code]);
      expect(kind.read(intent, '/f', complain) === undefined).toBe(issues.length > 0);
      return issues;
    };
    const nested = (depth: number): Json => (depth === 0 ? 1 : { d: nested(depth - 1) });
    expect(issuesOf({ merge: 1 })).toEqual([['/f/merge', 'schema']]);
    expect(issuesOf({ merge: null })).toEqual([['/f/merge', 'schema']]);
    expect(issuesOf({ merge: [] })).toEqual([['/f/merge', 'schema']]);
    expect(issuesOf({ set: 1 })).toEqual([['/f', 'schema']]);
    expect(issuesOf('x')).toEqual([['/f', 'schema']]);
    expect(issuesOf({ merge: JSON.parse('{"a":{"__proto__":1}}') as Json })).toEqual([['/f/merge/a', 'key']]);
    expect(issuesOf({ merge: { a: [{ constructor: 1 }] } })).toEqual([['/f/merge/a', 'key']]);
    expect(issuesOf({ merge: { '': 1 } })).toEqual([['/f/merge', 'key']]);
    expect(issuesOf({ merge: { ['k'.repeat(129)]: 1 } })).toEqual([['/f/merge', 'key']]);
    expect(issuesOf({ merge: nested(16) })).toEqual([]);
    expect(issuesOf({ merge: nested(17) }).map(([, code]) => code)).toEqual(['depth']);
    expect(issuesOf({ merge: {} })).toEqual([]);
  });

  test('[DOC12] keys are literal', () => {
    const team = notes();
    team.ask('a', merge({ 'a/b': { '~': 1, toString: 2, '10': 3, '9': 4 } }));
    team.ask('b', merge({ a: { b: 5 }, 'a/b': { '~': null } }));
    expect(shown(team).value).toEqual({ a: { b: 5 }, 'a/b': { toString: 2, '10': 3, '9': 4 } });
  });
});

describe('beside the merge', () => {
  test('[DOC10] the log folds to the live state, and so do a snapshot and the tail', () => {
    const team = smallTeam({ fields: { f: document({ bytesMax: 4096 }), m: map(document({ bytesMax: 256 }), { cap: 2 }) } });
    team.round({ agent: 'a', patch: merge({ k: 1 }) }, { agent: 'b', patch: merge({ k: 2 }) });
    team.ask('a', { m: { at: { x: { merge: { n: 1 } } } } });
    const half = team.space;
    team.ask('c', merge({ k: { z: 1 } }), 0);
    team.ask('b', { m: { at: { x: { merge: { n: null } } } } });
    const schema = loadState(
      {
        name: 'example',
        version: 1,
        fields: { f: document({ bytesMax: 4096 }), m: map(document({ bytesMax: 256 }), { cap: 2 }) },
      },
      sha256,
    );
    const replayed = replay(schema, 'example', team.log);
    expect([replayed.head, replayed.state]).toEqual([team.space.head, team.space.state]);
    let resumed = decodeSpace(schema, JSON.parse(encodeSpace(half)) as Json);
    for (const text of team.log.slice(half.revision + 1)) resumed = fold(resumed, text).space;
    expect(encodeSpace(resumed)).toBe(encodeSpace(team.space));
  });

  test('[DOC10] a snapshot that is none is LOG_DAMAGED', () => {
    const kind: FieldKind = document({ bytesMax: 4096 });
    const sound = JSON.parse(kind.encode(kind.empty(undefined))) as JsonObject;
    for (const stored of [
      null,
      1,
      [],
      {},
      { ...sound, changes: [1] },
      { ...sound, floor: { missed: 0, remnants: [{ at: [], set: {} }], revision: 0 } },
    ]) {
      expect(() => kind.decode(stored as Json)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
    }
  });

  test('[DOC14] a model writes the patch as JSON text', () => {
    const kind: FieldKind = document({ bytesMax: 4096 });
    expect(kind.modelSchema()).toMatchObject({ additionalProperties: false, required: ['merge'] });
    expect(kind.fromModel({ merge: '{"a":{"b":null}}' })).toEqual({ merge: { a: { b: null } } });
    expect(kind.fromModel({ merge: { a: 1 } })).toEqual({ merge: { a: 1 } });
    expect(kind.fromModel({ merge: null })).toEqual({});
    const issues: string[] = [];
    expect(kind.read(kind.fromModel({ merge: '{"a":' }), '/f', (path) => issues.push(path))).toBeUndefined();
    expect(issues).toEqual(['/f/merge']);
  });

  test('[DOC15] formats without verbs change the value, and nothing else of what is shown', () => {
    const kind: FieldKind = document({ bytesMax: 4096 });
    const team = notes();
    team.ask('a', merge({ plan: { x: 1, y: [1] }, goal: 'g' }));
    const cell = team.space.cells[0];
    const issues: Omit<Issue, 'path'>[] = [];
    const assign = (value: Json | undefined): Json | undefined =>
      kind.assign(cell, value === undefined ? { kind: 'remove' } : { kind: 'set', value }, '/f', (_, issue) =>
        issues.push(issue),
      );
    expect(assign(kind.json(cell))).toBeUndefined();
    expect(assign({ value: { plan: { x: 2, y: [1], z: {} }, goal: null } })).toEqual({
      merge: { goal: null, plan: { x: 2, z: {} } },
    });
    expect(assign({ value: { plan: 1, goal: 'g' }, contested: {} })).toEqual({ merge: { plan: 1 } });
    expect(assign(undefined)).toEqual({ merge: { plan: null, goal: null } });
    expect(issues).toEqual([]);
    for (const wrong of [1, { value: 1 }, { plan: 1 }, { value: {}, contested: { '/a': [1] } }])
      expect(assign(wrong)).toBeUndefined();
    expect(issues.map(({ code }) => code)).toEqual(['schema', 'schema', 'schema', 'schema']);
  });

  test('[DOC16] what repeats the view is no write, unless it settles a contest', () => {
    const kind: FieldKind = document({ bytesMax: 4096 });
    const team = notes();
    team.ask('a', merge({ plan: { x: 1 }, goal: 'g' }));
    const lean = (patch: JsonObject): unknown => kind.withoutEcho(team.space.cells[0], { merge: patch });
    expect(lean({ plan: { x: 1, gone: null }, goal: 'g', none: null })).toBeUndefined();
    expect(lean({ plan: { x: 1, y: 2 }, goal: 'g' })).toEqual({ merge: { plan: { y: 2 } } });
    expect(lean({ plan: {} })).toBeUndefined();
    expect(lean({ plan: { x: {} } })).toEqual({ merge: { plan: { x: {} } } });
    expect(outcomesOf(team.ask('b', merge({ plan: {} })))).toEqual({ '/f': 'unchanged' });
    team.round({ agent: 'a', patch: merge({ goal: 'h' }) }, { agent: 'b', patch: merge({ goal: 'i' }) });
    expect(lean({ goal: shown(team).value['goal'] as Json })).toBeDefined();
  });

  test('[DOC17] premises and provenance reach places in the value', () => {
    const team = notes();
    team.ask('a', merge({ plan: { x: 1 }, goal: 'g' }));
    const base = team.revision;
    team.ask('b', merge({ plan: { y: 2 } }));
    const premise = (path: string): readonly string[] =>
      codesOf(team.round({ agent: 'c', patch: merge({ n: path }), premises: [path], base })[0]);
    expect(premise('/f/value/plan/x')).toEqual(['committed']);
    expect(premise('/f/value/goal')).toEqual(['committed']);
    expect(premise('/f/value/plan')).toEqual(['premise']);
    expect(premise('/f/value/plan/y')).toEqual(['premise']);
    expect(premise('/f/value/plan/none')).toEqual(['premise']);
    expect(premise('/f')).toEqual(['premise']);
    expect(provenanceOf(team.space, '/f/value/plan/y')).toMatchObject({ agent: 'b', n: 1 });
    expect(provenanceOf(team.space, '/f/value/goal')).toMatchObject({ agent: 'a', n: 1 });
    expect(provenanceOf(team.space, '/f/value/none')).toBeUndefined();
  });

  test('[DOC17] a premise that a cut history can no longer answer does not hold; provenance outlives the cut', () => {
    const team = notes(documentKind(automerge, () => ({ changesMax: 4, keep: 2, bytesMax: 1e9 }))({ bytesMax: 4096 }) as Field);
    team.ask('a', merge({ goal: 'g' }));
    for (let i = 0; i < 10; i += 1) team.ask('b', merge({ k: i }));
    expect(provenanceOf(team.space, '/f/value/goal')).toMatchObject({ agent: 'a', n: 1 });
    const [old] = team.round({ agent: 'c', patch: {}, premises: ['/f/value/goal'], base: 1, action: { name: 'go', args: {} } });
    expect(codesOf(old)).toEqual(['premise']);
    const [fresh] = team.round({ agent: 'c', patch: {}, premises: ['/f/value/goal'], action: { name: 'go', args: {} } });
    expect(codesOf(fresh)).toEqual(['committed']);
  });

  test('[DOC17] a place is trusted as the least of what stands there: to agree with it raises nothing, to replace it does', () => {
    const roles = { boss: { priority: 1 }, guest: { priority: 0, trust: 7 } };
    const team = smallTeam({ fields: { f: document({ bytesMax: 4096 }) }, roles }, ['a:boss', 'g:guest']);
    const trust = (place: string): number | undefined => provenanceOf(team.space, `/f/value${place}`)?.trust;
    team.ask('g', merge({ x: 'v', y: 'v' }));
    team.ask('a', merge({ x: 'v', y: 'w', z: 'w' }), 0);
    expect([trust('/x'), trust('/y'), trust('/z'), trust('')]).toEqual([7, 7, 100, 7]);
    team.ask('a', merge({ x: 'u', y: 'w' }));
    expect([trust('/x'), trust('/y'), trust('')]).toEqual([100, 100, 100]);
  });

  test('[DOC18] says what it is, weighs one a merge and counts nulls as erasures', () => {
    const kind: FieldKind = document({ bytesMax: 4096 });
    expect(kind.grade.letter).toBe('B');
    expect(kind.declaration()).toEqual({ kind: 'document', bytesMax: 4096 });
    const op = { merge: { a: null, b: { c: null, d: [null], e: 1 } } };
    expect([kind.weigh(op), kind.erases(op), kind.write(op)]).toEqual([1, 2, op]);
    const team = notes();
    for (const sample of kind.samples()) expect(codesOf(team.ask('a', { f: sample } as JsonObject))).toEqual(['committed']);
    expect(kind.samples().length).toBeGreaterThanOrEqual(2);
    expect(kind.valueSchema()).toMatchObject({ required: ['value', 'contested'], additionalProperties: false });
  });
});
