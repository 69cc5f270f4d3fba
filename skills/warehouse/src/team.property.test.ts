import type { StateDefinition } from '@oplus/core';
import { loadState } from '@oplus/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ROUTINGS } from './layout.ts';
import { decide } from './policy.ts';
import { warehouseState } from './state.ts';
import { runTeam, sha256 } from './testing/team.ts';
import type { TeamRun } from './testing/team.ts';

const SEEDS = [42, 43, 44, 45, 46];

/** Whatever was refused on the way: everything solved, and state and world are one. */
function expectSound(run: TeamRun, steps: number): void {
  expect(run.ruling.violations).toEqual([]);
  expect(run.ruling).toMatchObject({ events: steps, solved: steps, stalled: 0, invalid: 0, score: 1 });
  expect(run.committed).toBe(steps);
}

test('[WHS60] one worker solves everything at the first attempt, whatever the routing', () => {
  for (const seed of SEEDS) {
    const runs = ROUTINGS.map((routing) => runTeam({ agents: 1, steps: 100, seed, routing, timing: 'lockstep' }));
    for (const run of runs) {
      expectSound(run, 100);
      expect(run.rejected).toBe(0);
    }
  }
});

describe('many workers', () => {
  test.each(ROUTINGS)('[WHS61] %s: 1 to 16 workers with stale bases leave state and world alike', (routing) => {
    for (const seed of SEEDS) {
      for (const agents of [2, 3, 5, 8, 16]) {
        for (const timing of ['lockstep', seed, seed + 1000] as const)
          expectSound(runTeam({ agents, steps: 100, seed, routing, timing }), 100);
      }
    }
  });

  test('[WHS61] any plan, any interleaving', () => {
    const refused = { conflict: 0, invariant: 0, stale: 0 };
    fc.assert(
      fc.property(
        fc.constantFrom(...ROUTINGS),
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(),
        fc.nat(),
        (routing, agents, steps, seed, timing) => {
          const run = runTeam({ agents, steps, seed, routing, timing });
          expectSound(run, steps);
          for (const [rule, count] of Object.entries(run.refusedBy))
            refused[rule.startsWith('conflict') ? 'conflict' : 'invariant'] += count;
          refused.stale = Math.max(refused.stale, run.staleMax);
        },
      ),
      { numRuns: 300 },
    );
    expect(refused.conflict).toBeGreaterThan(100);
    expect(refused.invariant).toBeGreaterThan(10);
    expect(refused.stale).toBeGreaterThan(3);
  });

  test('[WHS61] neighbours meet where their blocks are full, and nobody meets under disjoint', () => {
    const count = (routing: string, blockShelves?: number): number =>
      SEEDS.reduce(
        (sum, seed) =>
          sum +
          runTeam({ agents: 4, steps: 400, seed, routing, timing: seed, ...(blockShelves === undefined ? {} : { blockShelves }) })
            .rejected,
        0,
      );
    expect(count('disjoint')).toBe(0);
    expect(count('zones', 125)).toBe(0);
    expect(count('zones')).toBeGreaterThan(50);
    expect(count('shared')).toBeGreaterThan(50);
  });
});

test('[WHS62] in lockstep the same plan gives the same entries, byte for byte', () => {
  for (const routing of ROUTINGS) {
    const entries = (seed: number): string =>
      runTeam({ agents: 4, steps: 100, seed, routing, timing: 'lockstep' }).entries.join('\n');
    expect(entries(42)).toBe(entries(42));
    expect(entries(42)).not.toBe(entries(43));
  }
});

test('[WHS41] an event takes few attempts', () => {
  for (const agents of [4, 16]) {
    for (const seed of SEEDS)
      expect(runTeam({ agents, steps: 100, seed, routing: 'shared', timing: seed }).attemptsMax).toBeLessThanOrEqual(8);
  }
});

describe('what these tests would see', () => {
  test('[WHS61] without the rules of the state the races do harm, and the judge says so', () => {
    const { invariants: _, transitions: __, ...lax } = warehouseState;
    const schema = loadState(lax as unknown as StateDefinition, sha256);
    const violations = SEEDS.map(
      (seed) => runTeam({ agents: 8, steps: 100, seed, routing: 'shared', timing: seed, schema }).ruling.violations.length,
    );
    expect(Math.min(...violations)).toBeGreaterThan(0);
  });

  test('[WHS61] a worker that says one thing and does another is found', () => {
    const policy: typeof decide = (prompted) => {
      const decision = decide(prompted);
      return decision.action.name === 'Move' ? { ...decision, action: { name: 'Wait', args: {} } } : decision;
    };
    const { ruling } = runTeam({ agents: 2, steps: 100, seed: 42, routing: 'shared', timing: 'lockstep', policy });
    expect(ruling.violations.length).toBeGreaterThan(0);
    expect(ruling.score).toBeLessThan(1);
  });

  test('[WHS61] a worker that gives up stalls visibly, and harms nothing but the score', () => {
    const run = runTeam({ agents: 16, steps: 100, seed: 42, routing: 'shared', timing: 'lockstep', attemptsMax: 1 });
    expect(run.ruling.violations).toEqual([]);
    expect(run.ruling.stalled).toBeGreaterThan(2);
    expect(run.ruling.score).toBeLessThan(1);
  });
});
