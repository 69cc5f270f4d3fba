import { describe, expect, test } from 'vitest';
import { codesOf, outcomesOf, smallTeam } from '../testing/index.ts';
import { viewsOfSpace } from '../projection.ts';
import type { ClaimView } from './claim.ts';
import { claim } from './claim.ts';
import { map } from './map.ts';
import { records } from './records.ts';

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
    expect(team.state).toEqual({ x: { holder: 'b' } });
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
    team.ask('b', { m: { drop: ['k'] }, r: { drop: ['k'] } });
    expect(codesOf(team.ask('a', { r: { patch: { k: { c: { release: true } } } } }, 1))).toEqual(['gone']);
    team.ask('b', { m: { at: { k: { claim: true } } }, r: { put: { k: { c: { claim: true } } } } });
    const second = fences();
    expect(first.every((fence, i) => fence > 0 && fence < (second[i] ?? 0))).toBe(true);
    expect(codesOf(team.ask('a', { m: { at: { k: { release: true } } } }, 1))).toEqual(['not_owner']);
    expect(JSON.stringify(team.state)).not.toContain('fence');
  });

  test('[CLM4] a release leaves its outcome for the next holder', () => {
    const team = smallTeam({ fields: { x: claim({ outcomeCharsMax: 10 }) } });
    team.ask('a', { x: { claim: true } });
    expect(codesOf(team.ask('a', { x: { release: { outcome: 'x'.repeat(11) } } }))).toEqual(['bound']);
    team.ask('a', { x: { release: { outcome: 'half done' } } });
    team.ask('b', { x: { claim: true } });
    expect(team.state).toEqual({ x: { holder: 'b', outcome: 'half done' } });
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
});
