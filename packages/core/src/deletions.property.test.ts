import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { canonical } from './json.ts';
import type { Json } from './json.ts';
import {
  brokenConfluence,
  brokenReplay,
  lostUpdate,
  numbersFrom,
  play,
  resurrected,
  runsOf,
  SAMPLE_STATES,
  sampleState,
} from './testing/index.ts';
import type { History } from './testing/index.ts';

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

/** Kinds in which something can be deleted that was there. */
const DELETING = ['map', 'records', 'set', 'remove-wins'];

/** Of a sample state, numbers of steps whose patch deletes something, and of steps of any sort. */
type Steps = { readonly state: number; readonly deleting: readonly number[]; readonly any: readonly number[] };

const pools: readonly Steps[] = Array.from({ length: SAMPLE_STATES }, (_, state) => state)
  .filter((state) => sampleState(state).schema.kinds.every(({ name }) => DELETING.includes(name)))
  .map((state) => {
    const next = numbersFrom(state);
    const any = Array.from({ length: 60 }, next);
    const deletes = (what: number): boolean => {
      const proposal = play({ state, rounds: [[[0, 0, what]]] }).rounds[1]?.proposals[0]?.proposal;
      return /"(?:drop|remove)":/.test(canonical((proposal?.patch ?? {}) as Json));
    };
    return { state, any, deleting: any.filter(deletes) };
  })
  .filter(({ deleting }) => deleting.length > 4);

/** Histories of few agents on few keys in which every second patch or so deletes something. */
const histories: fc.Arbitrary<History> = fc.constantFrom(...pools).chain(({ state, any, deleting }) => {
  const what = fc.oneof(fc.constantFrom(...any), fc.constantFrom(...deleting));
  const step = fc.tuple(fc.nat(3), fc.nat(3), what);
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 8 });
  return rounds.map((given): History => ({ state, rounds: given }));
});

test('[T1][T4][T5][T6][SURPRISE 11] where much is deleted, no order of arrival and no snapshot makes a difference, nothing is lost and nothing comes back', () => {
  expect(pools.length).toBeGreaterThan(8);
  let deletions = 0;
  fc.assert(
    fc.property(histories, fc.nat(0xffffff), (history, seed) => {
      const played = play(history);
      for (const { sealed } of played.rounds)
        for (const { admitted, verdict } of sealed.decided)
          if (verdict.kind === 'committed' && /"(?:drop|remove)":/.test(admitted.text)) deletions += 1;
      expect(brokenConfluence(played, seed)).toBeUndefined();
      expect(brokenReplay(played, seed)).toBeUndefined();
      expect(lostUpdate(played)).toBeUndefined();
      expect(resurrected(played)).toBeUndefined();
    }),
    { numRuns: runsOf(400) },
  );
  expect(deletions).toBeGreaterThan(runsOf(400));
});
