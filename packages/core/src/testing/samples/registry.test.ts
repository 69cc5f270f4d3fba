import { describe, expect, test } from 'vitest';
import { canonical } from '../../json.ts';
import type { Json, JsonObject } from '../../json.ts';
import { stateJson } from '../../space.ts';
import {
  bornSpace,
  choiceOf,
  numbersFrom,
  play,
  SAMPLE_KINDS,
  sampleState,
  sha256,
  smallTeam,
  specFrom,
  stateOf,
} from '../index.ts';
import type { SampleKind } from '../index.ts';
import { emptyCell } from '../sample-kind.ts';
import type { FieldSpec } from '../spec.ts';
import { fieldOf, intentFrom, kindOf } from './registry.ts';

const HOOKS = ['parts', 'replacedUnseen', 'invisible', 'isQuiet', 'count'] as const;

/** The checks of T5 that each kind has: one line for each, `nothing` when its accepted operations are not looked for. */
const CHECKED: { readonly [kind: string]: string } = {
  cas: 'replacedUnseen invisible',
  claim: 'invisible',
  counter: 'count',
  escrow: 'count',
  group: 'replacedUnseen invisible',
  'grow-set': 'replacedUnseen invisible isQuiet',
  lattice: 'invisible',
  log: 'invisible isQuiet',
  lww: 'replacedUnseen invisible',
  machine: 'invisible',
  map: 'parts',
  max: 'invisible',
  min: 'invisible',
  multi: 'replacedUnseen invisible',
  owned: 'replacedUnseen invisible',
  priority: 'replacedUnseen invisible',
  quota: 'count',
  records: 'parts',
  reduce: 'invisible',
  'remove-wins': 'replacedUnseen invisible isQuiet',
  set: 'replacedUnseen invisible isQuiet',
  text: 'replacedUnseen invisible isQuiet',
  'top-k': 'replacedUnseen invisible isQuiet',
  vote: 'invisible',
};

describe('sample kinds', () => {
  test('[T5] which kinds are checked for what', () => {
    const found = SAMPLE_KINDS.map((sample) => [sample.kind, HOOKS.filter((hook) => sample[hook] !== undefined).join(' ')]);
    expect(found.map(([kind]) => kind)).toHaveLength(new Set(found.map(([kind]) => kind)).size);
    expect(Object.fromEntries(found.map(([kind, hooks]) => [kind, hooks || 'nothing']))).toEqual(CHECKED);
  });

  test('[SEAL9] the first 48 sample states stay what they are, as stored histories name them by number', () => {
    const specs = Array.from({ length: 48 }, (_, number) => {
      const { specs: fields, hasGauge, guarded = null } = sampleState(number);
      return [fields as Json, hasGauge, guarded];
    });
    expect(sha256(canonical(specs))).toBe('72738bfbc0ec5371f31614be70f1d874b40b4cb7c735ba65ed0e085651df6791');
  });

  test('[SEAL9] random fields draw from every kind', () => {
    const drawn = new Set<string>();
    for (let seed = 0; seed < 2_000; seed += 1) drawn.add(specFrom(choiceOf(numbersFrom(seed)()), 0).kind);
    expect([...drawn].toSorted()).toEqual(SAMPLE_KINDS.map((sample) => sample.kind).toSorted());
  });

  test('[SEAL9] a history may name the specs of its state in place of a number', () => {
    const rounds = [[[0, 0, 0]]] as const;
    const byNumber = play({ state: 2, rounds });
    const bySpecs = play({ state: sampleState(2).specs, rounds });
    expect(bySpecs.rounds.map(({ sealed }) => sealed.text)).toEqual(byNumber.rounds.map(({ sealed }) => sealed.text));
  });

  describe.for(SAMPLE_KINDS.map((sample) => [sample.kind, sample] as const))('%s', ([, sample]) => {
    test('[SEAL9] its specs make the real kind of that name, and the naive cell starts as the real one', () => {
      const specs = specsOf(sample);
      expect(specs.some((spec) => spec.kind === sample.kind)).toBe(true);
      for (const spec of specs) {
        expect(fieldOf(spec).name).toBe(spec.kind);
        const state = stateJson(bornSpace(stateOf({ f: spec })));
        const naive = kindOf(spec).json(spec, emptyCell(kindOf(spec), spec, []));
        expect(canonical(state)).toBe(canonical({ f: naive }));
        expect(kindOf(spec).outside(spec, naive)).toBeUndefined();
      }
    });

    test('[SEAL9] its intents name verbs of the real kind, and some are committed at the start', () => {
      for (const spec of specsOf(sample).slice(0, 8)) {
        const field = fieldOf(spec);
        const committed = Array.from({ length: 100 }, (_, seed) => intentFrom(spec, choiceOf(numbersFrom(seed)()))).filter(
          (intent) => {
            expect(field.verbs).toEqual(expect.arrayContaining(Object.keys(intent as JsonObject)));
            const roles = { lead: { priority: 1 }, worker: { priority: 0 } };
            return smallTeam({ fields: { f: field }, roles }, ['ada:lead']).ask('ada', { f: intent }).kind === 'committed';
          },
        );
        expect(committed.length).toBeGreaterThan(10);
      }
    });
  });
});

function specsOf(sample: SampleKind): readonly FieldSpec[] {
  const random = Array.from({ length: 60 }, (_, seed) =>
    sample.random(choiceOf(numbersFrom(seed)()), 0, () => ({ kind: 'counter', start: 0 })),
  );
  return [...sample.simple, ...random];
}
