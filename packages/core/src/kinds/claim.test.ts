import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timersOf } from '../expiry.ts';
import type { ExpiryCause } from '../field-kind.ts';
import type { Verdict } from '../issue.ts';
import { fromMergePatch } from '../imports.ts';
import type { Imported } from '../imports.ts';
import type { Json, JsonObject } from '../json.ts';
import { viewsOfSpace } from '../projection.ts';
import { ROUND_PROPOSALS_MAX } from '../proposal.ts';
import { seal } from '../seal.ts';
import { admittedOf, codesOf, loadError, loading, outcomesOf, sha256, smallTeam } from '../testing/index.ts';
import type { SmallTeam } from '../testing/index.ts';
import { loadState } from '../state-schema.ts';
import type { ClaimView } from './claim.ts';
import { claim } from './claim.ts';
import { map } from './map.ts';
import { records } from './records.ts';

/** What one agent does to the claim `k` of a map `m`; a drop is as likely as a grant. */
const STEPS: readonly JsonObject[] = [
  { at: { k: { claim: true } } },
  { drop: ['k'] },
  { at: { k: { release: true } } },
  { at: { k: { handoff: { to: 'a' } } } },
];

describe('claim', () => {
  test('[CLM1] of concurrent claims the first in canonical order holds, the others wait', () => {
    const team = smallTeam({ fields: { x: claim() } });
    const verdicts = team.round(...['a', 'b', 'c'].map((agent) => ({ agent, patch: { x: { claim: true } } })));
    const holder = (team.state['x'] as { holder: string }).holder;
    expect(verdicts.flatMap(codesOf).sort()).toEqual(['committed', 'held', 'held']);
    expect(verdicts.find(({ kind }) => kind === 'rejected')).toMatchObject({
      issues: [{ by: holder, recovery: 'wait' }],
      retry: { after: 1 },
    });
    expect(outcomesOf(team.ask(holder, { x: { claim: true } }))).toEqual({ '/x': 'unchanged' });
  });

  test('[CLM2] only the holder releases or hands over', () => {
    const team = smallTeam({ fields: { x: claim() } });
    team.ask('a', { x: { claim: true } });
    expect(codesOf(team.ask('b', { x: { release: true } }))).toEqual(['not_owner']);
    expect(codesOf(team.ask('b', { x: { handoff: { to: 'b' } } }))).toEqual(['not_owner']);
    expect(codesOf(team.ask('a', { x: { handoff: { to: 'b' } } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { x: { release: true } }))).toEqual(['not_owner']);
    expect(team.state).toEqual({ x: { holder: 'b', last: { holder: 'a', how: 'handed over', outcome: null } } });
  });

  test('[CLM3] the fencing number grows with every grant, also where a row or key was dropped in between', () => {
    const team = smallTeam({ fields: { m: map(claim(), { cap: 4 }), r: records({ c: claim() }, { cap: 4 }) } });
    const fences = (): readonly number[] => {
      const views = viewsOfSpace(team.space) as {
        m: { get(key: string): ClaimView | undefined };
        r: { get(key: string): { c: ClaimView } | undefined };
      };
      return [views.m.get('k')?.fence ?? 0, views.r.get('k')?.c.fence ?? 0];
    };
    team.ask('a', { m: { at: { k: { claim: true } } }, r: { put: { k: { c: { claim: true } } } } });
    const first = fences();
    team.ask('a', { m: { drop: ['k'] }, r: { drop: ['k'] } });
    expect(codesOf(team.ask('c', { r: { patch: { k: { c: { release: true } } } } }, 1))).toEqual(['gone']);
    team.ask('b', { m: { at: { k: { claim: true } } }, r: { put: { k: { c: { claim: true } } } } });
    const second = fences();
    expect(first.every((fence, i) => fence > 0 && fence < (second[i] ?? 0))).toBe(true);
    expect(codesOf(team.ask('c', { m: { at: { k: { release: true } } } }, 1))).toEqual(['gone']);
    expect(JSON.stringify(team.state)).not.toContain('fence');
  });

  test('[CLM3] two grants of one round have two fencing numbers', () => {
    const one = smallTeam({ fields: { x: claim() } });
    one.round({ agent: 'a', patch: { x: { claim: true } } });
    const both = smallTeam({ fields: { x: claim() } });
    both.round({ agent: 'a', patch: { x: { claim: true } } }, { agent: 'a', patch: { x: { handoff: { to: 'b' } } } });
    const fences = [one, both].map(({ space }) => (viewsOfSpace(space)['x'] as ClaimView).fence);
    expect(fences).toEqual([4096, 4097]);
  });

  test('[CLM3] a fencing number is not given out twice, also where one round granted several times before a drop', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
        (rounds) => {
          const team = smallTeam({ fields: { m: map(claim(), { cap: 2 }) } }, ['a']);
          const given: number[] = [];
          let space = team.space;
          let n = 0;
          for (const steps of rounds) {
            // Each step in a space of its own shows the grants that the whole round hides.
            const proposals = steps.map((patch) => {
              n += 1;
              const { revision, schema } = space;
              const head = {
                kind: 'proposal',
                v: 1,
                space: 'example',
                agent: 'a',
                incarnation: 1,
                n,
                schema: schema.id,
              } as const;
              return admittedOf({ ...head, base: { revision }, patch: { m: patch } });
            });
            for (const [i] of proposals.entries()) {
              const partly = seal(space, { term: 1, events: [], proposals: proposals.slice(0, i + 1) }).space;
              const views = viewsOfSpace(partly) as { m: { get(key: string): ClaimView | undefined } };
              const fence = views.m.get('k')?.fence ?? 0;
              if (fence !== 0 && fence !== given.at(-1)) given.push(fence);
            }
            space = seal(space, { term: 1, events: [], proposals }).space;
          }
          expect(given).toEqual([...new Set(given)].sort((a, b) => a - b));
          expect(given.every((fence) => Number.isSafeInteger(fence))).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('[CLM12] what stands around a claim is dropped by its holder, or once it is free, or by a declared role', () => {
    const roles = { boss: { priority: 1 }, agent: { priority: 0 } };
    const fields = {
      deep: map(map(claim(), { cap: 4 }), { cap: 4 }),
      rows: map(records({ c: claim(), d: claim({ force: ['boss'] }) }, { cap: 4 }), { cap: 4 }),
      m: map(claim({ force: ['boss'] }), { cap: 4 }),
    };
    const team = smallTeam({ fields, roles }, ['a', 'b', 'boss:boss']);
    const take = { claim: true };
    team.ask('a', { m: { at: { k: take } }, rows: { at: { x: { put: { r: { c: take, d: take }, s: {} } } } } });
    team.ask('a', { deep: { at: { x: { at: { j: take, k: take } } } }, m: { at: { l: take } } });
    const hint = 'a holds it. Wait for its end before you drop what it stands in.';
    expect(team.ask('b', { m: { drop: ['k'] } })).toEqual({
      kind: 'rejected',
      revision: 3,
      issues: [{ path: '/m/k', code: 'held', rule: 'claim', have: { holder: 'a' }, by: 'a', recovery: 'wait', hint }],
      retry: { after: 3 },
    });
    // A row names all that is held in it; a whole collection the first.
    const pathsOf = (verdict: Verdict): readonly string[] =>
      verdict.kind === 'rejected' ? verdict.issues.map(({ path }) => path) : [];
    const inRow = { rows: { at: { x: { drop: ['r'] } } } };
    expect(pathsOf(team.ask('b', inRow))).toEqual(['/rows/x/r/c', '/rows/x/r/d']);
    expect(pathsOf(team.ask('boss', inRow))).toEqual(['/rows/x/r/c']);
    expect(pathsOf(team.ask('b', { rows: { drop: ['x'] }, deep: { drop: ['x'] } }))).toEqual([
      '/deep/x/j',
      '/rows/x/r/c',
      '/rows/x/r/d',
    ]);
    expect(codesOf(team.ask('b', { rows: { at: { x: { drop: ['s'] } } } }))).toEqual(['committed']);
    expect(codesOf(team.ask('boss', { m: { drop: ['k'] } }))).toEqual(['committed']);
    team.ask('a', { m: { at: { l: { release: true } } } });
    expect(codesOf(team.ask('b', { m: { drop: ['l'] } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', { rows: { drop: ['x'] }, deep: { drop: ['x'] } }))).toEqual(['committed']);
    // A drop that has not seen the claim meets it as before.
    team.ask('b', { m: { at: { k: { claim: true } } } });
    expect(outcomesOf(team.ask('a', { m: { drop: ['k'] } }, team.revision - 1))).toEqual({ '/m/k': 'superseded' });
    expect(loadError({ fields: { x: claim({ force: ['nobody'] }) }, roles })).toMatchObject({ code: 'SCHEMA_INVALID' });
    expect(loadState({ name: 's', version: 1, fields: { x: claim() } }, sha256).digest).toBe(
      loadState({ name: 's', version: 1, fields: { x: claim({ force: [] }) } }, sha256).digest,
    );
  });

  test('[CLM4] a release leaves its outcome for the next holder', () => {
    const team = smallTeam({ fields: { x: claim({ outcomeCharsMax: 10 }) } });
    team.ask('a', { x: { claim: true } });
    expect(codesOf(team.ask('a', { x: { release: { outcome: 'x'.repeat(11) } } }))).toEqual(['bound']);
    team.ask('a', { x: { release: { outcome: 'half done' } } });
    team.ask('b', { x: { claim: true } });
    expect(team.state).toEqual({ x: { holder: 'b', last: { holder: 'a', how: 'released', outcome: 'half done' } } });
  });

  test('[CLM5] a release is of the grant that was seen, never of a later one', () => {
    const team = smallTeam({ fields: { x: claim() } });
    team.ask('a', { x: { claim: true } });
    team.ask('a', { x: { handoff: { to: 'b' } } });
    team.ask('b', { x: { handoff: { to: 'a' } } });
    expect(team.ask('a', { x: { release: true } }, 1)).toMatchObject({
      issues: [{ code: 'conflict', by: 'b', recovery: 're-read' }],
    });
    expect(codesOf(team.ask('a', { x: { release: true } }))).toEqual(['committed']);
  });

  test('[CLM6] a claim names nobody: the claimant is the sender', () => {
    const team = smallTeam({ fields: { x: claim() } });
    for (const patch of [
      { claim: 'b' },
      { claim: false },
      { claim: true, release: true },
      { handoff: { to: 'NOT A NAME' } },
      { handoff: {} },
      { release: { other: 1 } },
    ]) {
      expect(codesOf(team.ask('a', { x: patch }))).toEqual(['schema']);
    }
  });

  test('[CLM7] how the last holding ended is part of the value, whoever holds it now', () => {
    const team = smallTeam({ fields: { x: claim({ leaseMs: 100 }) } });
    expect(team.state).toEqual({ x: { holder: null, last: null } });
    team.ask('a', { x: { claim: true } });
    expect(team.state).toEqual({ x: { holder: 'a', last: null } });
    team.ask('a', { x: { release: { outcome: 'half done' } } });
    team.ask('b', { x: { claim: true } });
    team.ask('b', { x: { release: true } });
    expect(lastOf(team)).toEqual({ holder: 'b', how: 'released', outcome: null });
    team.ask('c', { x: { claim: true } });
    expect(lastOf(team)).toEqual({ holder: 'b', how: 'released', outcome: null });
    expect(Object.isFrozen((viewsOfSpace(team.space)['x'] as ClaimView).last)).toBe(true);
  });

  test.each([
    ['lease', { holder: null, last: { holder: 'a', how: 'expired', outcome: null } }],
    ['left', { holder: null, last: { holder: 'a', how: 'left', outcome: null } }],
    ['deadline', { holder: 'a', last: null }],
  ] as const)('[CLM8] a lease ends when the log says so, by %s', (cause, after) => {
    const team = smallTeam({ fields: { x: claim({ leaseMs: 100 }), y: claim() } });
    team.ask('a', { x: { claim: true }, y: { claim: true } });
    expect(timersOf(team.space)).toEqual([{ path: '/x', token: 4096, ms: 100, holder: 'a' }]);
    expire(team, '/y', 1, cause);
    expire(team, '/x', 1, cause);
    expect(team.state).toEqual({ x: after, y: { holder: 'a', last: null } });
    expect(timersOf(team.space)).toHaveLength(cause === 'deadline' ? 1 : 0);
  });

  test('[CLM8] what ends is the holding that the token names, never a later one or one below it', () => {
    const team = smallTeam({ fields: { x: claim({ leaseMs: 100 }) } });
    team.ask('a', { x: { claim: true } });
    team.ask('a', { x: { handoff: { to: 'b' } } });
    for (const [path, token] of [
      ['/x', 1],
      ['/x', 3],
      ['/x/y', 2],
    ] as const)
      expire(team, path, token, 'lease');
    expect(team.state).toMatchObject({ x: { holder: 'b' } });
    expire(team, '/x', 2, 'lease');
    expect(team.state).toMatchObject({ x: { holder: null } });
    expect(codesOf(team.ask('c', { x: { claim: true } }))).toEqual(['committed']);
  });

  test('[CLM9] whoever finds it held is told at once by whom, and whether it ends by itself', () => {
    const team = smallTeam({ fields: { x: claim(), y: claim({ leaseMs: 100 }) } });
    team.ask('a', { x: { claim: true }, y: { claim: true } });
    const verdict = team.ask('b', { x: { claim: true }, y: { claim: true } });
    expect(verdict).toMatchObject({
      kind: 'rejected',
      issues: [
        { code: 'held', by: 'a', recovery: 'wait', hint: 'a holds it. Take other work, or wait for its release.' },
        {
          code: 'held',
          by: 'a',
          recovery: 'wait',
          hint: 'a holds it. Take other work, or wait for its end: by release, or by itself 100 ms after the last word of a.',
        },
      ],
      retry: { after: 2 },
    });
  });

  test('[CLM10] who comes late to release is told how the holding ended, and may claim it again', () => {
    const team = smallTeam({ fields: { x: claim({ leaseMs: 100 }) } });
    team.ask('a', { x: { claim: true } });
    expire(team, '/x', 1, 'lease');
    const late = { x: { release: { outcome: 'done' } } };
    const hint = 'You held this claim until its lease ran out. Claim it first, if it is free.';
    expect(team.ask('a', late)).toMatchObject({ issues: [{ code: 'not_owner', recovery: 'claim-again', hint }] });
    expect(codesOf(team.ask('a', { x: { claim: true } }))).toEqual(['committed']);
    expect(codesOf(team.ask('a', late))).toEqual(['committed']);
    expect(lastOf(team)).toEqual({ holder: 'a', how: 'released', outcome: 'done' });
  });

  test('[CLM11] a lease is a whole number of milliseconds, and part of the definition', () => {
    for (const leaseMs of [0, -1, 1.5, Infinity, Number.NaN])
      expect(loading(claim({ leaseMs }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    const ids = [undefined, 1, 2].map((leaseMs) => {
      const x = claim(leaseMs === undefined ? {} : { leaseMs });
      return loadState({ name: 'x', version: 1, fields: { x } }, sha256).id;
    });
    expect(new Set(ids).size).toBe(3);
  });

  test("[CLM8] [EXP6] the change of an expiry is nobody's, and follows that of the holder", () => {
    const team = smallTeam({ fields: { x: claim({ leaseMs: 100 }) } });
    team.ask('a', { x: { claim: true } });
    expire(team, '/x', 1, 'lease');
    expect(team.schema.kinds[0]?.newest(team.space.cells[0])).toMatchObject({
      agent: '',
      n: 0,
      revision: 2,
      foreign: { agent: 'a', revision: 1 },
    });
  });

  test('[IMP2] a merge patch frees a claim, and is refused whatever else it asks of one', () => {
    const team = smallTeam({ fields: { x: claim() } });
    const asked = (x: Json): Imported => fromMergePatch(team.space, { x });
    const nothing = { ok: true, patch: {}, premises: [] };
    expect([asked(null), asked({}), asked({ holder: null })]).toEqual([nothing, nothing, nothing]);
    team.ask('a', { x: { claim: true } });
    const release = { ok: true, patch: { x: { release: true } }, premises: [] };
    expect([asked(null), asked({ holder: null }), asked({ holder: 'a' })]).toEqual([release, release, nothing]);
    team.ask('a', { x: { release: { outcome: 'done' } } });
    for (const odd of ['a', 5, [], { holder: 'b' }, { claim: true }, { last: null }, { last: { outcome: 'other' } }, { more: 1 }])
      expect(asked(odd), JSON.stringify(odd)).toMatchObject({ issues: [{ path: '/x', code: 'schema' }] });
  });
});

/** An expiry of what the first proposal of a round was granted. */
function expire(team: SmallTeam, path: string, revision: number, cause: ExpiryCause): void {
  team.events({ kind: 'expire', path, token: revision * ROUND_PROPOSALS_MAX, cause });
}

function lastOf(team: SmallTeam): unknown {
  return (team.state['x'] as { last: unknown }).last;
}
