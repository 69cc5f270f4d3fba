/**
 * One history, whatever goes wrong: schedules of faults over the real steps of coordinators and workers.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClusterOptions } from './cluster.ts';
import * as planted from './planted-faults.ts';
import type { PlantedStep } from './planted-faults.ts';
import type { Outcome, Schedule } from './schedule.ts';
import { play } from './schedule.ts';

const STRICT: ClusterOptions = { workerCount: 3, incrementCount: 2, isLogConditional: true };
const LENIENT: ClusterOptions = { ...STRICT, isLogConditional: false };

const schedules: fc.Arbitrary<Schedule> = fc.record({
  calmCount: fc.nat(120),
  choices: fc.array(
    fc.record({ isFault: fc.integer({ min: 0, max: 5 }).map((n) => n === 0), which: fc.nat(1023), pick: fc.nat(1023) }),
    { maxLength: 120, size: 'max' },
  ),
});

/** What every run must come to. */
function expectSound({ violation, trail, cluster }: Outcome, { workerCount, incrementCount }: ClusterOptions): void {
  expect({ violation, trail: violation === undefined ? [] : trail }).toEqual({ violation: undefined, trail: [] });
  expect(cluster.totals()).toEqual({
    counts: Array.from({ length: workerCount }, () => incrementCount),
    total: workerCount * incrementCount,
  });
}

test('[CVG1][CVG2][CVG3][CVG4][T8] any schedule of faults gives one history in which everybody is answered, once', () => {
  fc.assert(
    fc.property(schedules, (schedule) => expectSound(play(STRICT, schedule), STRICT)),
    { numRuns: 1_500 },
  );
});

test('[CVG5][SURPRISE 31] a log that stores what it should refuse changes nothing', () => {
  fc.assert(
    fc.property(schedules, (schedule) => expectSound(play(LENIENT, schedule), LENIENT)),
    { numRuns: 1_000 },
  );
});

test('[CVG7] the schedules reach what they are for', () => {
  const names = new Set<string>();
  const sums = { voids: 0, rejections: 0, repeatedVerdicts: 0, fencedSessions: 0, terms: 0 };
  for (const schedule of fc.sample(schedules, { numRuns: 150, seed: 1 })) {
    const { trail, cluster } = play(LENIENT, schedule);
    for (const name of trail) names.add(name.replace(/\d+/, ''));
    const tally = cluster.auditor.tally();
    for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += tally[key];
  }
  const faults = [
    'c killed',
    'takeover',
    'c unknown, stored',
    'c unknown, lost',
    'c unknown, late',
    'late append stored',
    'c stored anyway',
    'w dies',
    'w twins',
  ];
  const losses = ['up lost', 'up doubled', 'up reordered', 'up to one', 'down lost', 'down doubled', 'down reordered'];
  expect([...faults, ...losses].filter((name) => !names.has(name))).toEqual([]);
  expect(Object.entries(sums).filter(([, count]) => count < 3)).toEqual([]);
});

const PLANTED: readonly (readonly [keyof typeof planted, PlantedStep, ClusterOptions])[] = [
  ['verdictBeforeAppend', planted.verdictBeforeAppend, STRICT],
  ['resealAfterUnknown', planted.resealAfterUnknown, STRICT],
  ['noDedupe', planted.noDedupe, STRICT],
  ['noVoidRule', planted.noVoidRule, LENIENT],
  ['helloWithoutOrder', planted.helloWithoutOrder, STRICT],
  ['termByLooks', planted.termByLooks, STRICT],
  ['deafToFencing', planted.deafToFencing, STRICT],
  ['refusalsBeforeAppend', planted.refusalsBeforeAppend, STRICT],
];

for (const [name, step, options] of PLANTED) {
  test(`[CVG6] the properties notice a planted fault: ${name}`, () => {
    const found = fc.check(
      fc.property(schedules, (schedule) => play({ ...options, step }, schedule).violation === undefined),
      { numRuns: 3_000, seed: 1, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
  });
}
