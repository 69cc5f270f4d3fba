import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { IntentOf, ViewOf } from '../field-kind.ts';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import { group } from './group.ts';
import type { GroupOptions } from './group.ts';
import { cas } from './register.ts';

const parts = { x: z.int().min(0).max(99), y: z.string().max(9) };
const rules = ['cas', 'lww', 'priority', 'multi', 'owned'] as const;
type Whole = { readonly x: number; readonly y: string };

/** The value, also where it is shown with rivals or owners. */
function valueOf(shown: unknown): unknown {
  return typeof shown === 'object' && shown !== null && 'value' in shown ? shown.value : shown;
}

describe('group', () => {
  test.for(rules)('[GRP1] under %s no value mixes what two agents set', (rule) => {
    const team = smallTeam({ fields: { at: group(parts, { rule }) } });
    const [one, other] = [
      { x: 1, y: 'one' },
      { x: 2, y: 'two' },
    ];
    team.round({ agent: 'a', patch: { at: { set: one } } }, { agent: 'b', patch: { at: { set: other } } });
    expect([one, other]).toContainEqual(valueOf(team.state['at']));
  });

  test.for(rules)(
    '[GRP2] %s merges the whole: its verbs, its grade, and its own word for a write that it has not seen',
    (rule) => {
      const kind = group(parts, { rule });
      const team = smallTeam({ fields: { at: kind } });
      team.ask('a', { at: { set: { x: 1, y: 'one' } } });
      const late = team.ask('b', { at: { set: { x: 1, y: 'two' } } }, 0);
      const told = [...codesOf(late), ...Object.values(outcomesOf(late))];
      expect([kind.name, kind.grade.letter, kind.verbs[0]]).toEqual(['group', /lww|priority/.test(rule) ? 'A' : 'B', 'set']);
      const words = {
        cas: 'conflict',
        lww: /merged|superseded/,
        priority: /merged|superseded/,
        multi: 'contested',
        owned: 'not_owner',
      };
      expect(told.join(' ')).toMatch(words[rule]);
      expect(kind.declaration()).toMatchObject({ kind: 'group', rule, type: { required: ['x', 'y'] } });
    },
  );

  test('[GRP2] the options of the rule are those of the group', () => {
    const start = { x: 0, y: '' };
    const team = smallTeam(
      { fields: { at: group(parts, { rule: 'owned', start, dispute: { arbiter: 'lead' } }) }, roles: LEAD },
      ['a', 'b'],
    );
    team.ask('a', { at: { set: { x: 1, y: 'one' } } });
    expect(outcomesOf(team.ask('b', { at: { set: { x: 2, y: 'two' } } }))).toEqual({ '/at': 'contested' });
    team.ask('b', { at: { release: true } });
    team.ask('a', { at: { release: true } });
    expect(team.state).toEqual({ at: { value: start, owners: [], rivals: [] } });
  });

  test('[GRP2] views and patches have the types of the rule', () => {
    const plain = group(parts, { rule: 'lww' });
    expectTypeOf<ViewOf<typeof plain>>().toEqualTypeOf<{ x: number; y: string } | undefined>();
    expectTypeOf<{ readonly set: Whole }>().toExtend<IntentOf<typeof plain>>();
    const contested = group(parts, { rule: 'multi', cap: 2 });
    expectTypeOf<ViewOf<typeof contested>['rivals'][number]>().toEqualTypeOf<{ x: number; y: string }>();
    const shared = group(parts, { rule: 'owned' });
    expectTypeOf<ViewOf<typeof shared>['owners']>().toEqualTypeOf<readonly string[]>();
    expect([plain, contested, shared].map(({ name }) => name)).toEqual(['group', 'group', 'group']);
  });

  test('[GRP3] a value without a part, or with another one, is refused', () => {
    const team = smallTeam({ fields: { at: group(parts, { rule: 'cas' }) } });
    expect(codesOf(team.ask('a', { at: { set: { x: 1 } } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { at: { set: { x: 1, y: 'a', z: 1 } } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { at: { set: { x: 100, y: 'a' } } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', { at: { x: { set: 1 } } }))).toEqual(['schema']);
    expect(team.state).toEqual({ at: null });
  });

  test('[GRP4] a group without parts, with an odd name, an unbounded part or an unknown rule does not load', () => {
    expect(loading(group({}, { rule: 'cas' }))).toThrow('no parts');
    expect(loading(group({ 'a b': z.boolean() }, { rule: 'cas' }))).toThrow('a b');
    expect(loading(group({ ['__proto__']: z.boolean() }, { rule: 'cas' }))).toThrow('__proto__');
    expect(loading(group({ x: z.string() }, { rule: 'cas' }))).toThrow('no cap');
    expect(loading(group(parts, { rule: 'first' } as unknown as GroupOptions<Whole>))).toThrow('no rule');
  });

  test('[GRP2] the digest of a schema tells a group from a register of the same object', () => {
    const digestOf = (at: ReturnType<typeof cas>): string => smallTeam({ fields: { at } }).schema.digest;
    const digests = [cas(z.strictObject(parts)), ...rules.map((rule) => group(parts, { rule }))].map((kind) =>
      digestOf(kind as ReturnType<typeof cas>),
    );
    expect(new Set(digests).size).toBe(6);
  });
});

const LEAD = { lead: { priority: 1 }, agent: { priority: 0 } };
