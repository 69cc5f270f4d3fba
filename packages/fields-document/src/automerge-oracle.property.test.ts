import * as automerge from '@automerge/automerge';
import type { Attempt, Field, FieldKind } from '@oplus/core';
import { runsOf } from '@oplus/core/testing';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { askedRounds, bothShown, disagreement, judgedSchema } from './testing/automerge-oracle.ts';
import type { Shown } from './testing/automerge-oracle.ts';

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 1_200_000 });

describe('Automerge as a judge', () => {
  test('[AMO1][AMO2][AMO3][AMO4] core and Automerge show the same after the same history', () => {
    const schema = judgedSchema();
    const reached = { rivals: 0, elements: 0, keys: 0, sums: 0 };
    fc.assert(
      fc.property(askedRounds(), (rounds) => {
        const both = bothShown(automerge, schema, rounds);
        const found = disagreement(both);
        if (found !== undefined) throw new Error(found);
        const { said, elements, keys, sum } = both.core;
        if (said.length > 1) reached.rivals += 1;
        if (elements.length > 0) reached.elements += 1;
        if (keys.length > 0) reached.keys += 1;
        if (sum !== 0) reached.sums += 1;
      }),
      { numRuns: runsOf() },
    );
    for (const count of Object.values(reached)) expect(count).toBeGreaterThan(0);
  });

  test.each([
    ['multi', 'said'],
    ['set', 'elements'],
    ['map', 'keys'],
  ] as const)('[AMO5] a %s that takes everything for seen is noticed in its %s', (name, shown) => {
    expect(
      differencesOf((kind) => ({ ...kind, fold: (cell, op, path, attempt) => kind.fold(cell, op, path, blind(attempt)) }), name),
    ).toEqual([shown]);
  });

  test('[AMO5] a counter that counts some increments twice is noticed in its sum', () => {
    const twice = (kind: FieldKind): FieldKind => ({
      ...kind,
      fold: (cell, op, path, attempt) => {
        const once = kind.fold(cell, op, path, attempt);
        return attempt.base + 1 < attempt.mark.revision ? kind.fold(once, op, path, attempt) : once;
      },
    });
    expect(differencesOf(twice, 'counter')).toEqual(['sum']);
  });
});

/** What differs, over many histories, when the kind of this name is made faulty. */
function differencesOf(fault: (kind: FieldKind) => FieldKind, name: string): readonly string[] {
  const schema = judgedSchema((kind) => (kind.name === name ? (fault(kind) as Field) : kind));
  const found = new Set<string>();
  for (const rounds of fc.sample(askedRounds(), { numRuns: 100, seed: 1 })) {
    const { core, oracle } = bothShown(automerge, schema, rounds);
    for (const key of Object.keys(core) as (keyof Shown)[]) if (String(core[key]) !== String(oracle[key])) found.add(key);
  }
  return [...found];
}

/** A getter of the attempt is read where it stands, hence no copy. */
function blind(attempt: Attempt): Attempt {
  return Object.create(attempt, { sees: { value: () => true }, sawAll: { value: () => true } }) as Attempt;
}
