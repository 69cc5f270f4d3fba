import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { causalHistories, cutCase, cutDependence, fieldOf, runsOf } from '../testing/index.ts';
import type { FieldSpec, IntentAt } from '../testing/index.ts';

/** There are 10 digits, and room for all of them. */
const ROOMY = ['set', 'grow-set', 'remove-wins'].map((kind): FieldSpec => ({ kind, of: 'digit', cap: 10 }));

/** One value only: what comes of a value takes several operations on it to go wrong. */
const onOneValue: IntentAt = (choice) => ({ [choice.of(['add', 'remove'])]: [0] });

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

describe('sets with room for every value of their type', () => {
  test.each(ROOMY.map((spec) => [spec.kind, spec] as const))('[T2] %s holds the same values in any cut', (_, spec) => {
    const field = fieldOf(spec);
    expect(field.grade.letter).toBe('A');
    fc.assert(
      fc.property(causalHistories(), (history) => {
        const given = spec.kind === 'grow-set' ? cutCase(spec, history) : cutCase(spec, history, onOneValue);
        expect(cutDependence(field, given)).toBeUndefined();
      }),
      { numRuns: runsOf(3_000) },
    );
  });

  test('[RMW3] a value of remove-wins is there exactly if some add has seen every remove of it', () => {
    const spec: FieldSpec = { kind: 'remove-wins', of: 'digit', cap: 10 };
    const field = fieldOf(spec);
    fc.assert(
      fc.property(causalHistories(), (history) => {
        const given = cutCase(spec, history, onOneValue);
        const ends: Json[] = [];
        const watched = { ...field, json: (cell: unknown): Json => (ends.push(field.json(cell)), field.json(cell)) };
        cutDependence(watched, given);
        const placesOf = (verb: string): readonly number[] =>
          given.proposals.flatMap(({ intent }, place) => (verb in (intent as JsonObject) ? [place] : []));
        const isThere = placesOf('add').some((add) =>
          placesOf('remove').every((remove) => given.proposals[add]?.past.includes(remove)),
        );
        const expected = isThere ? [0] : [];
        expect(ends).toEqual([expected, expected]);
      }),
      { numRuns: runsOf(3_000) },
    );
  });
});
