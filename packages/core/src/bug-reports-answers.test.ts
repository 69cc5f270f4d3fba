import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withoutEchoes } from './echo.ts';
import { fromJsonPatch, fromMergePatch, fromPaperAnswer } from './imports.ts';
import type { Imported } from './imports.ts';
import type { Json, JsonObject } from './json.ts';
import { counter } from './kinds/counter.ts';
import { derived } from './kinds/derived.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { cas } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { defineState, field } from './state-schema.ts';
import type { Fields } from './state-schema.ts';
import { codesOf, outcomesOf, smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';

/** Public reports of what models send: whole documents, blanks, echoes, and patches in other formats. Numbers are those of the collection. */
const text = z.string().max(40);
const filled = z.string().min(1).max(40);
const small = z.int().min(0).max(9_999);

function patchOf(imported: Imported): JsonObject {
  if (!imported.ok) throw new Error(JSON.stringify(imported.issues));
  return imported.patch;
}

function faultsOf(imported: Imported): readonly string[] {
  return imported.ok ? [] : imported.issues.map(({ path, code }) => `${path} ${code}`);
}

function sumOf(values: Iterable<readonly [string, number]>): number {
  return [...values].reduce((sum, [, value]) => sum + value, 0);
}

/** A whole value in the place of a field, as a model sends it that was asked for the document. */
function whole(team: SmallTeam, revision: number, path: string, value: Json): JsonObject {
  return patchOf(fromJsonPatch(team.at(revision), [{ op: 'replace', path, value }]));
}

describe('public reports: what is left out', () => {
  test('[MAP1][BUG 31] a whole document that was made on a stale view changes what differs there, and drops nothing it never saw', () => {
    const team = smallTeam({ fields: { doc: map(cas(text), { cap: 20 }) } });
    team.ask('c', { doc: { at: { a: { set: 'old' } } } });
    const grown = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`k${i}`, { set: 'new' }]));
    team.ask('a', { doc: { at: grown } });
    expect(codesOf(team.ask('b', whole(team, 1, '/doc', { a: 'mine' }), 1))).toEqual(['committed']);
    expect(team.state['doc']).toMatchObject({ a: 'mine', k0: 'new', k7: 'new' });
    expect(Object.keys(team.state['doc'] as object)).toHaveLength(9);
  });

  test('[CAS1][BUG 31] a document that is one value is refused on a stale view', () => {
    const team = smallTeam({ fields: { doc: cas(z.strictObject({ a: text, b: text })) } });
    team.ask('c', { doc: { set: { a: 'old', b: '' } } });
    team.ask('a', { doc: { set: { a: 'old', b: 'grown' } } });
    expect(team.ask('b', whole(team, 1, '/doc', { a: 'mine', b: '' }), 1)).toMatchObject({
      issues: [{ path: '/doc', code: 'conflict', have: { a: 'old', b: 'grown' }, by: 'a', recovery: 're-read' }],
    });
  });

  test('[BUG 34] an answer that holds only what is new adds it, and leaves the rest alone', () => {
    const people = map(cas(text), { cap: 9 });
    const team = smallTeam({ fields: { name: cas(text, { start: 'Ann' }), place: cas(text, { start: 'Rome' }), people } });
    team.ask('b', { people: { at: { '1': { set: 'Bo' }, '2': { set: 'Cy' } } } });
    const patch = patchOf(fromPaperAnswer(team.space, { state_patch: { people: { '3': 'Di' } } }));
    expect(codesOf(team.ask('a', patch))).toEqual(['committed']);
    expect(team.state).toEqual({ name: 'Ann', place: 'Rome', people: { '1': 'Bo', '2': 'Cy', '3': 'Di' } });
  });

  test('[BUG 34] where people are a list, a list of the new one alone would erase the others, and the field says how many may go', () => {
    const team = smallTeam({ fields: { people: field(set(text, { cap: 9 }), { eraseMax: 0 }) } });
    team.ask('b', { people: { add: ['Bo', 'Cy'] } });
    const patch = patchOf(fromMergePatch(team.space, { people: ['Di'] }));
    expect(team.ask('a', patch)).toMatchObject({ issues: [{ path: '/people', code: 'protected', have: 0, want: 2 }] });
    expect(codesOf(team.ask('a', { people: { add: ['Di'] } }))).toEqual(['committed']);
    expect(team.state).toEqual({ people: ['Bo', 'Cy', 'Di'] });
  });

  test('[PRT2][BUG 35] an empty template blanks nothing: blanks are no values, and what one patch may erase is limited', () => {
    const names = ['name', 'goal', 'style', 'place', 'since'];
    const team = smallTeam({ fields: { memory: field(map(cas(filled), { cap: 9 }), { eraseMax: 1 }) } });
    team.ask('b', { memory: { at: Object.fromEntries(names.map((name) => [name, { set: `my ${name}` }])) } });
    const before = team.state;
    const blank = patchOf(fromMergePatch(team.space, { memory: Object.fromEntries(names.map((name) => [name, ''])) }));
    expect(codesOf(team.ask('a', blank))).toEqual(names.map(() => 'bound'));
    const nulls = patchOf(fromMergePatch(team.space, { memory: Object.fromEntries(names.map((name) => [name, null])) }));
    expect(team.ask('a', nulls)).toMatchObject({ issues: [{ path: '/memory', code: 'protected', have: 1, want: 5 }] });
    const empty = patchOf(fromJsonPatch(team.space, [{ op: 'replace', path: '/memory', value: {} }]));
    expect(codesOf(team.ask('a', empty))).toEqual(['protected']);
    expect(team.state).toEqual(before);
    expect(codesOf(team.ask('a', { memory: { drop: ['since'] } }))).toEqual(['committed']);
    expect(Object.keys(team.state['memory'] as object)).toHaveLength(4);
  });

  test('[PRT1][PRT2][BUG 35] five plain values that one answer blanks: a type or a protection keeps them, an unprotected text may be blanked', () => {
    const names = ['name', 'goal', 'style', 'place', 'since'];
    const each = <T>(value: (name: string) => T): { readonly [name: string]: T } =>
      Object.fromEntries(names.map((name) => [name, value(name)]));
    const blanks = each(() => '');
    const nulls = each(() => null);
    const answered = (fields: Fields, answer: JsonObject, other: object = {}): readonly [readonly string[], JsonObject] => {
      const team = smallTeam({ fields, ...other });
      team.ask(
        'b',
        each((name) => ({ set: `my ${name}` })),
      );
      return [codesOf(team.ask('a', patchOf(fromMergePatch(team.space, answer)))), team.state];
    };
    const before = each((name) => `my ${name}`);
    const all = (code: string): readonly string[] => names.map(() => code);
    // A type that has no blanks.
    expect(
      answered(
        each(() => cas(filled)),
        blanks,
      ),
    ).toEqual([all('bound'), before]);
    // A limit on what one patch erases, and a condition for it: both are about what is taken away.
    expect(
      answered(
        each(() => field(cas(filled), { eraseMax: 0 })),
        nulls,
      ),
    ).toEqual([all('protected'), before]);
    const check = (): string => 'What is remembered stays.';
    const protections = each((name) => ({ reads: [name], check }));
    expect(
      answered(
        each(() => cas(filled)),
        nulls,
        { protections },
      ),
    ).toEqual([all('protected'), before]);
    // Nothing is declared: a blank is a value like any other, and null takes it away.
    expect(
      answered(
        each(() => cas(text)),
        blanks,
      ),
    ).toEqual([['committed'], blanks]);
    expect(
      answered(
        each(() => cas(text)),
        nulls,
      ),
    ).toEqual([['committed'], nulls]);
    // An erasure is not what writes a blank, so a protection alone does not keep a text whose type has blanks.
    expect(
      answered(
        each(() => cas(text)),
        blanks,
        { protections },
      ),
    ).toEqual([['committed'], blanks]);
  });

  const todos = field(records({ text: cas(text), isDone: cas(z.boolean(), { start: false }) }, { cap: 9 }), { eraseMax: 1 });

  function todoTeam(count: number): SmallTeam {
    const team = smallTeam({ fields: { todos } });
    const rows = Array.from({ length: count }, (_, i) => [String(i + 1), { text: { set: `todo ${i + 1}` } }]);
    team.ask('c', { todos: { put: Object.fromEntries(rows) as JsonObject } });
    return team;
  }

  test('[BUG 37] a list that holds the changed item alone marks that item, and five remain', () => {
    const team = todoTeam(5);
    const only = { '2': { text: 'todo 2', isDone: true } };
    expect(codesOf(team.ask('a', whole(team, 1, '/todos', only)))).toEqual(['protected']);
    expect(codesOf(team.ask('a', patchOf(fromMergePatch(team.space, { todos: only }))))).toEqual(['committed']);
    const after = Object.entries(team.state['todos'] as { [id: string]: { isDone: boolean } });
    expect(after.map(([id, { isDone }]) => `${id} ${isDone}`)).toEqual(['1 false', '2 true', '3 false', '4 false', '5 false']);
  });

  test('[BUG 38] two whole lists on one view, each with a change of its own, are two changes', () => {
    const team = todoTeam(2);
    const open = (id: string): Json => ({ text: `todo ${id}`, isDone: false });
    const verdicts = team.round(
      { agent: 'a', patch: whole(team, 1, '/todos', { '1': { text: 'todo 1', isDone: true }, '2': open('2') }) },
      { agent: 'b', patch: whole(team, 1, '/todos', { '1': open('1'), '2': open('2'), '3': open('3') }) },
    );
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(team.state).toEqual({ todos: { '1': { text: 'todo 1', isDone: true }, '2': open('2'), '3': open('3') } });
  });

  const survey = defineState({
    name: 'survey',
    version: 1,
    fields: {
      done: field(set(text, { cap: 40 }), { eraseMax: 0 }),
      vals: field(map(counter(), { cap: 40 }), { eraseMax: 0 }),
      total: counter(),
      phase: machine({ start: 'open', moves: { open: ['finished'], finished: [] } }),
    },
    invariants: {
      oneFact: {
        reads: ['done', 'vals'],
        check: ({ after }) => {
          const names = after.vals.keys();
          return (
            (names.length === after.done.size && names.every((name) => after.done.has(name))) || 'done and vals name the same.'
          );
        },
      },
      sum: {
        reads: ['vals', 'total'],
        check: ({ after }) => {
          const sum = sumOf(after.vals);
          return sum === after.total || [{ path: '/total', hint: 'total is the sum of vals.', have: sum, want: after.total }];
        },
      },
    },
  });

  test('[PRT2][BUG 40] a record that is nulled by the very answer that calls it complete stays, and the step is refused whole', () => {
    const team = smallTeam(survey);
    const names = Array.from({ length: 30 }, (_, i) => `q${i}`);
    const vals = Object.fromEntries(names.map((name) => [name, { inc: 7 }]));
    expect(codesOf(team.ask('a', { done: { add: names }, vals: { at: vals }, total: { inc: 210 } }))).toEqual(['committed']);
    const answer = { state_patch: { done: null, phase: 'finished' }, action: 'finish' };
    const verdict = team.ask('a', patchOf(fromPaperAnswer(team.space, answer)));
    expect(verdict).toMatchObject({ kind: 'rejected', issues: [{ path: '/done', code: 'protected', have: 0, want: 30 }] });
    expect(faultsOf(fromPaperAnswer(team.space, { state_patch: { total: null } }))).toEqual(['/total schema']);
    expect(team.state).toMatchObject({ total: 210, phase: 'open' });
    expect(team.state['done']).toHaveLength(30);
  });

  test('[PRT2][BUG 40] nor does it go when both values are nulled in one answer: each is named, and the step is not made', () => {
    const kept = { ...survey.fields, total: field(cas(small), { eraseMax: 0 }) };
    const team = smallTeam({ fields: kept });
    const names = Array.from({ length: 30 }, (_, i) => `q${i}`);
    team.ask('a', { done: { add: names }, total: { set: 1523 } });
    const before = team.state;
    const answer = { state_patch: { done: null, total: null, phase: 'finished' }, action: 'finish' };
    const patch = patchOf(fromPaperAnswer(team.space, answer));
    const [verdict] = team.round({ agent: 'a', patch, action: { name: 'finish', args: {} } });
    expect(verdict).toMatchObject({
      kind: 'rejected',
      issues: [
        { path: '/done', code: 'protected', have: 0, want: 30 },
        { path: '/total', code: 'protected', have: 0, want: 1 },
      ],
    });
    expect(team.state).toEqual(before);
    // A counter has no null at all: there the answer is refused before it is a patch.
    expect(faultsOf(fromPaperAnswer(smallTeam(survey).space, answer))).toEqual(['/total schema']);
  });

  test('[JDG8][BUG 41] two fields of one fact do not drift: what adds to one alone is refused', () => {
    const team = smallTeam(survey);
    expect(codesOf(team.ask('a', { done: { add: ['x'] }, vals: { at: { x: { inc: 84 } } }, total: { inc: 84 } }))).toEqual([
      'committed',
    ]);
    expect(team.ask('a', { vals: { at: { y: { inc: 84 } } }, total: { inc: 84 } })).toMatchObject({
      issues: [{ code: 'invariant', rule: 'oneFact' }],
    });
    expect(team.ask('a', { total: { inc: 84 } })).toMatchObject({
      issues: [{ path: '/total', rule: 'sum', have: 84, want: 168 }],
    });
    expect(team.state).toMatchObject({ done: ['x'], vals: { x: 84 }, total: 84 });
  });

  test('[DRV2][BUG 41] a total that is computed cannot be told wrong', () => {
    const vals = map(counter(), { cap: 40 });
    const total = derived(small, { from: { vals }, compute: (views) => sumOf(views.vals) });
    const team = smallTeam({ fields: { vals, total } });
    expect(codesOf(team.ask('a', { vals: { at: { x: { inc: 84 } } }, total: { set: 168 } }))).toEqual(['derived']);
    team.round(
      ...['x', 'y'].map((name, i) => ({ agent: ['a', 'b'][i] as string, patch: { vals: { at: { [name]: { inc: 42 } } } } })),
    );
    expect(team.state).toEqual({ vals: { x: 42, y: 42 }, total: 84 });
  });
});

