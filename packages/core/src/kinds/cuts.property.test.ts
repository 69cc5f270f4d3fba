import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { causalHistories, cutCase, cutDependence, cutDependentCase, fieldOf, runsOf } from '../testing/index.ts';
import type { FieldSpec } from '../testing/index.ts';

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

/** Four agents write: a cap of four values is never reached. */
const ROOMY: FieldSpec = { kind: 'multi', of: 'text or null', cap: 4 };

function isFree(spec: FieldSpec): void {
  const field = fieldOf(spec);
  fc.assert(
    fc.property(causalHistories(), (history) => {
      expect(cutDependence(field, cutCase(spec, history))).toBeUndefined();
    }),
    { numRuns: runsOf() },
  );
}

function isBound(spec: FieldSpec): void {
  const field = fieldOf(spec);
  expect(field.grade.letter).toBe('B');
  expect(cutDependentCase(field, spec, { seed: 1, count: 2_000 })).toBeDefined();
}

test('[MLT6] any order and any cut give the same values of a multi whose cap is not reached', () => {
  isFree(ROOMY);
});

test('[MLT6] [GRP2] and of a group by that rule', () => {
  isFree({ kind: 'group', rule: 'multi', cap: 4 });
});

test('[MLT6] beyond the cap the cut decides', () => {
  isBound({ ...ROOMY, cap: 1 });
  isBound({ ...ROOMY, cap: 2 });
});

test('[PRI1] any order and any cut give the same value of a priority register, in whatever roles its agents write', () => {
  isFree({ kind: 'priority', of: 'text', start: 'a' });
  isFree({ kind: 'group', rule: 'priority' });
});

test('[DSP1] who settles what in a dispute depends on the cut, also where the cap is not reached', () => {
  isBound({ kind: 'multi', of: 'digit', cap: 10, dispute: {} });
});

test('[OWN1] whose a value is depends on the cut', () => {
  isBound({ kind: 'owned', of: 'text' });
});
