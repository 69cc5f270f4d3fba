import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import { map } from './map.ts';
import { multi } from './multi.ts';

const text = z.string().max(20);
const settled = (value: string | null): object => ({ value, rivals: [] });

describe('multi', () => {
  test('[MLT1] values that have not seen each other stand side by side; a set takes the place of those it has seen alone', () => {
    const team = smallTeam({ fields: { x: multi(text) } });
    expect(team.state).toEqual({ x: settled(null) });
    team.ask('a', { x: { set: 'one' } });
    team.ask('b', { x: { set: 'two' } }, 0);
    team.ask('c', { x: { set: 'three' } }, 1);
    expect(new Set(valuesOf(team.state['x']))).toEqual(new Set(['two', 'three']));
    expect(outcomesOf(team.ask('c', { x: { set: 'four' } }))).toEqual({});
    expect(team.state).toEqual({ x: settled('four') });
  });

  test('[MLT1] an agent has one value at most: it has seen its own, on whatever view', () => {
    const team = smallTeam({ fields: { x: multi(text) } });
    team.ask('a', { x: { set: 'one' } });
    team.ask('a', { x: { set: 'two' } }, 0);
    expect(team.state).toEqual({ x: settled('two') });
  });

  test('[MLT2] the value is that of the greatest stamp, the others follow in win order, and their agents are told', () => {
    const team = smallTeam({ fields: { x: multi(text), y: multi(text) } });
    team.ask('c', { y: { set: 'v' } });
    expect(outcomesOf(team.ask('a', { x: { set: 'fresh' } }, 1))).toEqual({});
    expect(outcomesOf(team.ask('b', { x: { set: 'stale' } }, 0))).toEqual({ '/x': 'contested' });
    expect(team.state['x']).toEqual({ value: 'fresh', rivals: ['stale'] });
    expect(team.schema.kinds[0]?.contested?.(team.space.cells[0], '/x')).toEqual(['/x']);
    expect(outcomesOf(team.ask('c', { x: { set: 'stale' } }))).toEqual({});
    expect(team.schema.kinds[0]?.contested?.(team.space.cells[0], '/x')).toEqual([]);
  });

  test('[MLT3] equal concurrent values agree, and who saw one of them has not seen the other', () => {
    const team = smallTeam({ fields: { x: multi(z.strictObject({ p: z.int().min(0).max(9), q: text })) } });
    team.ask('a', { x: { set: { p: 1, q: 'q' } } });
    expect(outcomesOf(team.ask('b', { x: { set: { q: 'q', p: 1 } } }, 0))).toEqual({ '/x': 'unchanged' });
    expect(team.state).toEqual({ x: { value: { p: 1, q: 'q' }, rivals: [] } });
    expect(outcomesOf(team.ask('c', { x: { set: { p: 2, q: 'q' } } }, 1))).toEqual({ '/x': 'contested' });
    expect(valuesOf(team.state['x'])).toHaveLength(2);
  });

  test('[MLT3] who repeats what stands breaks no premise', () => {
    const team = smallTeam({ fields: { x: multi(text), y: multi(text) } });
    team.ask('a', { x: { set: 'same' } });
    team.ask('b', { x: { set: 'same' } }, 0);
    const [verdict] = team.round({ agent: 'c', patch: { y: { set: 'v' } }, premises: ['/x'], base: 1 });
    expect(codesOf(verdict)).toEqual(['committed']);
  });

  test('[MLT4] a set beyond the cap is refused and told to look again; equal values need no room', () => {
    const team = smallTeam({ fields: { x: multi(text, { cap: 2 }) } }, ['a', 'b', 'c', 'd']);
    team.ask('a', { x: { set: 'one' } });
    team.ask('b', { x: { set: 'two' } }, 0);
    expect(team.ask('c', { x: { set: 'three' } }, 0)).toMatchObject({
      kind: 'rejected',
      issues: [{ path: '/x', code: 'bound', rule: 'multi', have: 2, want: 'three', recovery: 're-read' }],
      retry: { after: 3 },
    });
    expect(codesOf(team.ask('d', { x: { set: 'one' } }, 0))).toEqual(['committed']);
    expect(codesOf(team.ask('c', { x: { set: 'three' } }))).toEqual(['committed']);
    expect(team.state).toEqual({ x: settled('three') });
  });

  test('[MLT4] where the type has no more values than may stand, no set is refused: grade A', () => {
    expect(multi(z.enum(['a', 'b'])).grade.letter).toBe('A');
    expect(multi(z.enum(['a', 'b', 'c']), { cap: 3 }).grade.letter).toBe('A');
    expect(multi(z.enum(['a', 'b', 'c']), { cap: 2 }).grade).toMatchObject({
      letter: 'B',
      why: expect.stringContaining('2') as string,
    });
    expect(loading(multi(text, { cap: 0 }))).toThrow('multi: cap: must be a whole number of at least 1');
  });

  test('[MLT5] set is the only verb: nothing is erased, and no age takes a value away', () => {
    const team = smallTeam({ fields: { x: multi(text), y: multi(text) }, horizon: 2 });
    expect(codesOf(team.ask('a', { x: { unset: true } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { x: { set: 'x'.repeat(21) } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { x: { set: null } }))).toEqual(['schema']);
    const base = team.revision;
    team.ask('a', { x: { set: 'one' } }, base);
    team.ask('b', { x: { set: 'two' } }, base);
    for (let i = 0; i < 5; i += 1) team.ask('c', { y: { set: `${i}` } });
    expect(valuesOf(team.state['x'])).toHaveLength(2);
    const nullable = smallTeam({ fields: { x: multi(text.nullable()) } });
    nullable.ask('a', { x: { set: null } });
    nullable.ask('b', { x: { set: 'two' } }, 0);
    expect(valuesOf(nullable.state['x'])).toContain(null);
  });

  test('[MLT5] the patch of a foreign format settles what it shows, and asks for no verb that there is not', () => {
    const team = smallTeam({ fields: { x: multi(text) } });
    team.ask('a', { x: { set: 'one' } });
    team.ask('b', { x: { set: 'two' } }, 0);
    const kind = team.schema.kinds[0];
    const [cell] = team.space.cells;
    const asked = (change: Parameters<NonNullable<typeof kind>['assign']>[1]): unknown => {
      const complaints: string[] = [];
      const patch = kind?.assign(cell, change, '/x', (path, { code }) => complaints.push(`${path} ${code}`));
      return patch ?? complaints;
    };
    const shown = team.state['x'] as { readonly value: string; readonly rivals: readonly string[] };
    const within = (key: string, value: string | readonly string[]): ReturnType<typeof asked> =>
      asked({ kind: 'within', changes: new Map([[key, { kind: 'set', value }]]) });
    expect(within('value', 'three')).toEqual({ set: 'three' });
    expect(within('rivals', [])).toEqual({ set: shown.value });
    expect(within('value', shown.value)).toEqual([]);
    expect(within('rivals', ['four'])).toEqual(['/x schema']);
    expect(asked({ kind: 'set', value: { value: shown.rivals[0] as string } })).toEqual({ set: shown.rivals[0] });
    expect(asked({ kind: 'set', value: 'three' })).toEqual(['/x schema']);
    expect(asked({ kind: 'remove' })).toEqual(['/x schema']);
    expect(kind?.assign(kind.empty(undefined), { kind: 'remove' }, '/x', () => expect.unreachable())).toBeUndefined();
  });

  test('[MLT1] below a map too', () => {
    const team = smallTeam({ fields: { m: map(multi(text), { cap: 4 }) } });
    team.ask('a', { m: { at: { k: { set: 'one' } } } });
    expect(outcomesOf(team.ask('b', { m: { at: { k: { set: 'two' } } } }, 0))).toEqual({ '/m/k': 'contested' });
    expect(valuesOf((team.state['m'] as { readonly k: unknown }).k)).toHaveLength(2);
    expect(team.schema.kinds[0]?.contested?.(team.space.cells[0], '/m')).toEqual(['/m/k']);
  });
});

function valuesOf(shown: unknown): readonly unknown[] {
  const { value, rivals } = shown as { readonly value: unknown; readonly rivals: readonly unknown[] };
  return [value, ...rivals];
}
