import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from './json.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { multi } from './kinds/multi.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { defineState } from './state-schema.ts';
import { codesOf, outcomesOf, smallTeam } from './testing/index.ts';
import type { Ask, SmallTeam } from './testing/index.ts';

/** Public reports of changes that meet: deletes, moves, undone writes, mixed states. Numbers are those of the collection. */
const text = z.string().max(40);

/** Every order of the items. */
function ordersOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first, i) => ordersOf(items.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}

/** The asks in one round, and in a round each, in every order, all on the view that `teamOf` leads to. */
function eachWay(
  teamOf: () => SmallTeam,
  asks: readonly Ask[],
  check: (team: SmallTeam, codes: readonly string[]) => void,
): void {
  for (const order of ordersOf(asks)) {
    const together = teamOf();
    check(together, together.round(...order).flatMap(codesOf));
    const apart = teamOf();
    const base = apart.revision;
    check(
      apart,
      order.flatMap((ask) => codesOf(apart.round({ base, ...ask })[0])),
    );
  }
}

describe('public reports: changes that meet', () => {
  test.for(['commit', 'stamp'] as const)(
    '[KLG2][KLG3][BUG 13] in %s order what stood first stays first; only what came at once is put in order',
    (order) => {
      const teamOf = (): SmallTeam => {
        const team = smallTeam({ fields: { log: log(text, { keep: 9, order }) } });
        team.ask('c', { log: { append: ['z'] } });
        return team;
      };
      const seen = new Set<string>();
      const asks = [
        { agent: 'a', patch: { log: { append: ['b'] } } },
        { agent: 'b', patch: { log: { append: ['a'] } } },
      ];
      for (const asked of ordersOf(asks)) {
        const team = teamOf();
        team.round(...asked);
        const [first, ...rest] = team.state['log'] as readonly string[];
        expect([first, rest.toSorted()]).toEqual(['z', ['a', 'b']]);
        seen.add(rest.join());
      }
      expect(seen.size).toBe(1);
    },
  );

  test('[REC2][SET2][BUG 14] two that delete the same agree: the second deletes nothing, and both have their answer', () => {
    const teamOf = (): SmallTeam => {
      const team = smallTeam({
        fields: { rows: records({ t: cas(text) }, { cap: 9 }), keys: map(cas(text), { cap: 9 }), tags: set(text, { cap: 9 }) },
      });
      team.ask('c', { rows: { put: { '1': { t: { set: 'x' } } } }, keys: { at: { '1': { set: 'x' } } }, tags: { add: ['1'] } });
      return team;
    };
    const patch = { rows: { drop: ['1'] }, keys: { drop: ['1'] }, tags: { remove: ['1'] } };
    eachWay(
      teamOf,
      ['a', 'b'].map((agent) => ({ agent, patch })),
      (team, codes) => {
        expect(codes).toEqual(['committed', 'committed']);
        expect(team.state).toEqual({ rows: {}, keys: {}, tags: [] });
      },
    );
    const team = teamOf();
    team.ask('a', patch, 1);
    expect(outcomesOf(team.ask('b', patch, 1))).toEqual({
      '/keys/1': 'unchanged',
      '/rows/1': 'unchanged',
      '/tags/remove/0': 'unchanged',
    });
  });

  test('[MCH1][MCH3][BUG 49] a task that is completed and failed at once ends in one of both; there is no way out of it', () => {
    const s = machine({ start: 'working', moves: { working: ['completed', 'failed'], completed: [], failed: [] } });
    const outcome = cas(text);
    eachWay(
      () => smallTeam({ fields: { s, outcome } }),
      [
        { agent: 'a', patch: { s: { to: 'completed' }, outcome: { set: 'completed' } } },
        { agent: 'b', patch: { s: { to: 'failed' }, outcome: { set: 'failed' } } },
      ],
      (team, codes) => {
        expect(codes.toSorted().slice(0, 1)).toEqual(['committed']);
        expect(codes).toContain('transition');
        expect(team.state['outcome']).toBe(team.state['s']);
        expect(codesOf(team.ask('c', { s: { to: 'working' } }))).toEqual(['transition']);
      },
    );
  });

  test('[MAP2][BUG 62] two that create the same list at once fill one list', () => {
    const results = new Set<string>();
    const patch = (entry: string): JsonObject => ({ doc: { at: { list: { append: [entry] } } } });
    for (const asked of ordersOf([
      { agent: 'a', patch: patch('t1') },
      { agent: 'b', patch: patch('t2') },
    ])) {
      const team = smallTeam({ fields: { doc: map(log(text, { keep: 9 }), { cap: 9 }) } });
      expect(team.round(...asked).flatMap(codesOf)).toEqual(['committed', 'committed']);
      results.add(JSON.stringify(team.state));
      expect((team.state['doc'] as { list: string[] }).list.toSorted()).toEqual(['t1', 't2']);
    }
    expect(results.size).toBe(1);
  });

  const suggestion = defineState({
    name: 'suggestion',
    version: 1,
    fields: { st: machine({ start: 'open', moves: { open: ['accepted'], accepted: [] } }), text: cas(text, { start: 'q' }) },
    roles: { human: { priority: 1 }, agent: { priority: 0 } },
    transitions: {
      acceptedStays: {
        reads: ['st', 'text'],
        check: ({ before, after }) => before.st === 'open' || before.text === after.text || 'What was accepted is not edited.',
      },
    },
  });

  test('[JDG4][JDG8][BUG 64] what a person accepts is what it had seen, or it is asked again; no half of both', () => {
    const codesSeen = new Set<string>();
    eachWay(
      () => smallTeam(suggestion, ['h:human', 'a']),
      [
        { agent: 'h', patch: { st: { to: 'accepted' } }, premises: ['/text'] },
        { agent: 'a', patch: { text: { set: 'edited' } } },
      ],
      (team, codes) => {
        codesSeen.add(codes.find((code) => code !== 'committed') ?? 'both');
        expect([
          { st: 'accepted', text: 'q' },
          { st: 'open', text: 'edited' },
        ]).toContainEqual(team.state);
      },
    );
    expect([...codesSeen].toSorted()).toEqual(['premise', 'transition']);
  });

  test('[LWW1][MLT1][BUG 65] taking back the write that won is a write of what was there; nothing goes missing', () => {
    const digit = z.int().min(0).max(9);
    const team = smallTeam({ fields: { x: lww(digit), y: multi(digit) } });
    const write = (value: number): JsonObject => ({ x: { set: value }, y: { set: value } });
    team.ask('c', write(1));
    team.round({ agent: 'a', patch: write(2) }, { agent: 'b', patch: write(3) });
    const { x, y } = team.state as { x: number; y: { value: number; rivals: number[] } };
    expect([2, 3]).toContain(x);
    expect(new Set([y.value, ...y.rivals])).toEqual(new Set([2, 3]));
    expect(codesOf(team.ask(x === 2 ? 'a' : 'b', write(1)))).toEqual(['committed']);
    expect(team.state).toEqual({ x: 1, y: { value: 1, rivals: [] } });
  });

  test('[BUG 67] an edit and a delete at once: by the rule of the field the delete or the edit stands, and the other is told', () => {
    const fields = { rows: records({ t: cas(text) }, { cap: 9 }), keys: map(cas(text), { cap: 9 }) };
    const teamOf = (): SmallTeam => {
      const team = smallTeam({ fields });
      team.ask('c', { rows: { put: { '1': { t: { set: 'a' } } } }, keys: { at: { '1': { set: 'a' } } } });
      return team;
    };
    // A row that was dropped is gone; one that was edited is not dropped unseen.
    const rowDropped = teamOf();
    rowDropped.ask('a', { rows: { drop: ['1'] } }, 1);
    expect(rowDropped.ask('b', { rows: { patch: { '1': { t: { set: 'b' } } } } }, 1)).toMatchObject({
      issues: [{ path: '/rows/1', code: 'gone', by: 'a' }],
    });
    const rowEdited = teamOf();
    rowEdited.ask('b', { rows: { patch: { '1': { t: { set: 'b' } } } } }, 1);
    expect(rowEdited.ask('a', { rows: { drop: ['1'] } }, 1)).toMatchObject({
      issues: [{ path: '/rows/1', code: 'conflict', have: { t: 'b' }, by: 'b' }],
    });
    // A key stays with an edit that its drop has not seen, and the dropper is told by whom.
    const keyDropped = teamOf();
    keyDropped.ask('a', { keys: { drop: ['1'] } }, 1);
    expect(keyDropped.ask('b', { keys: { at: { '1': { set: 'b' } } } }, 1)).toMatchObject({
      issues: [{ path: '/keys/1', code: 'gone', by: 'a' }],
    });
    const keyEdited = teamOf();
    keyEdited.ask('b', { keys: { at: { '1': { set: 'b' } } } }, 1);
    expect(keyEdited.ask('a', { keys: { drop: ['1'] } }, 1)).toMatchObject({
      kind: 'committed',
      outcomes: { '/keys/1': { kind: 'superseded', by: 'b', value: 'b' } },
    });
    expect(
      [rowDropped, rowEdited, keyDropped, keyEdited].map(({ state }) => [
        Object.keys(state['rows'] as object),
        Object.keys(state['keys'] as object),
      ]),
    ).toEqual([
      [[], ['1']],
      [['1'], ['1']],
      [['1'], []],
      [['1'], ['1']],
    ]);
  });

  test('[REC1][BUG 68] a move is a change of one cell: the item stands once, renamed, in one of the two places', () => {
    const place = lww(z.int().min(0).max(99));
    eachWay(
      () => {
        const team = smallTeam({ fields: { order: records({ name: cas(text), place }, { cap: 9 }) } });
        const rows = ['x', 'y', 'z'].map((id, i) => [id, { name: { set: id }, place: { set: i * 10 } }]);
        team.ask('c', { order: { put: Object.fromEntries(rows) as JsonObject } });
        return team;
      },
      [
        { agent: 'a', patch: { order: { patch: { x: { place: { set: 99 } } } } } },
        { agent: 'b', patch: { order: { patch: { x: { place: { set: 15 } } } } } },
        { agent: 'c', patch: { order: { patch: { x: { name: { set: 'X' } } } } } },
      ],
      (team, codes) => {
        expect(codes).toEqual(['committed', 'committed', 'committed']);
        const { x, ...others } = team.state['order'] as { x: { name: string; place: number } };
        expect([x.name, [15, 99].includes(x.place), Object.keys(others)]).toEqual(['X', true, ['y', 'z']]);
      },
    );
  });

  test('[T2][LWW1][BUG 71][SURPRISE 10] three writes to two keys give one state in all six orders, together and one by one', () => {
    const states = new Set<string>();
    eachWay(
      () => smallTeam({ fields: { m: map(lww(text), { cap: 9 }) } }),
      [
        { agent: 'a', patch: { m: { at: { x: { set: 'a' } } } } },
        { agent: 'b', patch: { m: { at: { y: { set: 'b' } } } } },
        { agent: 'c', patch: { m: { at: { x: { set: 'c' } } } } },
      ],
      (team, codes) => {
        expect(codes).toEqual(['committed', 'committed', 'committed']);
        states.add(JSON.stringify(team.state));
      },
    );
    expect([...states]).toEqual([expect.stringMatching(/^\{"m":\{"x":"[ac]","y":"b"\}\}$/)]);
  });
});
