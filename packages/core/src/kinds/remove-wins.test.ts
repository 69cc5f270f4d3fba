import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SmallTeam } from '../testing/index.ts';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import type { Trie } from '../trie.ts';
import { map } from './map.ts';
import { records } from './records.ts';
import { removeWins } from './remove-wins.ts';

const keys = removeWins(z.string().max(10), { cap: 3 });
const team = (options: { readonly horizon?: number } = {}): SmallTeam => smallTeam({ fields: { s: keys }, ...options });
type Remembered = { readonly graves: { readonly young: Trie<unknown>; readonly old: Trie<unknown>; readonly floor: number } };
const gravesOf = (of: SmallTeam): Remembered['graves'] => (of.space.cells[0] as Remembered).graves;

describe('remove-wins', () => {
  test('[RMW1] a remove beats the adds that have not seen it, whichever comes first', () => {
    const addFirst = team();
    addFirst.ask('a', { s: { add: ['x'] } }, 0);
    addFirst.ask('b', { s: { remove: ['x'] } }, 0);
    expect(addFirst.state).toEqual({ s: [] });
    const removeFirst = team();
    removeFirst.ask('b', { s: { remove: ['x'] } }, 0);
    removeFirst.ask('a', { s: { add: ['x'] } }, 0);
    expect(removeFirst.state).toEqual({ s: [] });
    const atOnce = team();
    atOnce.round({ agent: 'a', patch: { s: { add: ['x', 'y'] } } }, { agent: 'b', patch: { s: { remove: ['x'] } } });
    expect(atOnce.state).toEqual({ s: ['y'] });
  });

  test('[RMW2] an add that meets the remove is told by whom it is superseded; a remove that meets the add, over whom', () => {
    const late = team();
    late.ask('b', { s: { remove: ['x'] } }, 0);
    expect(late.ask('a', { s: { add: ['y', 'x'] } }, 0)).toMatchObject({
      kind: 'committed',
      outcomes: { '/s/add/1': { kind: 'superseded', by: 'b', value: null } },
    });
    expect(late.ask('c', { s: { remove: ['y'] } }, 1)).toMatchObject({
      outcomes: { '/s/remove/0': { kind: 'merged', over: { agent: 'a', n: 1 } } },
    });
    expect(outcomesOf(late.ask('c', { s: { remove: ['y'] } }))).toEqual({});
  });

  test('[RMW3] an add that has seen every remove makes the value present; one that has not does not, and takes nothing back', () => {
    const s = team();
    s.ask('a', { s: { remove: ['x'] } }, 0);
    s.ask('b', { s: { remove: ['x'] } }, 0);
    expect(outcomesOf(s.ask('c', { s: { add: ['x'] } }, 1))).toEqual({ '/s/add/0': 'superseded' });
    expect(s.state).toEqual({ s: [] });
    expect(outcomesOf(s.ask('c', { s: { add: ['x'] } }, 2))).toEqual({});
    expect(outcomesOf(s.ask('a', { s: { add: ['x'] } }, 1))).toEqual({ '/s/add/0': 'unchanged' });
    expect(s.state).toEqual({ s: ['x'] });
    s.ask('b', { s: { remove: ['x'] } });
    expect(outcomesOf(s.ask('b', { s: { add: ['x'] } }, 1))).toEqual({});
    expect(s.state).toEqual({ s: ['x'] });
  });

  test('[RMW3] removes stay remembered while the value stands again', () => {
    const s = team();
    s.ask('a', { s: { remove: ['x'] } }, 0);
    s.ask('b', { s: { add: ['x'] } });
    s.ask('c', { s: { remove: ['x'] } }, 0);
    expect(outcomesOf(s.ask('c', { s: { add: ['x'] } }, 0))).toEqual({ '/s/add/0': 'superseded' });
    expect(outcomesOf(s.ask('c', { s: { add: ['x'] } }, 1))).toEqual({});
    expect(s.state).toEqual({ s: ['x'] });
  });

  test('[RMW4] a remove of what is not there is remembered, and what it is about is a change', () => {
    const s = team();
    expect(outcomesOf(s.ask('a', { s: { remove: ['x'] } }))).toEqual({});
    expect(codesOf(s.round({ agent: 'b', patch: {}, premises: ['/s'], base: 0 })[0])).toEqual(['premise']);
    const m = smallTeam({ fields: { m: map(keys, { cap: 2 }) } });
    m.ask('a', { m: { at: { k: { add: ['y'] } } } });
    m.ask('a', { m: { at: { k: { remove: ['x'] } } } });
    expect(outcomesOf(m.ask('b', { m: { drop: ['k'] } }, 1))).toEqual({ '/m/k': 'superseded' });
  });

  test('[RMW5] a remove is forgotten when no view can predate it', () => {
    const s = team({ horizon: 4 });
    for (let i = 0; i < 30; i += 1) s.ask('a', { s: { remove: [`k${i}`] } });
    expect(gravesOf(s).young.size + gravesOf(s).old.size).toBeLessThanOrEqual(2 * (4 + 1));
    expect(gravesOf(s).floor).toBe(0);
    expect(outcomesOf(s.ask('b', { s: { add: ['k0'] } }, s.revision - 4))).toEqual({});
  });

  test('[RMW5] removes of one value by many agents are forgotten alike, and those of one agent are one', () => {
    const s = team({ horizon: 3 });
    const held = (): number => ((s.schema.kinds[0]?.encode(s.space.cells[0]) ?? '').match(/\["[abc]",\d+,\d+\]/g) ?? []).length;
    for (let i = 0; i < 30; i += 1) {
      s.ask(['a', 'b', 'c'][i % 3] as string, { s: { remove: ['x'] } });
      expect(held()).toBeLessThanOrEqual(3 + 1 + 3);
    }
    const one = team();
    for (let i = 0; i < 9; i += 1) one.ask('a', { s: { remove: ['x'] } }, 0);
    expect(one.schema.kinds[0]?.encode(one.space.cells[0])).toContain('"young":{"\\"x\\"":[["a",9,9]]}');
  });

  test('[RMW5] of more removes than are remembered some are forgotten early; an older view is refused where one might matter', () => {
    const many = smallTeam({ fields: { s: removeWins(z.int().min(0).max(99_999), { cap: 3 }) } });
    many.ask('b', { s: { add: [7] } });
    for (let i = 0; i < 4096; i += 64) many.ask('a', { s: { remove: Array.from({ length: 64 }, (_, j) => 1000 + i + j) } });
    const { floor } = gravesOf(many);
    expect(floor).toBeGreaterThan(0);
    expect(many.ask('c', { s: { add: [5] } }, floor - 1)).toMatchObject({
      issues: [{ path: '/s/add/0', code: 'conflict', want: 5, recovery: 're-read' }],
    });
    expect(outcomesOf(many.ask('c', { s: { add: [7] } }, floor - 1))).toEqual({ '/s/add/0': 'unchanged' });
    expect(outcomesOf(many.ask('c', { s: { add: [1000 + 4095] } }, floor))).toEqual({ '/s/add/0': 'superseded' });
    expect(codesOf(many.ask('c', { s: { add: [5] } }, floor))).toEqual(['committed']);
    expect(many.state).toEqual({ s: [5, 7] });
  });

  test('[RMW5] whatever one agent removes in every round, a view of the newest revision is not too old', () => {
    const many = smallTeam({ fields: { s: removeWins(z.int().min(0).max(999_999), { cap: 9 }) } });
    let value = 1000;
    for (let round = 0; round < 4; round += 1) {
      const flood = Array.from({ length: 55 }, () => {
        value += 64;
        return { agent: 'a', patch: { s: { remove: Array.from({ length: 64 }, (_, i) => value + i) } }, base: 0 };
      });
      const verdicts = many.round(...flood, { agent: 'b', patch: { s: { add: [round] } } });
      expect(verdicts.flatMap(codesOf)).toEqual(Array.from({ length: 56 }, () => 'committed'));
      expect(gravesOf(many).young.size + gravesOf(many).old.size).toBeLessThanOrEqual(2 * (1024 + 55 * 64));
    }
    expect(gravesOf(many).floor).toBeGreaterThan(0);
    expect(many.state).toEqual({ s: [0, 1, 2, 3] });
  });

  test('[RMW6] adds beyond the cap are refused whole; removes of the same patch make room', () => {
    const s = team();
    s.ask('a', { s: { add: ['1', '2', '3'] } });
    expect(s.ask('a', { s: { add: ['4'] } })).toMatchObject({ issues: [{ path: '/s', code: 'bound', have: 3 }] });
    expect(codesOf(s.ask('a', { s: { add: ['4'], remove: ['1'] } }))).toEqual(['committed']);
    expect(codesOf(s.ask('a', { s: { add: ['5'], remove: ['5'] } }))).toEqual(['schema']);
    expect(s.state).toEqual({ s: ['2', '3', '4'] });
  });

  test('[RMW7] below a key that was dropped and made anew, what has not seen the drop is gone', () => {
    const m = smallTeam({ fields: { m: map(keys, { cap: 2 }) } });
    m.ask('a', { m: { at: { k: { add: ['x'] } } } });
    m.ask('a', { m: { at: { k: { remove: ['x'] } } } });
    m.ask('a', { m: { drop: ['k'] } });
    m.ask('a', { m: { at: { k: { add: ['y'] } } } });
    expect(codesOf(m.ask('b', { m: { at: { k: { add: ['x'] } } } }, 1))).toEqual(['gone']);
    expect(codesOf(m.ask('b', { m: { at: { k: { remove: ['y'] } } } }, 2))).toEqual(['gone']);
    expect(codesOf(m.ask('b', { m: { at: { k: { add: ['x'] } } } }, 3))).toEqual(['committed']);
    expect(m.state).toEqual({ m: { k: ['x', 'y'] } });
    const r = smallTeam({ fields: { r: records({ s: keys }, { cap: 2 }) } });
    r.ask('a', { r: { put: { id: { s: { add: ['x'] } } } } });
    r.ask('a', { r: { patch: { id: { s: { remove: ['x'] } } } } });
    r.ask('a', { r: { drop: ['id'] } });
    r.ask('a', { r: { put: { id: { s: { add: ['y'] } } } } });
    expect(codesOf(r.ask('b', { r: { put: { id: { s: { add: ['x'] } } } } }, 1))).toEqual(['gone']);
  });

  test('[RMW8] its grade is A when there is room for every value and for every remove', () => {
    const gradeOf = (values: number, cap: number): string => removeWins(z.int().min(1).max(values), { cap }).grade.letter;
    expect([gradeOf(9, 9), gradeOf(9, 8), gradeOf(1023, 4000), gradeOf(1024, 4000)]).toEqual(['A', 'B', 'A', 'B']);
    expect(keys.declaration()).toMatchObject({ kind: 'remove-wins', cap: 3 });
    expect(loading(removeWins(z.boolean(), { cap: 1.5 }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });
});
