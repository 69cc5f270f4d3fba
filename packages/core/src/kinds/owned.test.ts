import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../json.ts';
import { codesOf, outcomesOf, smallTeam } from '../testing/index.ts';
import type { SmallTeam } from '../testing/index.ts';
import { group } from './group.ts';
import { map } from './map.ts';
import { records } from './records.ts';
import { owned } from './owned.ts';
import type { OwnedOptions } from './owned.ts';

const text = z.string().max(20);
const roles = { lead: { priority: 1 }, agent: { priority: 0 } };
const release = { x: { release: true } } as const;
const set = (value: Json): { x: { set: Json } } => ({ x: { set: value } });
const force = (value: Json): { x: { set: Json; force: true } } => ({ x: { set: value, force: true } });

function teamOf(options: OwnedOptions<string> = {}): SmallTeam {
  return smallTeam({ fields: { x: owned(text, options) }, roles }, ['boss:lead', 'a', 'b', 'c']);
}

function state(value: Json, ...owners: readonly string[]): object {
  return { x: { value, owners } };
}

describe('owned', () => {
  test('[OWN1] who sets a free value first owns it; another value of anybody else is refused, with whose it is', () => {
    const team = teamOf();
    expect(team.state).toEqual(state(null));
    team.ask('a', set('one'));
    expect(team.state).toEqual(state('one', 'a'));
    expect(team.ask('b', set('two'))).toMatchObject({
      kind: 'rejected',
      issues: [
        {
          path: '/x',
          code: 'not_owner',
          rule: 'owned',
          have: { value: 'one', owners: ['a'] },
          want: 'two',
          by: 'a',
          recovery: 'change',
        },
      ],
    });
    const verdicts = teamOf().round({ agent: 'a', patch: set('one') }, { agent: 'b', patch: set('two') });
    expect(verdicts.map(({ kind }) => kind).sort()).toEqual(['committed', 'rejected']);
  });

  test('[OWN1] a refusal names few of many owners, and tells who may force that it may', () => {
    const names = Array.from({ length: 5 }, (_, i) => `a${i}`);
    const team = smallTeam({ fields: { x: owned(text, { force: ['lead'] }) }, roles }, ['boss:lead', ...names]);
    for (const name of names) team.ask(name, set('one'));
    const [issue] = issuesOf(team.ask('boss', set('two')));
    expect(issue?.hint).toContain('a0, a1, a2 and others');
    expect(issue?.hint).toContain('force');
    expect(issuesOf(team.ask('a1', set('two')))[0]?.hint).not.toContain('force');
  });

  test('[OWN2] equal values are owned together, each owner once and in ascending order', () => {
    const team = teamOf();
    team.ask('b', set('one'));
    expect(outcomesOf(team.ask('a', set('one'), 0))).toEqual({ '/x': 'unchanged' });
    expect(outcomesOf(team.ask('a', set('one')))).toEqual({ '/x': 'unchanged' });
    expect(team.state).toEqual(state('one', 'a', 'b'));
  });

  test('[OWN2] the value of nobody is owned by who sets it, unchanged', () => {
    const team = teamOf({ start: 'old' });
    expect(outcomesOf(team.ask('a', set('old')))).toEqual({ '/x': 'unchanged' });
    expect(team.state).toEqual(state('old', 'a'));
  });

  test('[OWN3] one of several owners cannot set another value, until it is the only one', () => {
    const team = teamOf();
    team.ask('a', set('one'));
    team.ask('b', set('one'));
    expect(team.ask('a', set('two'))).toMatchObject({ issues: [{ code: 'not_owner', by: 'b' }] });
    team.ask('b', release);
    expect(outcomesOf(team.ask('a', set('two')))).toEqual({});
    expect(team.state).toEqual(state('two', 'a'));
  });

  test('[OWN3] the values of one owner follow each other, whatever view they were made on', () => {
    const team = teamOf();
    for (const value of ['one', 'two', 'three']) expect(outcomesOf(team.ask('a', set(value), 0))).toEqual({});
    expect(team.state).toEqual(state('three', 'a'));
  });

  test('[OWN4] a release gives up what is one’s own; what nobody owns any more goes back to the start, or is absent', () => {
    const team = teamOf({ start: 'old' });
    team.ask('a', set('one'));
    team.ask('b', set('one'));
    team.ask('a', release);
    expect(team.state).toEqual(state('one', 'b'));
    expect(codesOf(team.ask('a', release))).toEqual(['not_owner']);
    team.ask('b', release);
    expect(team.state).toEqual(state('old'));
    expect(codesOf(team.ask('b', release))).toEqual(['not_owner']);
    const bare = teamOf();
    bare.ask('a', set('one'));
    bare.ask('a', release);
    expect(bare.state).toEqual(state(null));
  });

  test('[OWN5] a role that may force takes the value; another one may not', () => {
    const team = teamOf({ force: ['lead'] });
    team.ask('a', set('one'));
    team.ask('b', set('one'));
    expect(team.ask('a', force('two'))).toMatchObject({
      issues: [{ code: 'forbidden', have: 'agent', want: 'lead', recovery: 'change' }],
    });
    expect(outcomesOf(team.ask('boss', force('two')))).toEqual({});
    expect(team.state).toEqual(state('two', 'boss'));
    expect(codesOf(team.ask('a', set('three')))).toEqual(['not_owner']);
    expect(codesOf(team.ask('a', release))).toEqual(['not_owner']);
  });

  test('[OWN5] by force over a value that was not seen is told; for the value that stands it changes nothing', () => {
    const team = teamOf({ force: ['lead'] });
    team.ask('a', set('one'));
    team.ask('a', set('two'));
    expect(team.ask('boss', force('three'), 1)).toMatchObject({
      outcomes: { '/x': { kind: 'merged', over: { agent: 'a', n: 2 } } },
    });
    expect(outcomesOf(team.ask('boss', force('three')))).toEqual({ '/x': 'unchanged' });
    expect(team.state).toEqual(state('three', 'boss'));
    const free = teamOf({ force: ['lead'] });
    free.ask('boss', force('one'));
    expect(free.state).toEqual(state('one', 'boss'));
  });

  test('[OWN5] where nobody may force, force is no verb', () => {
    expect(codesOf(teamOf().ask('boss', force('one')))).toEqual(['schema']);
    expect(owned(text).verbs).toEqual(['set', 'release']);
    expect(owned(text, { force: ['lead'] }).verbs).toEqual(['set', 'force', 'release']);
  });

  test('[OWN6] what was given back is not set by one who has not seen that', () => {
    const team = teamOf();
    team.ask('a', set('one'));
    team.ask('a', release);
    expect(team.ask('b', set('one'), 1)).toMatchObject({ issues: [{ code: 'conflict', by: 'a', recovery: 're-read' }] });
    expect(codesOf(team.ask('b', set('one')))).toEqual(['committed']);
    expect(team.state).toEqual(state('one', 'b'));
  });

  test('[OWN7] absent, null and an empty object are three values, and each is owned', () => {
    const type = z.strictObject({ p: z.boolean().optional() }).nullable();
    const team = smallTeam({ fields: { x: owned(type as z.ZodType<Json>) } });
    team.ask('a', set(null));
    expect(team.state).toEqual(state(null, 'a'));
    expect(codesOf(team.ask('b', set({})))).toEqual(['not_owner']);
    expect(outcomesOf(team.ask('a', set({})))).toEqual({});
    expect(team.state).toEqual(state({}, 'a'));
    expect(codesOf(team.ask('b', set(null)))).toEqual(['not_owner']);
    team.ask('a', release);
    expect(team.state).toEqual(state(null));
    expect(codesOf(team.ask('b', set(null)))).toEqual(['committed']);
    expect(team.state).toEqual(state(null, 'b'));
  });

  test('[OWN8] at most 64 agents own a value together', () => {
    const names = Array.from({ length: 65 }, (_, i) => `a${i}`);
    const team = smallTeam({ fields: { x: owned(text) } }, names);
    const verdicts = team.round(...names.map((agent) => ({ agent, patch: set('one') })));
    expect(verdicts.filter(({ kind }) => kind === 'rejected').flatMap(codesOf)).toEqual(['bound']);
    expect((team.state['x'] as { readonly owners: readonly string[] }).owners).toHaveLength(64);
  });

  test('[OWN9] a patch is a set, with or without force, or a release; its value has the type and the size', () => {
    const team = teamOf({ force: ['lead'] });
    const asked: readonly (readonly [Json, string])[] = [
      [{ set: 'one', release: true }, 'schema'],
      [{ force: true }, 'schema'],
      [{ set: 'one', force: false }, 'schema'],
      [{ release: true, force: true }, 'schema'],
      [{ release: 'one' }, 'schema'],
      [{}, 'schema'],
      ['one', 'schema'],
      [{ set: 5 }, 'schema'],
      [{ set: null }, 'schema'],
      [{ set: 'x'.repeat(21) }, 'bound'],
    ];
    for (const [x, code] of asked) expect(codesOf(team.ask('boss', { x }))).toEqual([code]);
    expect(team.state).toEqual(state(null));
  });

  test('[OWN9] the patch of a foreign format sets the value or gives it back, and nothing else', () => {
    const team = teamOf();
    team.ask('a', set('one'));
    const kind = team.schema.kinds[0];
    const within = (key: string, value: Json): unknown => {
      const complaints: string[] = [];
      const change = { kind: 'within', changes: new Map([[key, { kind: 'set', value } as const]]) } as const;
      return (
        kind?.assign(team.space.cells[0], change, '/x', (path, { code }) => complaints.push(`${path} ${code}`)) ?? complaints
      );
    };
    expect(within('value', 'two')).toEqual({ set: 'two' });
    expect(within('value', 'one')).toEqual([]);
    expect(within('value', null)).toEqual({ release: true });
    expect(within('owners', ['b'])).toEqual(['/x schema']);
    expect(within('rivals', [])).toEqual(['/x schema']);
    expect(kind?.assign(kind.empty(undefined), { kind: 'remove' }, '/x', () => expect.unreachable())).toBeUndefined();
  });

  test('[OWN1] below a map a dropped key is owned anew', () => {
    const team = smallTeam({ fields: { x: map(owned(text), { cap: 4 }) } });
    const put = (value: string): { x: { at: { k: { set: string } } } } => ({ x: { at: { k: { set: value } } } });
    team.ask('a', put('one'));
    expect(codesOf(team.ask('b', put('two')))).toEqual(['not_owner']);
    team.ask('a', { x: { drop: ['k'] } });
    expect(codesOf(team.ask('c', put('one'), 1))).toEqual(['gone']);
    expect(codesOf(team.ask('b', put('two')))).toEqual(['committed']);
    expect(team.state).toEqual({ x: { k: { value: 'two', owners: ['b'] } } });
  });

  test('[OWN10] what somebody owns is not dropped by others, but by a role that may force', () => {
    const fields = {
      g: map(group({ v: text }, { rule: 'owned' }), { cap: 4 }),
      t: records({ v: owned(text, { force: ['boss'] }), w: owned(text) }, { cap: 4 }),
      x: map(owned(text, { force: ['boss'] }), { cap: 4 }),
    };
    const roles = { boss: { priority: 1 }, agent: { priority: 0 } };
    const team = smallTeam({ fields, roles }, ['a', 'b', 'c', 'boss:boss']);
    team.ask('a', { g: { at: { k: { set: { v: 'one' } } } }, x: { at: { k: { set: 'one' }, free: { set: 'two' } } } });
    team.ask('a', { t: { put: { r: { v: { set: 'one' }, w: { set: 'one' } } } }, x: { at: { free: { release: true } } } });
    const hint = 'Owned by a: ask for a release before you drop what it stands in.';
    expect(team.ask('b', { x: { drop: ['k'] } })).toMatchObject({
      issues: [{ path: '/x/k', code: 'not_owner', have: { value: 'one', owners: ['a'] }, by: 'a', recovery: 'change', hint }],
    });
    expect(team.ask('b', { g: { drop: ['k'] } })).toMatchObject({ issues: [{ path: '/g/k', code: 'not_owner', by: 'a' }] });
    expect(team.ask('b', { t: { drop: ['r'] } })).toMatchObject({ issues: [{ path: '/t/r/v' }, { path: '/t/r/w' }] });
    expect(team.ask('boss', { t: { drop: ['r'] } })).toMatchObject({ issues: [{ path: '/t/r/w', code: 'not_owner' }] });
    expect(codesOf(team.ask('b', { x: { drop: ['free'] } }))).toEqual(['committed']);
    // Several owners have to agree, so each of them has to let go.
    team.ask('b', { x: { at: { k: { set: 'one' } } } });
    expect(team.ask('a', { x: { drop: ['k'] } })).toMatchObject({ issues: [{ code: 'not_owner', by: 'b' }] });
    expect(codesOf(team.ask('boss', { x: { drop: ['k'] } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { g: { drop: ['k'] }, t: { drop: ['r'] } }))).toEqual(['committed']);
    expect(team.state).toEqual({ g: {}, t: {}, x: {} });
  });
});

function issuesOf(verdict: ReturnType<SmallTeam['ask']>): readonly { readonly hint: string }[] {
  return verdict.kind === 'rejected' ? verdict.issues : [];
}
