import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { stateJson } from '../space.ts';
import type { Space } from '../space.ts';
import {
  brokenBounds,
  brokenConfluence,
  brokenReplay,
  cutDependentCase,
  fieldOf,
  histories,
  lostUpdate,
  naivePlay,
  play,
  runsOf,
  stateOf,
} from '../testing/index.ts';
import type { FieldSpec } from '../testing/index.ts';

const FULL: FieldSpec = { kind: 'log', of: 'pair', keep: 2, id: 'id', overflow: 'reject' };
const STATES = [stateOf({ l: { ...FULL, order: 'stamp' } }), stateOf({ l: { ...FULL, order: 'commit' } })];

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

test('[KLG7] a log that rejects keeps the promises, and does what the naive model does', () => {
  fc.assert(
    fc.property(histories(fc.constant(0)), fc.constantFrom(...STATES), fc.nat(0xffffff), (history, state, seed) => {
      const played = play(history, state);
      for (const broken of [brokenReplay(played, seed), brokenConfluence(played, seed), lostUpdate(played), brokenBounds(played)])
        expect(broken).toBeUndefined();
      for (const [at, round] of naivePlay(played).entries()) {
        expect(stateJson(played.spaces[at + 1] as Space)).toEqual(round.json);
        expect(played.rounds[at + 1]?.sealed.decided.map(({ verdict }) => verdict.kind)).toEqual(
          round.verdicts.map(({ kind }) => kind),
        );
      }
    }),
    { numRuns: runsOf(1_000) },
  );
});

test('[KLG7] which appends get the room is decided by the cut', () => {
  const spec: FieldSpec = { kind: 'log', of: 'text', keep: 2, order: 'stamp', overflow: 'reject' };
  expect(cutDependentCase(fieldOf(spec), spec, { seed: 1, count: 2_000 })).toBeDefined();
});
