import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hasTimers, shortestTimerMs, timersOf } from './expiry.ts';
import { claim } from './kinds/claim.ts';
import { derived } from './kinds/derived.ts';
import { map } from './kinds/map.ts';
import { cas } from './kinds/register.ts';
import { records } from './kinds/records.ts';
import { replay } from './replay.ts';
import { seal } from './seal.ts';
import { admittedOf, codesOf, SAMPLE_STATES, sampleState, smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';

const lease = claim({ leaseMs: 100 });

function expireAt(team: SmallTeam, path: string, token: number): readonly string[] {
  return team.events({ kind: 'expire', path, token, cause: 'lease' }).events.map((event) => event.kind);
}

describe('expiries', () => {
  const fields = { x: lease, plain: claim(), m: map(lease, { cap: 3 }), r: records({ owner: lease, free: claim() }, { cap: 3 }) };

  test('[EXP1] what may end by itself is listed by path, at any depth, with its token, its time and its holder', () => {
    const team = smallTeam({ fields });
    expect(timersOf(team.space)).toEqual([]);
    team.ask('a', { plain: { claim: true }, m: { at: { 'k/1': { claim: true } } } });
    team.ask('b', { x: { claim: true }, r: { put: { one: { owner: { claim: true }, free: { claim: true } } } } });
    expect(timersOf(team.space)).toEqual([
      { path: '/m/k~11', token: 4096, ms: 100, holder: 'a' },
      { path: '/r/one/owner', token: 8192, ms: 100, holder: 'b' },
      { path: '/x', token: 8192, ms: 100, holder: 'b' },
    ]);
  });

  test('[EXP1] a definition says whether something may end by itself, and after what time at the earliest', () => {
    expect(shortestTimerMs(smallTeam({ fields: { plain: claim() } }).schema)).toBe(undefined);
    const deep = { m: map(records({ x: claim({ leaseMs: 30 }) }, { cap: 2 }), { cap: 2 }), y: claim({ leaseMs: 70 }) };
    expect(shortestTimerMs(smallTeam({ fields: deep }).schema)).toBe(30);
    for (let number = 0; number < SAMPLE_STATES; number += 1) {
      const { schema } = sampleState(number);
      expect(shortestTimerMs(schema) !== undefined).toBe(hasTimers(schema));
    }
  });

  test('[EXP2] an expiry ends what its path and token name, before the proposals of its round are judged', () => {
    const team = smallTeam({ fields });
    team.ask('a', { x: { claim: true }, m: { at: { 'k/1': { claim: true } } }, r: { put: { one: { owner: { claim: true } } } } });
    for (const { path, token } of timersOf(team.space)) expect(expireAt(team, path, token)).toEqual(['expire']);
    const free = { holder: null, last: { holder: 'a', how: 'expired', outcome: null } };
    expect(team.state).toMatchObject({ x: free, m: { 'k/1': free }, r: { one: { owner: free } } });
    expect(timersOf(team.space)).toEqual([]);
    team.ask('a', { x: { claim: true } });
    const { id } = team.schema;
    const wants = admittedOf({
      kind: 'proposal',
      v: 1,
      space: 'example',
      agent: 'b',
      incarnation: 1,
      n: 1,
      schema: id,
      base: { revision: team.revision },
      patch: { x: { claim: true } },
    });
    const token = timersOf(team.space)[0]?.token ?? 0;
    const sealed = seal(team.space, {
      term: 1,
      events: [{ kind: 'expire', path: '/x', token, cause: 'lease' }],
      proposals: [wants],
    });
    expect(sealed.decided.map(({ verdict }) => verdict.kind)).toEqual(['committed']);
    expect(replay(team.schema, 'example', team.log).state).toBe(team.space.state);
  });

  test('[EXP3] one that names nothing, or what does not stand any more, is left out of the entry', () => {
    const team = smallTeam({ fields });
    team.ask('a', { x: { claim: true }, m: { at: { k: { claim: true } } } });
    const before = team.space.digests;
    for (const path of ['', 'x', '/', '/nothing', '/plain', '/x/y', '/m', '/m/other', '/m/k/deep', '/r/one/owner', '/__proto__'])
      expect(expireAt(team, path, 4096)).toEqual([]);
    expect([0, 1, 4095, 4097].flatMap((token) => expireAt(team, '/x', token))).toEqual([]);
    expect(team.space.digests).toEqual(before);
    expect(expireAt(team, '/x', 4096)).toEqual(['expire']);
    expect(expireAt(team, '/x', 4096)).toEqual([]);
  });

  test('[EXP4] one after which an invariant would fail does not happen; it may once the state allows it', () => {
    const team = smallTeam({
      fields: { x: lease, busy: cas(z.boolean(), { start: false }) },
      invariants: {
        busyIsHeld: {
          reads: ['x', 'busy'],
          check: ({ after }) => {
            const { busy, x } = after as { readonly busy: boolean; readonly x: { readonly holder: string | undefined } };
            return !busy || x.holder !== undefined || 'nobody is busy with it';
          },
        },
      },
    });
    team.ask('a', { x: { claim: true }, busy: { set: true } });
    expect(expireAt(team, '/x', 4096)).toEqual([]);
    expect(team.state).toMatchObject({ x: { holder: 'a' } });
    team.ask('b', { busy: { set: false } });
    expect(expireAt(team, '/x', 4096)).toEqual(['expire']);
  });

  test('[EXP5] what is computed from it follows, and an expiry after which it cannot be computed does not happen', () => {
    const holderOf = derived(z.string().max(9), { from: { x: lease }, compute: ({ x }) => x.holder ?? 'nobody' });
    const team = smallTeam({ fields: { x: lease, who: holderOf } });
    team.ask('a', { x: { claim: true } });
    expect(expireAt(team, '/x', 4096)).toEqual(['expire']);
    expect(team.state).toMatchObject({ who: 'nobody' });
    const early = derived(z.string().max(9), {
      from: { x: lease },
      compute: ({ x }) => {
        if (x.last !== undefined) throw new Error('it may not end');
        return x.holder ?? '';
      },
    });
    const stuck = smallTeam({ fields: { x: lease, who: early } });
    stuck.ask('a', { x: { claim: true } });
    expect(expireAt(stuck, '/x', 1)).toEqual([]);
    expect(stuck.state).toMatchObject({ who: 'a' });
  });

  test('[EXP6] it is a change that nobody made: who has not seen it is told to read again, and by nobody', () => {
    const team = smallTeam({ fields });
    team.ask('a', { r: { put: { one: { owner: { claim: true } } } } });
    expect(expireAt(team, '/r/one/owner', 4096)).toEqual(['expire']);
    const [stale] = team.round({ agent: 'b', patch: { plain: { claim: true } }, premises: ['/r/one'], base: 1 });
    expect(codesOf(stale)).toEqual(['premise']);
    const drop = team.ask('a', { r: { drop: ['one'] } }, 1);
    expect(codesOf(drop)).toEqual(['conflict']);
    for (const verdict of [stale, drop]) expect(verdict?.kind === 'rejected' && verdict.issues[0]).not.toHaveProperty('by');
    expect(codesOf(team.ask('b', { r: { drop: ['one'] } }))).toEqual(['committed']);
  });
});
