import { describe, expect, test } from 'vitest';
import { withoutEchoes } from '../echo.ts';
import { fromMergePatch } from '../imports.ts';
import type { Json } from '../json.ts';
import { codesOf, outcomesOf, smallTeam } from '../testing/index.ts';
import type { SmallTeam } from '../testing/index.ts';
import { quota } from './counter.ts';

const roles = { lead: { priority: 1 }, worker: { priority: 0 } };

function teamOf(options: object = {}, agents: readonly string[] = ['boss:lead', 'a:worker', 'b:worker', 'c:worker']): SmallTeam {
  const x = quota({ mode: 'escrow', lo: 0, start: 10, shares: 3, granters: ['lead'], ...options });
  return smallTeam({ fields: { x }, roles }, agents);
}

function grant(to: string, amount: number): { readonly x: { readonly grant: { readonly to: string; readonly amount: number } } } {
  return { x: { grant: { to, amount } } };
}

function transfer(to: string, amount: number): { readonly x: { readonly [verb: string]: Json } } {
  return { x: { transfer: { to, amount } } };
}

describe('quota in escrow mode', () => {
  test('[ESC1] all room above lo starts in the pool, and pool and shares are always what stands above lo', () => {
    const team = teamOf({ lo: 2 });
    expect(team.state).toEqual({ x: { value: 10, pool: 8, shares: {} } });
    team.ask('boss', grant('a', 5));
    expect(team.state).toEqual({ x: { value: 10, pool: 3, shares: { a: 5 } } });
    team.ask('a', { x: { inc: -2 } });
    expect(team.state).toEqual({ x: { value: 8, pool: 3, shares: { a: 3 } } });
    team.ask('a', transfer('b', 3));
    expect(team.state).toEqual({ x: { value: 8, pool: 3, shares: { b: 3 } } });
  });

  test('[ESC2] an agent spends its own share only, and is told what that is', () => {
    const team = teamOf();
    team.ask('boss', grant('a', 5));
    expect(team.ask('b', { x: { inc: -1 } })).toMatchObject({
      issues: [{ code: 'bound', rule: 'escrow', have: 0, want: -1, recovery: 'change', hint: 'Your share is 0.' }],
    });
    expect(codesOf(team.ask('a', { x: { inc: -5 } }))).toEqual(['committed']);
    expect(team.ask('a', transfer('b', 1))).toMatchObject({ issues: [{ code: 'bound', hint: 'Your share is 0.' }] });
    expect(team.state).toEqual({ x: { value: 5, pool: 5, shares: {} } });
  });

  test('[ESC3] rights that came after the view answer only a later view', () => {
    const team = teamOf();
    team.ask('boss', grant('a', 2));
    team.ask('boss', grant('a', 3));
    expect(team.ask('a', { x: { inc: -4 } }, 1)).toMatchObject({
      issues: [{ code: 'bound', have: 2, recovery: 're-read', hint: 'Your share is 2, and 3 more came after your view.' }],
    });
    expect(team.ask('a', { x: { inc: -6 } }, 1)).toMatchObject({ issues: [{ recovery: 'change' }] });
    expect(codesOf(team.ask('a', { x: { inc: -4 } }))).toEqual(['committed']);
    // What an agent has once seen it has, whatever view it names later.
    expect(codesOf(team.ask('a', { x: { inc: -1 } }, team.revision - 1))).toEqual(['committed']);
    expect(team.state).toEqual({ x: { value: 5, pool: 5, shares: {} } });
  });

  test('[ESC3] a share tells 64 receipts apart, and loses none', () => {
    const team = teamOf({ start: 100 });
    team.round(...Array.from({ length: 70 }, () => ({ agent: 'boss', patch: grant('a', 1) })));
    expect(team.state).toEqual({ x: { value: 100, pool: 30, shares: { a: 70 } } });
    expect(codesOf(team.ask('a', { x: { inc: -70 } }))).toEqual(['committed']);
    expect(team.state).toEqual({ x: { value: 30, pool: 30, shares: {} } });
  });

  test('[ESC4] a positive increment adds to the own share', () => {
    const team = teamOf();
    team.ask('a', { x: { inc: 4 } });
    expect(team.state).toEqual({ x: { value: 14, pool: 10, shares: { a: 4 } } });
    expect(codesOf(team.ask('a', { x: { inc: -4 } }, 0))).toEqual(['committed']);
    expect(outcomesOf(team.ask('a', { x: { inc: 0 } }))).toEqual({ '/x': 'unchanged' });
    expect(outcomesOf(team.ask('a', transfer('a', 3)))).toEqual({ '/x': 'unchanged' });
  });

  test('[ESC5] only the declared roles grant, and only what the pool holds', () => {
    const team = teamOf();
    expect(codesOf(team.ask('a', grant('a', 1)))).toEqual(['forbidden']);
    expect(team.ask('boss', grant('a', 11))).toMatchObject({ issues: [{ code: 'bound', have: 10, hint: 'The pool holds 10.' }] });
    const two = team.round({ agent: 'boss', patch: grant('a', 6) }, { agent: 'boss', patch: grant('b', 6) });
    expect(two.flatMap(codesOf)).toEqual(['committed', 'bound']);
    expect(codesOf(team.ask('boss', grant('boss', 2)))).toEqual(['committed']);
    expect(codesOf(team.ask('boss', { x: { inc: -2 } }))).toEqual(['committed']);
    expect(team.state).toEqual({ x: { value: 8, pool: 2, shares: { a: 6 } } });
  });

  test('[ESC5][SCH6] the order of the granters is in no refusal, as it is in no digest', () => {
    const said = [
      ['boss', 'agent'],
      ['agent', 'boss'],
    ].map((granters) => {
      const fields = { x: quota({ mode: 'escrow', lo: 0, start: 9, shares: 2, granters }) };
      const team = smallTeam({ fields, roles: { agent: { priority: 0 }, boss: { priority: 1 }, guest: { priority: 0 } } }, [
        'c:guest',
      ]);
      return [team.space.schema.digest, team.ask('c', grant('c', 1))];
    });
    expect(said[1]).toEqual(said[0]);
    expect(said[0]).toMatchObject([{}, { issues: [{ want: 'agent, boss' }] }]);
  });

  test('[ESC6] an increment that would cross hi is refused, with the room there is', () => {
    const team = teamOf({ hi: 12 });
    expect(team.ask('a', { x: { inc: 3 } })).toMatchObject({
      issues: [{ code: 'bound', have: 10, hint: 'There is room for 2 more.' }],
    });
    expect(codesOf(team.ask('a', { x: { inc: 2 } }))).toEqual(['committed']);
    const open = teamOf({ start: Number.MAX_SAFE_INTEGER - 1 });
    expect(codesOf(open.ask('a', { x: { inc: 2 } }))).toEqual(['bound']);
  });

  test('[ESC7] shares beyond the cap are refused; a spent one makes room', () => {
    const team = teamOf({ shares: 1 });
    team.ask('boss', grant('a', 2));
    expect(team.ask('boss', grant('b', 1))).toMatchObject({ issues: [{ code: 'bound', have: 1, want: 2 }] });
    expect(codesOf(team.ask('b', { x: { inc: 1 } }))).toEqual(['bound']);
    expect(codesOf(team.ask('a', transfer('b', 1)))).toEqual(['bound']);
    expect(codesOf(team.ask('a', transfer('b', 2)))).toEqual(['committed']);
    expect(team.state).toEqual({ x: { value: 10, pool: 8, shares: { b: 2 } } });
  });

  test('[ESC8] one verb at a time; amounts are whole and positive, receivers have the names of agents', () => {
    const team = teamOf();
    for (const patch of [
      { inc: 1.5 },
      { inc: 1, transfer: { to: 'b', amount: 1 } },
      { transfer: { to: 'b', amount: 0 } },
      { transfer: { to: 'b', amount: -1 } },
      { transfer: { to: 'b' } },
      { transfer: { to: 'b', amount: 1, from: 'a' } },
      { grant: { to: '__proto__', amount: 1 } },
      { grant: 5 },
      { set: 5 },
    ])
      expect(codesOf(team.ask('boss', { x: patch })), JSON.stringify(patch)).toEqual(['schema']);
  });

  test('[IMP2] neither sum nor shares are set: who asks for that is told the verbs; what stands already is no change', () => {
    const { space } = teamOf();
    for (const x of [5, { value: 5 }, { pool: 9 }, { shares: { a: 1 } }, null]) {
      expect(fromMergePatch(space, { x }), JSON.stringify(x)).toMatchObject({
        issues: [{ path: '/x', code: 'schema', hint: expect.stringContaining('use inc, transfer or grant') as string }],
      });
    }
    expect(fromMergePatch(space, { x: { value: 10, pool: 10 } })).toEqual({ ok: true, patch: {}, premises: [] });
  });

  test('[JDG13] an increment by nothing is an echo, one by something is none', () => {
    const { space } = teamOf();
    expect(withoutEchoes(space, { x: { inc: 0 } })).toEqual({});
    expect(withoutEchoes(space, { x: { inc: 1 } })).toEqual({ x: { inc: 1 } });
  });

  test('[SCH6] the order in which granters are named is not part of the definition', () => {
    const idOf = (granters: readonly string[]): string => teamOf({ granters }).schema.id;
    expect(idOf(['worker', 'lead'])).toBe(idOf(['lead', 'worker']));
    expect(idOf(['lead'])).not.toBe(idOf(['lead', 'worker']));
  });

  test('[ESC9] [SCH3] a range that is too wide, no cap, and nobody or an unknown role to grant do not load', () => {
    for (const change of [
      { granters: [] },
      { granters: ['chief'] },
      { shares: 0 },
      { start: -1 },
      { lo: -(2 ** 52), hi: 2 ** 53 - 1 },
    ])
      expect(() => teamOf(change), JSON.stringify(change)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(() => teamOf({ lo: -(2 ** 52) })).not.toThrow();
  });
});