describe('public reports: patch formats', () => {
  const tags = map(cas(text), { cap: 9 });

  test('[IMP8][BUG 53] the root is not removed; the hint says what to name', () => {
    const team = smallTeam({ fields: { m: tags } });
    team.ask('b', { m: { at: { '1': { set: 'x' } } } });
    const imported = fromJsonPatch(team.space, [{ op: 'remove', path: '' }]);
    expect(imported).toMatchObject({
      ok: false,
      issues: [{ path: '', code: 'schema', hint: expect.stringContaining('name the fields') }],
    });
    expect(faultsOf(fromMergePatch(team.space, null))).toEqual([' schema']);
    expect(patchOf(fromJsonPatch(team.space, [{ op: 'remove', path: '/m/1' }]))).toEqual({ m: { drop: ['1'] } });
  });

  test('[IMP8][BUG 55] places in a list are refused, each operation by its path; what is named by its id lands on what was meant', () => {
    const team = smallTeam({ fields: { l: set(text, { cap: 9 }), rows: records({ t: cas(text) }, { cap: 9 }) } });
    team.ask('c', {
      l: { add: ['a', 'b', 'c'] },
      rows: { put: { a: { t: { set: 'a' } }, b: { t: { set: 'b' } }, c: { t: { set: 'c' } } } },
    });
    const removes = ['/l/1', '/l/2'].map((path) => ({ op: 'remove', path }));
    expect(faultsOf(fromJsonPatch(team.space, removes))).toEqual(['/l/1 schema', '/l/2 schema']);
    const view = team.space;
    const verdicts = team.round(
      { agent: 'a', patch: patchOf(fromJsonPatch(view, [{ op: 'remove', path: '/rows/a' }])) },
      { agent: 'b', patch: patchOf(fromJsonPatch(view, [{ op: 'replace', path: '/rows/c/t', value: 'edited' }])) },
    );
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(team.state).toMatchObject({ rows: { b: { t: 'b' }, c: { t: 'edited' } } });
  });

  test('[IMP7][BUG 56] an append to a list that nobody has begun begins it: a field, a value, one below a key', () => {
    const lists = cas(z.array(text).max(9));
    const team = smallTeam({
      fields: { todos: log(text, { keep: 9 }), list: lists, by: map(log(text, { keep: 9 }), { cap: 9 }) },
    });
    const adds = ['/todos/-', '/list/-', '/by/k/-'].map((path) => ({ op: 'add', path, value: 'first' }));
    expect(codesOf(team.ask('a', patchOf(fromJsonPatch(team.space, adds))))).toEqual(['committed']);
    expect(team.state).toEqual({ todos: ['first'], list: ['first'], by: { k: ['first'] } });
    expect(faultsOf(fromJsonPatch(team.space, [{ op: 'remove', path: '/by/l/-' }]))).toEqual(['/by/l/- schema']);
  });

  test('[IMP7][BUG 58] keys with a slash or a tilde are one key each, escaped in paths; new keys may be replaced or added', () => {
    const team = smallTeam({ fields: { m: tags } });
    const adds = ['user~1name', 'a~0b'].map((key) => ({ op: 'add', path: `/m/${key}`, value: 'v' }));
    expect(codesOf(team.ask('a', patchOf(fromJsonPatch(team.space, adds))))).toEqual(['committed']);
    expect(team.state).toEqual({ m: { 'a~b': 'v', 'user/name': 'v' } });
    expect(codesOf(team.ask('a', { m: { at: { 'c/d~e': { set: 'w' } } } }))).toEqual(['committed']);
    expect(Object.keys(team.state['m'] as object)).toContain('c/d~e');
    // Not escaped it is a path of two keys, and there is nothing below a text.
    const imported = fromJsonPatch(team.space, [{ op: 'add', path: '/m/x/y', value: 'v' }]);
    const bare = imported.ok ? codesOf(team.ask('a', imported.patch)) : faultsOf(imported);
    expect(bare).not.toEqual(['committed']);
    expect(faultsOf(fromJsonPatch(team.space, [{ op: 'replace', path: '/m/nobody', value: 'v' }]))).toEqual(['/m/nobody gone']);
  });

  test('[IMP3][BUG 59] a delete and a later write in order leave the write alone, without what was deleted', () => {
    const team = smallTeam({ fields: { doc: map(map(cas(small), { cap: 9 }), { cap: 9 }) } });
    team.ask('c', { doc: { at: { a: { at: { x: { set: 0 }, y: { set: 3 } } } } } });
    team.ask('a', patchOf(fromMergePatch(team.space, { doc: { a: null } })));
    team.ask('b', patchOf(fromMergePatch(team.space, { doc: { a: { x: 8 } } })));
    expect(team.state).toEqual({ doc: { a: { x: 8 } } });
  });

  test.for(['a', 'b'])('[MAP3][MAP4][BUG 59] at once, whoever comes second is told: first %s', (first) => {
    const team = smallTeam({ fields: { doc: map(map(cas(small), { cap: 9 }), { cap: 9 }) } });
    team.ask('c', { doc: { at: { a: { at: { x: { set: 0 }, y: { set: 3 } } } } } });
    const patches: { readonly [agent: string]: JsonObject } = {
      a: patchOf(fromMergePatch(team.space, { doc: { a: null } })),
      b: patchOf(fromMergePatch(team.space, { doc: { a: { x: 8 } } })),
    };
    const second = first === 'a' ? 'b' : 'a';
    expect(codesOf(team.ask(first, patches[first] as JsonObject, 1))).toEqual(['committed']);
    const verdict = team.ask(second, patches[second] as JsonObject, 1);
    if (first === 'a') {
      expect(verdict).toMatchObject({ issues: [{ path: '/doc/a', code: 'gone', by: 'a' }] });
      expect(team.state).toEqual({ doc: {} });
    } else {
      expect(outcomesOf(verdict)).toEqual({ '/doc/a': 'superseded' });
      // What has a change that the drop did not see stays whole.
      expect(team.state).toEqual({ doc: { a: { x: 8, y: 3 } } });
    }
  });

  test('[JDG2][BUG 61] the refusal names the operation that failed, and the one before it has left nothing', () => {
    const team = smallTeam({ fields: { first: cas(text, { start: 'x' }), m: tags } });
    const imported = fromJsonPatch(team.space, [
      { op: 'replace', path: '/first', value: 'y' },
      { op: 'remove', path: '/m/middle' },
    ]);
    expect(faultsOf(imported)).toEqual(['/m/middle gone']);
    const verdict = team.ask('a', { first: { set: 'y' }, middle: { unset: true } });
    expect(verdict).toMatchObject({ kind: 'rejected', issues: [{ path: '/middle', code: 'schema' }] });
    expect(team.state).toEqual({ first: 'x', m: {} });
  });

  test('[JDG13][BUG 5] a merge patch that repeats its view asks for nothing', () => {
    const team = smallTeam({ fields: { a: cas(small, { start: 1 }), b: cas(small, { start: 2 }) } });
    const view = team.space;
    const verdicts = team.round(
      { agent: 'a', patch: patchOf(fromMergePatch(view, { a: 5, b: 2 })) },
      { agent: 'b', patch: withoutEchoes(view, patchOf(fromMergePatch(view, { a: 1, b: 7 }))) },
    );
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(team.state).toEqual({ a: 5, b: 7 });
  });
});
