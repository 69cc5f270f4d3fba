import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withoutEchoes } from './echo.ts';
import { fromMergePatch } from './imports.ts';
import type { Json, JsonObject } from './json.ts';
import { claim } from './kinds/claim.ts';
import { counter, quota } from './kinds/counter.ts';
import { derived } from './kinds/derived.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { multi } from './kinds/multi.ts';
import { owned } from './kinds/owned.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { removeWins } from './kinds/remove-wins.ts';
import { set } from './kinds/set.ts';
import { viewsOfSpace } from './projection.ts';
import { codesOf, outcomesOf, smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';

/** Known surprises of systems that merge, as far as one round or two show them. Numbers are those of the collection. */
const text = z.string().max(40);

describe('known surprises: values', () => {
  test('[CAS1][SURPRISE 2] two writes to a value without a merge rule are a commit and an addressed refusal, never an exception of the round', () => {
    const team = smallTeam({ fields: { x: cas(text), y: cas(text) } });
    const verdicts = team.round(
      { agent: 'a', patch: { x: { set: 'A' } } },
      { agent: 'b', patch: { x: { set: 'B' } } },
      { agent: 'c', patch: { y: { set: 'C' } } },
    );
    const loser = verdicts.findIndex(({ kind }) => kind === 'rejected');
    expect(verdicts.flatMap(codesOf).toSorted()).toEqual(['committed', 'committed', 'conflict']);
    expect(verdicts[loser]).toMatchObject({
      issues: [{ path: '/x', rule: 'cas', by: loser === 0 ? 'b' : 'a', recovery: 're-read' }],
    });
    expect(team.state).toEqual({ x: loser === 0 ? 'B' : 'A', y: 'C' });
  });

  test('[LWW1][LWW2][SURPRISE 4] where the last one wins, nobody loses without a word', () => {
    const team = smallTeam({ fields: { x: lww(text) } });
    const patches = ['a', 'b', 'c'].map((agent) => ({ agent, patch: { x: { set: agent } } }));
    const verdicts = team.round(...patches);
    const told = verdicts.map((verdict) => (verdict.kind === 'committed' ? verdict.outcomes?.['/x'] : undefined));
    const silent = told.flatMap((outcome, i) => (outcome === undefined ? [i] : []));
    // One at most: the first to be folded, if it won, or was replaced by one that was told over whom.
    expect(silent.length).toBeLessThanOrEqual(1);
    const winner = team.state['x'] as string;
    for (const [i, outcome] of told.entries()) {
      const agent = patches[i]?.agent;
      const replaced = told.some((other) => other?.kind === 'merged' && other.over?.agent === agent);
      expect(agent === winner || replaced || (outcome?.kind === 'superseded' && outcome.by !== agent)).toBe(true);
    }
  });

  test('[CNT2][SURPRISE 15] a counter is never set: not by a verb, not by a foreign patch', () => {
    const team = smallTeam({ fields: { n: counter() } });
    team.round({ agent: 'a', patch: { n: { inc: 5 } } }, { agent: 'b', patch: { n: { inc: 7 } } });
    expect(codesOf(team.ask('a', { n: { set: 7 } }))).toEqual(['schema']);
    expect(fromMergePatch(team.space, { n: 7 })).toMatchObject({
      ok: false,
      issues: [{ path: '/n', hint: expect.stringContaining('inc') as string }],
    });
    expect(team.state).toEqual({ n: 12 });
  });

  test('[CNT2][QTA1][SURPRISE 22] a bounded number goes up and down by one verb, and both bounds refuse alike', () => {
    const team = smallTeam({ fields: { n: quota({ lo: 0, hi: 10, start: 5 }) } });
    for (const verb of ['dec', 'decrement', 'set', 'reset'])
      expect(codesOf(team.ask('a', { n: { [verb]: 1 } }))).toEqual(['schema']);
    for (const [inc, want] of [
      [6, 11],
      [-6, -1],
    ] as const) {
      expect(team.ask('a', { n: { inc } })).toMatchObject({
        issues: [{ path: '/n', code: 'bound', hint: 'There is room for -5 to 5 now.' }],
      });
      expect(want).not.toBe(team.state['n']);
    }
    expect(codesOf(team.ask('a', { n: { inc: 5 } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { n: { inc: -10 } }))).toEqual(['committed']);
    expect(team.state).toEqual({ n: 0 });
  });

  test('[CNT1][SURPRISE 34] a hot counter has no conflicts: 64 agents on stale views, ten times over', () => {
    const agents = Array.from({ length: 64 }, (_, i) => `w${i}`);
    const team = smallTeam({ fields: { n: counter(), by: map(counter(), { cap: 4 }) } }, agents);
    for (let round = 0; round < 10; round += 1) {
      const asks = agents.map((agent) => ({ agent, patch: { n: { inc: 1 }, by: { at: { hot: { inc: 2 } } } }, base: 0 }));
      expect(new Set(team.round(...asks).flatMap(codesOf))).toEqual(new Set(['committed']));
    }
    expect(team.state).toEqual({ n: 640, by: { hot: 1_280 } });
  });

  test('[MAP1][SURPRISE 36] two agents that write what is theirs alone are never refused; on one value for both every second one is', () => {
    const team = smallTeam({ fields: { own: map(cas(text), { cap: 9 }), whole: cas(text) } });
    const refused = { own: 0, whole: 0 };
    for (let round = 0; round < 20; round += 1) {
      const view = team.revision;
      for (const field of ['own', 'whole'] as const) {
        for (const agent of ['a', 'b']) {
          const write = { set: `${agent}${round}` };
          const verdict = team.ask(agent, { [field]: field === 'own' ? { at: { [agent]: write } } : write }, view);
          if (verdict.kind === 'rejected') refused[field] += 1;
        }
      }
    }
    expect(refused).toEqual({ own: 0, whole: 20 });
  });

  test('[CAS2][CAS4][JDG13][SURPRISE 27] absent, null and two values, from each of them, at once: equal ones agree, others conflict, beside what does not', () => {
    const nullable = z.string().max(9).nullable();
    const verbsOf = (value: Json | undefined): JsonObject => (value === undefined ? { unset: true } : { set: value });
    const values = [undefined, null, 'one', 'two'];
    for (const from of values)
      for (const one of values)
        for (const other of values) {
          const team = smallTeam({ fields: { x: cas(nullable), beside: set(text, { cap: 3 }) } });
          team.ask('c', { x: verbsOf(from), beside: { add: ['c'] } });
          const asks = [one, other].map((value, i) => ({
            agent: ['a', 'b'][i] as string,
            patch: withoutEchoes(team.space, { x: verbsOf(value), beside: { add: [String(i)] } }),
          }));
          const isConflict = one !== other && one !== from && other !== from;
          const told = `from ${String(from)}: ${String(one)} and ${String(other)}`;
          const codes = team.round(...asks).flatMap(codesOf);
          expect(codes.toSorted(), told).toEqual(['committed', isConflict ? 'conflict' : 'committed']);
          const stands = viewsOfSpace(team.space)['x'];
          expect(stands, told).toBe(isConflict ? [one, other][codes.indexOf('committed')] : one === from ? other : one);
          expect(team.state['beside'], told).toHaveLength(isConflict ? 2 : 3);
        }
  });
});

describe('known surprises: deletes and lives', () => {
  test('[MAP4][SURPRISE 6] a revert is a write: of a value that was overwritten meanwhile it is refused, below a dropped key it is gone', () => {
    const team = smallTeam({ fields: { x: cas(text), m: map(map(cas(text), { cap: 4 }), { cap: 4 }) } });
    const write = (value: string): JsonObject => ({ x: { set: value }, m: { at: { k: { at: { l: { set: value } } } } } });
    team.ask('a', write('before'));
    team.ask('a', write('mine'));
    const view = team.revision;
    team.ask('b', { x: { set: 'theirs' }, m: { drop: ['k'] } });
    expect(codesOf(team.ask('a', write('before'), view)).toSorted()).toEqual(['conflict', 'gone']);
    expect(team.state).toEqual({ x: 'theirs', m: {} });
    expect(codesOf(team.ask('a', write('before')))).toEqual(['committed']);
    expect(team.state).toEqual({ x: 'before', m: { k: { l: 'before' } } });
  });

  test.for(['drop first', 'edit first'] as const)(
    '[MAP3][MAP4][SURPRISE 14] %s: unrelated keys merge, an edit below a drop throws nothing and is told',
    (order) => {
      const team = smallTeam({ fields: { m: map(map(cas(text), { cap: 4 }), { cap: 4 }) } });
      team.ask('c', { m: { at: { parent: { at: { child: { set: 'old' } } }, other: { at: { child: { set: 'old' } } } } } });
      const drop = (): Json => team.ask('a', { m: { drop: ['parent'] } }, 1) as unknown as Json;
      const edit = (): Json => team.ask('b', { m: { at: { parent: { at: { child: { set: 'new' } } } } } }, 1) as unknown as Json;
      const [first, second] = order === 'drop first' ? [drop(), edit()] : [edit(), drop()];
      expect(codesOf(team.ask('c', { m: { at: { other: { at: { child: { set: 'new' } } } } } }, 1))).toEqual(['committed']);
      expect(first).toMatchObject({ kind: 'committed' });
      expect(second).toMatchObject(
        order === 'drop first'
          ? { kind: 'rejected', issues: [{ path: '/m/parent', code: 'gone', by: 'a' }] }
          : { kind: 'committed', outcomes: { '/m/parent': { kind: 'superseded', by: 'b' } } },
      );
      expect(team.state).toEqual({
        m: { other: { child: 'new' }, ...(order === 'drop first' ? {} : { parent: { child: 'new' } }) },
      });
    },
  );

  test('[MAP2][REC1][SURPRISE 16] containers that are created at once under one name are one container', () => {
    const team = smallTeam({
      fields: {
        m: map(map(map(counter(), { cap: 4 }), { cap: 4 }), { cap: 4 }),
        r: records({ n: counter(), t: set(text, { cap: 4 }) }, { cap: 4 }),
      },
    });
    const verdicts = team.round(
      ...['a', 'b'].map((agent) => ({
        agent,
        patch: {
          m: { at: { k: { at: { l: { at: { [agent]: { inc: 1 }, both: { inc: 1 } } } } } } },
          r: { put: { row: { n: { inc: 1 }, t: { add: [agent] } } } },
        },
      })),
    );
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(team.state).toEqual({ m: { k: { l: { a: 1, b: 1, both: 2 } } }, r: { row: { n: 2, t: ['a', 'b'] } } });
  });

  test('[OWN2][OWN3][OWN4][SURPRISE 18] a co-owner that leaves takes nothing away, and one that stays does not keep the other from leaving', () => {
    const team = smallTeam({ fields: { x: owned(text) } });
    team.ask('a', { x: { set: 'v' } });
    team.ask('b', { x: { set: 'v' } });
    expect(codesOf(team.ask('a', { x: { set: 'w' } }))).toEqual(['not_owner']);
    expect(codesOf(team.ask('a', { x: { release: true } }))).toEqual(['committed']);
    expect(team.state).toEqual({ x: { value: 'v', owners: ['b'] } });
    expect(codesOf(team.ask('b', { x: { set: 'w' } }))).toEqual(['committed']);
    team.ask('b', { x: { release: true } });
    expect(team.state).toEqual({ x: { value: null, owners: [] } });
  });

  test('[REC7][OWN7][SURPRISE 18] an id stands once in a patch; null, an empty object and nothing are three values', () => {
    const team = smallTeam({
      fields: { rows: records({ t: cas(text) }, { cap: 4 }), x: owned(z.strictObject({}).nullable()) },
    });
    expect(codesOf(team.ask('a', { rows: { put: { r: {} }, patch: { r: { t: { set: 'x' } } } } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { rows: { put: { r: {} }, drop: ['r'] } }))).toEqual(['schema']);
    const values = [{ set: null }, { set: {} }, { release: true }].map((verbs) => {
      team.ask('a', { x: verbs });
      const { value, owners } = viewsOfSpace(team.space)['x'] as { value: unknown; owners: readonly string[] };
      return [value, owners.length];
    });
    expect(values).toEqual([
      [null, 1],
      [{}, 1],
      [undefined, 0],
    ]);
  });

  test('[MAP4][REC2][SURPRISE 19] a counter that was dropped begins again, and no increment that saw its former life brings it back', () => {
    const team = smallTeam({ fields: { m: map(counter(), { cap: 4 }), r: records({ n: counter() }, { cap: 4 }) } });
    const inc = (by: number): JsonObject => ({ m: { at: { k: { inc: by } } }, r: { put: { k: { n: { inc: by } } } } });
    team.ask('a', inc(5));
    team.ask('b', { m: { drop: ['k'] }, r: { drop: ['k'] } });
    expect(codesOf(team.ask('c', inc(100), 1))).toEqual(['gone', 'gone']);
    team.ask('b', inc(1));
    expect(codesOf(team.ask('c', { r: { put: { k: { n: { inc: 100 } } } } }, 1))).toEqual(['gone']);
    expect(team.state).toEqual({ m: { k: 1 }, r: { k: { n: 1 } } });
  });

  test('[RMW4][SURPRISE 19] a remove of what has not come yet is not forgotten: the add that it did not see finds it', () => {
    const team = smallTeam({ fields: { s: removeWins(text, { cap: 4 }) } });
    team.ask('a', { s: { remove: ['x'] } }, 0);
    expect(outcomesOf(team.ask('b', { s: { add: ['x'] } }, 0))).toEqual({ '/s/add/0': 'superseded' });
    expect(team.state).toEqual({ s: [] });
  });

  test('[LWW1][SURPRISE 19] a value below a key that was made anew does not go back in time', () => {
    const team = smallTeam({ fields: { m: map(lww(text), { cap: 4 }) } });
    const write = (value: string): JsonObject => ({ m: { at: { k: { set: value } } } });
    team.ask('a', write('first life'));
    team.ask('b', { m: { drop: ['k'] } });
    team.ask('b', write('second life'));
    team.ask('c', write('stale'), 1);
    expect(team.state).toEqual({ m: { k: 'second life' } });
  });

  test('[SET1][SURPRISE 20] an add that a remove has not seen survives it, in either order', () => {
    for (const isAddFirst of [true, false]) {
      const team = smallTeam({ fields: { s: set(text, { cap: 4 }) } });
      team.ask('c', { s: { add: ['x'] } });
      const add = (): unknown => team.ask('a', { s: { add: ['x'] } }, 1);
      const remove = (): unknown => team.ask('b', { s: { remove: ['x'] } }, 1);
      for (const one of isAddFirst ? [add, remove] : [remove, add]) one();
      expect(team.state).toEqual({ s: ['x'] });
    }
  });

  test('[REC2][SURPRISE 28] what one agent changes and then drops does not come back, and a change that comes late changes nothing', () => {
    const team = smallTeam({ fields: { rows: records({ t: cas(text), n: counter() }, { cap: 4 }) } });
    team.ask('c', { rows: { put: { r: { t: { set: 'v' }, n: { inc: 1 } } } } });
    const view = team.revision;
    const change = { rows: { patch: { r: { n: { inc: 1 } } } } };
    expect(team.round({ agent: 'a', patch: change }, { agent: 'a', patch: { rows: { drop: ['r'] } } }).flatMap(codesOf)).toEqual([
      'committed',
      'committed',
    ]);
    expect(codesOf(team.ask('b', change, view))).toEqual(['gone']);
    expect(codesOf(team.ask('b', { rows: { put: { r: { n: { inc: 1 } } } } }, view))).toEqual(['gone']);
    expect(team.state).toEqual({ rows: {} });
    // Made anew the row has all its cells, from their start.
    team.ask('b', { rows: { put: { r: { n: { inc: 1 } } } } });
    expect(team.state).toEqual({ rows: { r: { t: null, n: 1 } } });
  });

  test('[EXP4][EXP5][SURPRISE 28] what ends by itself is judged as a change is: it breaks no invariant, and what is computed follows', () => {
    const team = smallTeam({
      fields: {
        lead: claim({ leaseMs: 100 }),
        phase: machine({ start: 'idle', moves: { idle: ['running'], running: ['idle'] } }),
        shown: derived(text, { from: { lead: claim({ leaseMs: 100 }) }, compute: (views) => views.lead.holder ?? 'nobody' }),
      },
      invariants: {
        led: {
          reads: ['lead', 'phase'],
          check: ({ after }) => after.phase === 'idle' || after.lead.holder !== undefined || 'Nobody leads.',
        },
      },
    });
    team.ask('a', { lead: { claim: true }, phase: { to: 'running' } });
    const end = { kind: 'expire', path: '/lead', token: 4096, cause: 'lease' } as const;
    expect(team.events(end).events).toEqual([]);
    expect(team.state).toMatchObject({ lead: { holder: 'a' }, shown: 'a' });
    team.ask('b', { phase: { to: 'idle' } });
    expect(team.events(end).events).toEqual([end]);
    expect(team.state).toMatchObject({ lead: { holder: null }, shown: 'nobody' });
  });

  test('[T7][SURPRISE 29] a refusal is a message to its author: nothing is repaired, and nobody else sees a change', () => {
    const team = smallTeam({ fields: { x: cas(text, { start: 'v' }) } });
    const before = team.space.digests;
    expect(team.ask('a', { x: { set: 5 } })).toMatchObject({ kind: 'rejected', issues: [{ path: '/x', want: 5 }] });
    expect(team.space.digests).toEqual(before);
    expect(codesOf(team.ask('b', { x: { set: 'w' } }, 0))).toEqual(['committed']);
  });

  test('[REC2][REC3][SURPRISE 30] a row and its cells have one life: no cell of a former life reaches the next', () => {
    const results = [0, 1, 2].map((at) => {
      const team = smallTeam({ fields: { rows: records({ t: cas(text), n: counter() }, { cap: 4 }) } });
      team.ask('c', { rows: { put: { r: { t: { set: 'v' } } } } });
      const steps = [
        (): unknown => team.ask('a', { rows: { drop: ['r'] } }),
        (): unknown => team.ask('a', { rows: { put: { r: { n: { inc: 1 } } } } }),
      ];
      const cell = (): unknown => codesOf(team.ask('b', { rows: { patch: { r: { t: { set: 'late' } } } } }, 1))[0];
      const told = [...steps.slice(0, at), cell, ...steps.slice(at)].map((step) => step());
      return [told[at], team.state['rows']];
    });
    expect(results).toEqual([
      ['committed', { r: { t: null, n: 1 } }],
      ['gone', { r: { t: null, n: 1 } }],
      ['gone', { r: { t: null, n: 1 } }],
    ]);
  });

  test('[MLT2][SURPRISE 12] who is told that values contend finds them in the state, and nobody else', () => {
    const team = smallTeam({ fields: { x: multi(text) } });
    const contested = (): boolean => (team.schema.kinds[0]?.contested?.(team.space.cells[0], '/x') ?? []).length > 0;
    const rivals = (of: SmallTeam): number => (of.state['x'] as { rivals: readonly string[] }).rivals.length;
    team.ask('a', { x: { set: 'one' } });
    expect([contested(), rivals(team)]).toEqual([false, 0]);
    expect(outcomesOf(team.ask('b', { x: { set: 'two' } }, 0))).toEqual({ '/x': 'contested' });
    expect([contested(), rivals(team)]).toEqual([true, 1]);
    expect(outcomesOf(team.ask('c', { x: { set: 'three' } }))).toEqual({});
    expect([contested(), rivals(team)]).toEqual([false, 0]);
  });
});
