/**
 * A pool of random state definitions that together hold every kind, alone, beside others and nested.
 *
 * Stored histories name the first 48 by number, so these are drawn from the first kinds alone and stay what they are: each
 * simple field of those alone, then random states. From 48 on the same again: what came later of the first kinds and each
 * simple field of the later kinds alone, then random states that draw from all kinds, two for each. These move whenever a kind is added.
 */
import type { Field } from '../field-kind.ts';
import type { JsonObject } from '../json.ts';
import { field, loadState } from '../state-schema.ts';
import type { Rule, StateSchema } from '../state-schema.ts';
import { choiceOf, numbersFrom } from './choice.ts';
import { sha256 } from './sha256.ts';
import { FIRST_KINDS, fieldOf, LATER_KINDS, SAMPLE_KINDS, specFrom } from './samples/registry.ts';
import type { SampleKind } from './sample-kind.ts';
import type { FieldSpec } from './spec.ts';

/** A definition, compiled, with the plain data it was made of. `hasGauge`: the invariant and the transition below are in force. */
export type SampleState = {
  readonly specs: { readonly [name: string]: FieldSpec };
  readonly schema: StateSchema;
  readonly hasGauge: boolean;
  /** The field that only a lead may write, if any. */
  readonly guarded: string | undefined;
};

/** How many sample states stored histories may name by number. */
const FIRST_STATES = 48;

const laterSimple = [...FIRST_KINDS.flatMap((sample) => sample.later ?? []), ...LATER_KINDS.flatMap((sample) => sample.simple)];

export const SAMPLE_STATES: number = FIRST_STATES + laterSimple.length + 2 * SAMPLE_KINDS.length;

/** The state of that number, from 0 to `SAMPLE_STATES` - 1. Compiled once. */
export function sampleState(number: number): SampleState {
  const known = pool.get(number);
  if (known !== undefined) return known;
  const made = stateFrom(number);
  pool.set(number, made);
  return made;
}

/** A state with these fields. `swap` may replace a real kind by a faulty one: for tests of the tests. */
export function stateOf(
  specs: { readonly [name: string]: FieldSpec },
  swap: (kind: Field) => Field = (kind) => kind,
): SampleState {
  return compile(specs, undefined, swap);
}

/** What the sample's invariant `gaugeInRange` says of a state, in plain words. */
export function gaugeIsInRange(json: JsonObject): boolean {
  return (json['gauge'] as number) >= -3 && (json['gauge'] as number) <= 3;
}

/** What the sample's transition `gaugeSteps` says. */
export function gaugeStepsAreSmall(before: JsonObject, after: JsonObject): boolean {
  return Math.abs((after['gauge'] as number) - (before['gauge'] as number)) <= 2;
}

const pool = new Map<number, SampleState>();

const firstSimple = FIRST_KINDS.flatMap((sample) => sample.simple);

function stateFrom(number: number): SampleState {
  const isFirst = number < FIRST_STATES;
  const alone = isFirst ? firstSimple[number] : laterSimple[number - FIRST_STATES];
  return alone === undefined ? randomState(number, isFirst ? FIRST_KINDS : SAMPLE_KINDS) : compile({ f: alone }, undefined);
}

function randomState(number: number, kinds: readonly SampleKind[]): SampleState {
  const next = numbersFrom(number);
  const count = 1 + (next() % 3);
  const specs: { [name: string]: FieldSpec } = {};
  for (let i = 0; i < count; i += 1) specs[`f${i}`] = specFrom(choiceOf(next() * 1000 + (next() % 1000)), 0, kinds);
  if (next() % 2 === 0) specs['gauge'] = { kind: 'counter', start: 0 };
  return compile(specs, next() % 3 === 0 ? 'f0' : undefined);
}

function compile(
  specs: { readonly [name: string]: FieldSpec },
  guarded: string | undefined,
  swap: (kind: Field) => Field = (kind) => kind,
): SampleState {
  const hasGauge = 'gauge' in specs;
  const fields = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => {
      const kind = swap(fieldOf(spec));
      return [name, name === guarded ? field(kind, { writers: ['lead'] }) : kind];
    }),
  );
  const inRange: Rule<{ readonly gauge: Field<number> }> = {
    reads: ['gauge'],
    check: ({ after }) => (after.gauge >= -3 && after.gauge <= 3 ? true : 'The gauge ends at 3.'),
  };
  const steps: Rule<{ readonly gauge: Field<number> }> = {
    reads: ['gauge'],
    check: ({ before, after }) =>
      Math.abs(after.gauge - before.gauge) <= 2
        ? []
        : [{ path: '/gauge', hint: 'The gauge moves by 2 at most.', have: before.gauge, want: after.gauge }],
  };
  const schema = loadState(
    {
      name: 'sample',
      version: 1,
      fields,
      roles: { lead: { priority: 1 }, worker: { priority: 0 } },
      ...(hasGauge
        ? {
            invariants: { gaugeInRange: inRange as Rule<{ readonly [name: string]: Field }> },
            transitions: { gaugeSteps: steps as Rule<{ readonly [name: string]: Field }> },
          }
        : {}),
    },
    sha256,
  );
  return { specs, schema, hasGauge, guarded };
}
