/**
 * T2, cut freedom, at the level of the seal: histories in generations.
 *
 * All proposals of a generation read the sealed revision that holds all earlier generations, and are cut into rounds in any
 * order and any way that keeps each agent's own order. Every generation takes the same number of rounds, empty ones among
 * them, so that two plays name the same revisions. On fields of grade A they end in the same state.
 */
import fc from 'fast-check';
import type { Json } from '../json.ts';
import { canonical } from '../json.ts';
import type { Admitted } from '../proposal.ts';
import { seal } from '../seal.ts';
import { stateJson } from '../space.ts';
import { choiceOf } from './choice.ts';
import { admittedOf, AGENTS, bornSpace } from './histories.ts';
import type { SampleState } from './sample-state.ts';
import { intentFrom } from './samples/registry.ts';
import type { FieldSpec } from './spec.ts';

/** Whose proposal, what (see `choiceOf`), and in which round of its generation it is sealed in either play. */
export type GenerationStep = readonly [agent: number, what: number, round: number, otherRound: number];
export type GenerationHistory = readonly (readonly GenerationStep[])[];

/** Rounds of one generation. */
const ROUNDS = 4;

/** One to three generations of one to five proposals. */
export function generationHistories(): fc.Arbitrary<GenerationHistory> {
  const step = fc.tuple(fc.nat(AGENTS.length - 1), fc.nat(0x7fffffff), fc.nat(ROUNDS - 1), fc.nat(ROUNDS - 1));
  return fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
}

/** How the two plays end differently, in words; `undefined` when they do not. */
export function brokenGenerations(
  state: SampleState,
  history: GenerationHistory,
  sealWith: typeof seal = seal,
): string | undefined {
  const [one, other] = ([2, 3] as const).map((column) => canonical(endOf(state, history, column, sealWith)));
  return one === other ? undefined : `one cut gives ${one}, another ${other}`;
}

function endOf(state: SampleState, history: GenerationHistory, column: 2 | 3, sealWith: typeof seal): Json {
  let space = bornSpace(state);
  const counts = new Map<string, number>();
  for (const [generation, steps] of history.entries()) {
    const rounds = Array.from({ length: ROUNDS }, (): Admitted[] => []);
    const newest = new Map<string, number>();
    for (const step of steps) {
      const agent = AGENTS[step[0]] as string;
      const n = (counts.get(agent) ?? 0) + 1;
      counts.set(agent, n);
      const round = Math.max(newest.get(agent) ?? 0, step[column]);
      newest.set(agent, round);
      rounds[round]?.push(proposalOf(state, { agent, n, revision: generation * ROUNDS, what: step[1] }));
    }
    for (const proposals of rounds) ({ space } = sealWith(space, { term: 1, events: [], proposals }));
  }
  return stateJson(space);
}

function proposalOf(
  state: SampleState,
  { agent, n, revision, what }: { agent: string; n: number; revision: number; what: number },
): Admitted {
  const choice = choiceOf(what);
  const names = Object.keys(state.specs);
  const chosen = Array.from({ length: 1 + choice.upTo(2) }, () => names[choice.upTo(names.length)] as string);
  const patch = Object.fromEntries(chosen.map((name) => [name, intentFrom(state.specs[name] as FieldSpec, choice)]));
  return admittedOf({
    kind: 'proposal',
    v: 1,
    space: 'space',
    agent,
    incarnation: 1,
    n,
    schema: state.schema.id,
    base: { revision },
    patch,
  });
}
