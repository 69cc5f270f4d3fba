import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withoutEchoes } from './echo.ts';
import { EXCERPT_CHARS_MAX, ISSUES_MAX } from './issue.ts';
import type { Json, JsonObject } from './json.ts';
import { canonical, utf8Bytes } from './json.ts';
import { cas, lww } from './kinds/register.ts';
import { counter, quota } from './kinds/counter.ts';
import { log } from './kinds/log.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { set } from './kinds/set.ts';
import { OPERATIONS_MAX } from './proposal.ts';
import { seal } from './seal.ts';
import { defineState, field } from './state-schema.ts';
import type { Rule, RuleAnswer } from './state-schema.ts';
import { admittedOf, codesOf, outcomesOf, smallTeam } from './testing/index.ts';

const text = z.string().max(20);

describe('judge', () => {
  test('[JDG1] a refusal names all issues at once, each with its place and what to do', () => {
    const team = smallTeam({ fields: { n: quota({ lo: 0, hi: 3, start: 0 }), x: cas(text), s: set(text, { cap: 1 }) } });
    team.ask('a', { x: { set: 'now' } });
    const verdict = team.ask('b', { n: { inc: 9 }, s: { add: ['1', '2'] }, x: { set: 'then' }, zz: { set: 1 } }, 0);
    expect(codesOf(verdict)).toEqual(['bound', 'bound', 'conflict', 'schema']);
    expect(verdict).toMatchObject({ issues: [{ path: '/n' }, { path: '/s' }, { path: '/x' }, { path: '/zz' }] });
    for (const issue of verdict.kind === 'rejected' ? verdict.issues : [])
      expect([issue.rule, issue.hint, issue.recovery].every((part) => part.length > 0)).toBe(true);
    expect(verdict).not.toHaveProperty('retry');
  });

  test('[JDG2] all or nothing: one refused operation refuses the patch', () => {
    const team = smallTeam({ fields: { n: quota({ lo: 0, hi: 3, start: 0 }), s: set(text, { cap: 4 }) } });
    const before = team.space;
    expect(codesOf(team.ask('a', { s: { add: ['ok'] }, n: { inc: -1 } }))).toEqual(['bound']);
    expect(team.space.digests).toEqual(before.digests);
    expect(team.space.cells).toEqual(before.cells);
  });

  test('[JDG3] a base newer than the log, older than the horizon or of another schema is refused', () => {
    const team = smallTeam({ fields: { n: counter() }, horizon: 3 });
    for (let i = 0; i < 6; i += 1) team.ask('a', { n: { inc: 1 } });
    expect(team.ask('b', { n: { inc: 1 } }, 7)).toMatchObject({
      issues: [{ path: '/base', code: 'unknown_base', have: 6, want: 7, recovery: 're-read' }],
    });
    expect(team.revision).toBe(7);
    expect(codesOf(team.ask('b', { n: { inc: 1 } }, 3))).toEqual(['stale_base', 'stale_base']);
    expect(codesOf(team.ask('b', { n: { inc: 1 } }, 5))).toEqual(['committed']);
    expect(team.ask('b', { n: { inc: 1 } }, 5)).toMatchObject({
      issues: [
        { code: 'stale_base', have: 6, want: 5 },
        { path: '/n', code: 'stale_base', have: 7 },
      ],
      retry: { after: 10 },
    });
    const stranger = admittedOf({
      kind: 'proposal',
      v: 1,
      space: 'example',
      agent: 'c',
      incarnation: 1,
      n: 1,
      schema: '0'.repeat(16),
      base: { revision: 0 },
      patch: { n: { inc: 1 } },
    });
    expect(seal(team.space, { term: 1, events: [], proposals: [stranger] }).decided[0]?.verdict).toMatchObject({
      issues: [{ code: 'protocol', recovery: 'stop' }],
    });
  });

  test('[JDG16] a stale base is told with what stands now at the keys, rows, cells and elements that the patch names', () => {
    const fields = {
      boss: field(counter(), { writers: ['lead'] }),
      l: log(text, { keep: 5 }),
      m: map(counter(), { cap: 4 }),
      n: counter(),
      t: records({ title: cas(text), n: counter() }, { cap: 4 }),
      tags: set(text, { cap: 4 }),
    };
    const team = smallTeam({ fields, roles: { lead: { priority: 1 }, agent: { priority: 0 } }, horizon: 1 });
    team.ask('a', { m: { at: { 'a/b': { inc: 2 }, b: { inc: 3 } } }, n: { inc: 7 }, tags: { add: ['x', 'y'] } });
    team.ask('a', { t: { put: { r: { title: { set: 'one' }, n: { inc: 4 } }, s: {} } }, l: { append: ['1', '2', '3', '4'] } });
    for (let i = 0; i < 2; i += 1) team.ask('a', { n: { inc: 1 } });
    const patch = {
      boss: { inc: 1 },
      l: { append: ['5'] },
      m: { at: { 'a/b': { inc: 1 }, c: { inc: 1 } }, drop: ['b'] },
      n: { inc: 'many' },
      t: { patch: { r: { title: { set: 'two' } } }, drop: ['s'], add: [{}] },
      tags: { add: ['y', 'z'] },
      zz: { set: 1 },
    };
    const verdict = team.ask('b', patch, 1);
    const [base, ...aims] = verdict.kind === 'rejected' ? verdict.issues : [];
    expect(base).toMatchObject({ path: '/base', code: 'stale_base', have: 3, want: 1 });
    expect(aims.map(({ path, have }) => [path, have])).toEqual([
      ['/l', ['2', '3', '4']],
      ['/m/b', 3],
      ['/m/a~1b', 2],
      ['/m/c', undefined],
      ['/t/s', { n: 0, title: null }],
      ['/t/r/title', 'one'],
      ['/tags/y', 'y'],
      ['/tags/z', undefined],
    ]);
    expect(aims.every(({ code, rule, recovery }) => `${code} ${rule} ${recovery}` === 'stale_base horizon re-read')).toBe(true);
    expect(verdict).toHaveProperty('retry');
    // What such a verdict shows is bounded, and so is the work for a patch that no view could have been judged with.
    const many = Array.from({ length: 40 }, (_, i) => `k${i}`);
    const wide = team.ask('b', { m: { drop: many } }, 1);
    expect(wide).toMatchObject({ issues: { length: 32, 31: { code: 'stale_base', hint: '10 more issues are not listed.' } } });
    const wider = team.ask('b', { m: { drop: [...many, ...many.map((key) => `${key}-`)] } }, 1);
    expect(codesOf(wider)).toEqual(['stale_base']);
  });

  test('[JDG4] a premise that changed since the view refuses, one that did not does not', () => {
    const team = smallTeam({
      fields: {
        x: cas(text),
        t: records({ title: cas(text), n: counter() }, { cap: 4 }),
        y: counter(),
        m: map(counter(), { cap: 4 }),
      },
    });
    team.ask('a', { x: { set: '1' }, t: { put: { r: { title: { set: 'T' } } } } });
    const relying = (premises: readonly string[], base: number): readonly string[] =>
      codesOf(team.round({ agent: 'b', patch: { y: { inc: 1 } }, premises, base })[0]);
    team.ask('a', { t: { patch: { r: { n: { inc: 1 } } } }, m: { at: { k: { inc: 1 } } } });
    expect(relying(['/x'], 1)).toEqual(['committed']);
    expect(relying(['/t/r/title'], 1)).toEqual(['committed']);
    expect(relying(['/t/r/n'], 1)).toEqual(['premise']);
    expect(relying(['/t/r'], 1)).toEqual(['premise']);
    expect(relying(['/t'], 1)).toEqual(['premise']);
    expect(relying(['/t/other'], 1)).toEqual(['committed']);
    expect(relying(['/m/other'], 1)).toEqual(['committed']);
    expect(relying(['/m/k'], 1)).toEqual(['premise']);
    expect(relying(['/x', '/nothing'], 1)).toEqual(['schema']);
    expect(relying(['not a pointer'], 1)).toEqual(['schema']);
    team.ask('a', { x: { set: '2' } });
    expect(team.round({ agent: 'b', patch: {}, premises: ['/x'], base: 1 })[0]).toMatchObject({
      issues: [{ path: '/x', code: 'premise', by: 'a', recovery: 're-read' }],
    });
  });

  test('[JDG4] a premise on a row or on a cell of it notices that the row was dropped and made again', () => {
    const team = smallTeam({ fields: { t: records({ title: cas(text) }, { cap: 4 }), y: counter() } });
    const relying = (premise: string, base: number): readonly string[] =>
      codesOf(team.round({ agent: 'b', patch: { y: { inc: 1 } }, premises: [premise], base })[0]);
    team.ask('a', { t: { put: { r: {} } } });
    team.ask('a', { t: { drop: ['r'] } });
    expect(relying('/t/r', 1)).toEqual(['premise']);
    expect(relying('/t/r/title', 1)).toEqual(['premise']);
    expect(relying('/t/r', 2)).toEqual(['committed']);
    team.ask('a', { t: { put: { r: {} } } });
    expect(relying('/t/r/title', 1)).toEqual(['premise']);
    expect(relying('/t/r/title', team.revision)).toEqual(['committed']);
  });

  test('[JDG4] own changes do not break an own premise, the changes of others before them do', () => {
    const team = smallTeam({ fields: { n: counter(), y: counter() } });
    team.ask('a', { n: { inc: 1 } }, 0);
    expect(codesOf(team.round({ agent: 'a', patch: { y: { inc: 1 } }, premises: ['/n'], base: 0 })[0])).toEqual(['committed']);
    team.ask('b', { n: { inc: 1 } });
    team.ask('a', { n: { inc: 1 } });
    expect(team.round({ agent: 'a', patch: { y: { inc: 1 } }, premises: ['/n'], base: 0 })[0]).toMatchObject({
      issues: [{ code: 'premise', by: 'b' }],
    });
  });

  test('[JDG5] only the declared roles write a field', () => {
    const team = smallTeam(
      { fields: { x: field(cas(text), { writers: ['lead'] }) }, roles: { lead: { priority: 1 }, agent: { priority: 0 } } },
      ['a:lead', 'b'],
    );
    expect(team.ask('b', { x: { set: 'mine' } })).toMatchObject({
      issues: [{ path: '/x', code: 'forbidden', rule: 'writers', have: 'agent', want: 'lead', recovery: 'stop' }],
    });
    expect(codesOf(team.ask('a', { x: { set: 'mine' } }))).toEqual(['committed']);
  });

  test('[JDG6] a rule that throws, or answers what no rule may, refuses the proposal and stops nothing', () => {
    const answers: { readonly [name: string]: () => unknown } = {
      throws: () => {
        throw new Error('machine-dependent words');
      },
      promises: () => Promise.resolve(true),
      breaks: () => Promise.reject(new Error('late')),
      denies: () => false,
      forgets: () => undefined,
      lists: () => [{ hint: 5 }],
      nests: () => [{ path: '/n', hint: 'bad', have: Number.NaN }],
    };
    for (const [name, answer] of Object.entries(answers)) {
      const rule: Rule<{ readonly n: ReturnType<typeof counter> }> = {
        reads: ['n'],
        check: ({ after }) => (after.n === 0 ? true : (answer() as RuleAnswer)),
      };
      const team = smallTeam(
        defineState({ name: 'x', version: 1, fields: { n: counter() }, invariants: { [name]: rule } }) as unknown as Parameters<
          typeof smallTeam
        >[0],
      );
      const verdict = team.ask('a', { n: { inc: 1 } });
      expect(verdict).toMatchObject({ issues: [{ path: '', code: 'invariant', rule: name, recovery: 'change' }] });
      expect(JSON.stringify(verdict)).not.toContain('machine-dependent');
      expect(team.state).toEqual({ n: 0 });
    }
  });

  test('[JDG1] what a rule says on the newest view is cured by another change, on an older one by reading again', () => {
    const team = smallTeam(
      defineState({
        name: 'x',
        version: 1,
        fields: { n: counter(), m: counter() },
        invariants: { few: { reads: ['n'], check: ({ after }) => after.n < 2 || 'Too many.' } },
      }) as unknown as Parameters<typeof smallTeam>[0],
    );
    team.ask('a', { m: { inc: 1 } });
    expect(team.ask('a', { n: { inc: 2 } })).toMatchObject({ issues: [{ rule: 'few', recovery: 'change' }] });
    expect(team.ask('b', { n: { inc: 2 } }, 1)).toMatchObject({ issues: [{ rule: 'few', recovery: 're-read' }] });
  });

  test('[JDG1] an unknown field is told with the one that was meant, else with all there are', () => {
    const team = smallTeam({ fields: { title: cas(text), points: counter() } });
    const hintOf = (name: string): unknown => {
      const verdict = team.ask('a', { [name]: { set: 'x' } });
      return verdict.kind === 'rejected' && verdict.issues[0]?.hint;
    };
    for (const close of ['Title', 'titles', 'tit']) expect(hintOf(close)).toBe('Did you mean title?');
    expect(hintOf('zz')).toBe('The fields are points, title.');
  });

  test('[JDG7] what a rule is given cannot be changed: one that tries is refused, and the state stays', () => {
    const pair = z.strictObject({ p: z.int().min(0).max(9) });
    const fields = { x: cas(pair, { start: { p: 1 } }), l: log(pair, { keep: 4 }), s: set(pair, { cap: 4 }) };
    type Loose = { x: { p: number }; l: { entries: { p: number }[] }; s: Iterable<{ p: number }> };
    const vandals: readonly ((views: Loose) => void)[] = [
      (views) => (views.x.p = 7),
      (views) => ((views.l.entries[0] as { p: number }).p = 7),
      (views) => (([...views.s][0] as { p: number }).p = 7),
    ];
    for (const [i, vandal] of vandals.entries()) {
      const check = ({ after, touched }: { after: unknown; touched: readonly string[] }): RuleAnswer => {
        if (touched.length > 0) vandal(after as Loose);
        return true;
      };
      const team = smallTeam({ fields, invariants: { vandal: { reads: ['x', 'l', 's'], check } } } as unknown as Parameters<
        typeof smallTeam
      >[0]);
      const patch: JsonObject =
        i === 0 ? { x: { set: { p: 2 } } } : i === 1 ? { l: { append: [{ p: 2 }] } } : { s: { add: [{ p: 2 }] } };
      expect(codesOf(team.ask('a', patch))).toEqual(['invariant']);
      expect(team.state).toEqual({ x: { p: 1 }, l: [], s: [] });
    }
  });

  test('[JDG8] invariants and transitions hold on the merged state, with before and after settled alike', () => {
    const fields = { l: log(text, { keep: 2 }), n: counter() };
    const seen: [number, number][] = [];
    const team = smallTeam({
      fields,
      invariants: { few: { reads: ['n'], check: ({ after }: { after: { n: number } }) => after.n <= 3 || 'n ends at 3' } },
      transitions: {
        watch: {
          reads: ['l'],
          check: ({
            before,
            after,
          }: {
            before: { l: { entries: readonly string[] } };
            after: { l: { entries: readonly string[] } };
          }) => {
            seen.push([before.l.entries.length, after.l.entries.length]);
            return [];
          },
        },
      },
    } as unknown as Parameters<typeof smallTeam>[0]);
    const verdicts = team.round(...['a', 'b', 'c'].map((agent) => ({ agent, patch: { n: { inc: 2 }, l: { append: [agent] } } })));
    expect(verdicts.flatMap(codesOf).sort()).toEqual(['committed', 'invariant', 'invariant']);
    team.round(...['a', 'b', 'c'].map((agent) => ({ agent, patch: { l: { append: ['x', 'y', 'z'] } } })));
    expect(seen.every(([before, after]) => before <= 2 && after <= 2)).toBe(true);
    expect(team.state).toMatchObject({ n: 2 });
  });

  test('[JDG9] a rule hears of the fields, keys and rows that change, and of no others', () => {
    let heard: readonly string[] = [];
    const check = ({ touched }: { touched: readonly string[] }): RuleAnswer => {
      heard = touched;
      return true;
    };
    const team = smallTeam({
      fields: { m: map(map(counter(), { cap: 4 }), { cap: 4 }), t: records({ n: counter() }, { cap: 4 }), x: cas(text) },
      transitions: { hear: { reads: ['m', 't', 'x'], check } },
    } as unknown as Parameters<typeof smallTeam>[0]);
    team.ask('a', { m: { at: { 'k/1': { at: { i: { inc: 1 } } } } }, t: { put: { r: { n: { inc: 1 } } } }, x: { set: 'v' } });
    expect([...heard].sort()).toEqual(['/m', '/m/k~11', '/m/k~11/i', '/t', '/t/r', '/x']);
    team.ask('a', { t: { drop: ['r'] }, x: { set: 'v' } });
    expect(heard).toEqual(['/t/r', '/t']);
    team.ask('b', { t: { add: [{ n: { inc: 1 } }] } });
    expect(heard).toEqual(['/t/b-1-0', '/t']);
  });

  test('[JDG10] a patch holds at most 64 operations; what is beyond is not even tried', () => {
    const team = smallTeam({ fields: { s: set(z.int().min(0).max(99_999), { cap: 99_999 }), n: counter() } });
    const some = (count: number): Json => Array.from({ length: count }, (_, i) => i);
    expect(codesOf(team.ask('a', { s: { add: some(OPERATIONS_MAX + 1) } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { s: { add: some(OPERATIONS_MAX) }, n: { inc: 1 } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { s: { add: some(OPERATIONS_MAX) } }))).toEqual(['committed']);
    expect(team.ask('a', { s: { add: some(9000) } })).toMatchObject({ issues: [{ have: 64, want: 9000 }] });
  });

  test('[JDG11] a verdict is bounded whatever the patch, and says how many issues it leaves out', () => {
    const team = smallTeam({ fields: { m: map(cas(text), { cap: 200 }) } });
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${'k'.repeat(60)}${i}`, { set: 'x' }]));
    team.ask('a', { m: { at: many } });
    const verdict = team.ask('b', { m: { at: Object.fromEntries(Object.keys(many).map((key) => [key, { set: 'y' }])) } }, 0);
    expect(codesOf(verdict)).toEqual(Array.from({ length: ISSUES_MAX }, () => 'conflict'));
    expect(verdict).toMatchObject({ retry: { after: 2 } });
    expect(verdict.kind === 'rejected' && verdict.issues.at(-1)).toMatchObject({
      path: '',
      recovery: 're-read',
      hint: '29 more issues are not listed.',
    });
    // One that no re-reading cures, behind those that are listed: then a retry makes no sense.
    const mixed = team.ask(
      'b',
      { m: { at: Object.fromEntries(Object.keys(many).map((key) => [key, { set: 'y' }])) }, nosuch: { set: 1 } },
      0,
    );
    expect(mixed).not.toHaveProperty('retry');
    expect(mixed.kind === 'rejected' && mixed.issues.at(-1)).toMatchObject({ code: 'schema', recovery: 'change' });
    const deep: Json = Array.from({ length: 18 }).reduce<Json>((inner) => [inner], 'x'.repeat(1000));
    const wild = team.ask('b', {
      m: { at: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, deep])) },
      ['f'.repeat(128)]: deep,
    });
    expect(utf8Bytes(canonical(wild as unknown as Json))).toBeLessThan(ISSUES_MAX * (EXCERPT_CHARS_MAX * 2 + 1200));
  });

  test('[JDG11] a value nested as deep as a message may be is refused like any other', () => {
    const team = smallTeam({ fields: { x: cas(text), t: records({ x: cas(text) }, { cap: 2 }) } });
    const deep = (levels: number): Json => Array.from({ length: levels }).reduce<Json>((inner) => [inner], 1);
    expect(codesOf(team.ask('a', { x: deep(22) }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { set: deep(21) } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { t: { put: { r: { x: { set: deep(18) } } } } }))).toEqual(['schema']);
  });

  test('[JDG12] an empty patch needs an action or a premise', () => {
    const team = smallTeam({ fields: { n: counter() } });
    expect(codesOf(team.ask('a', {}))).toEqual(['schema']);
    expect(codesOf(team.round({ agent: 'a', patch: {}, action: { name: 'wait', args: {} } })[0])).toEqual(['committed']);
    expect(codesOf(team.round({ agent: 'a', patch: {}, premises: ['/n'] })[0])).toEqual(['committed']);
  });

  test('[JDG13] echoes of a register are taken out, the rest stays', () => {
    const team = smallTeam({
      fields: {
        a: cas(z.int().min(0).max(9), { start: 1 }),
        b: cas(z.int().min(0).max(9), { start: 2 }),
        t: records({ n: counter(), x: lww(text) }, { cap: 3 }),
      },
    });
    team.ask('a', { t: { put: { r: { x: { set: 'v' } } } } });
    expect(
      withoutEchoes(team.space, { a: { set: 5 }, b: { set: 2 }, t: { put: { r: { x: { set: 'v' }, n: { inc: 1 } } } } }),
    ).toEqual({ a: { set: 5 }, t: { put: { r: { n: { inc: 1 } } } } });
    expect(withoutEchoes(team.space, { b: { set: 2 }, odd: 1, a: 'odd' })).toEqual({ odd: 1, a: 'odd' });
  });

  test('[JDG15] outcomes tell what was more than a plain merge, by path', () => {
    const team = smallTeam({ fields: { x: lww(text), s: set(text, { cap: 4 }) } });
    expect(outcomesOf(team.ask('a', { x: { set: 'v' }, s: { add: ['1'] } }))).toEqual({});
    expect(outcomesOf(team.ask('a', { x: { set: 'v' }, s: { add: ['1', '2'] } }))).toEqual({
      '/x': 'unchanged',
      '/s/add/0': 'unchanged',
    });
    expect(team.ask('a', { x: { set: 'w' } })).toEqual({ kind: 'committed', revision: 3 });
  });
});
