/**
 * Random causal histories: few agents on few keys, views that lag, several proposals of one agent in flight, wrong patches,
 * premises, re-joins, expiries. A history is plain numbers; playing it makes the proposals and seals the rounds.
 */
import fc from 'fast-check';
import type { SystemEvent } from '../entry.ts';
import { hasTimers, timersOf } from '../expiry.ts';
import type { ExpiryCause, Timer } from '../field-kind.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, pointer } from '../json.ts';
import { admit } from '../proposal.ts';
import type { Admitted, Proposal } from '../proposal.ts';
import { seal } from '../seal.ts';
import type { Sealed } from '../seal.ts';
import type { Space } from '../space.ts';
import { unbornSpace } from '../space.ts';
import { choiceOf } from './choice.ts';
import type { Choice } from './choice.ts';
import { IDS, KEYS } from './intents.ts';
import { SAMPLE_STATES, sampleState, stateOf } from './sample-state.ts';
import type { SampleState } from './sample-state.ts';
import { intentFrom } from './samples/registry.ts';
import type { FieldSpec } from './spec.ts';

/** One proposal to be made: whose, on a view how many revisions old, and what (see `choiceOf`). */
export type Step = readonly [agent: number, lag: number, what: number];

/** `state` is the number of a sample state, or the specs of one: stored histories must not name a number that may move. */
export type History = {
  readonly state: number | { readonly [name: string]: FieldSpec };
  readonly rounds: readonly (readonly Step[])[];
};

export type PlayedRound = {
  readonly events: readonly SystemEvent[];
  readonly proposals: readonly Admitted[];
  readonly sealed: Sealed;
};

/** `spaces[r]` is the space at revision r; `rounds[r]` is what led to it, its genesis included. */
export type Play = { readonly state: SampleState; readonly spaces: readonly Space[]; readonly rounds: readonly PlayedRound[] };

/** The agents of every play. One name begins as another, and continues as an issued id would. */
export const AGENTS: readonly string[] = ['ada', 'ada-2', 'bob', 'cy'];

/** Histories of 1 to 6 rounds of 1 to 4 proposals. `states` limits them to some sample states. */
export function histories(states: fc.Arbitrary<number> = fc.nat(SAMPLE_STATES - 1)): fc.Arbitrary<History> {
  const step = fc.tuple(fc.nat(AGENTS.length - 1), fc.nat(3), fc.nat(0x7fffffff));
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
  return fc.record({ state: states, rounds }, { noNullPrototype: true });
}

/** Plays a history. `state` and `sealWith` replace the sample and the real seal: for tests of the tests. */
export function play(history: History, state: SampleState = stateFor(history), sealWith: typeof seal = seal): Play {
  const start = born(state);
  let { space } = start;
  const spaces = [space];
  const rounds: PlayedRound[] = [{ events: start.events, proposals: [], sealed: start }];
  const counts = new Map<string, number>();
  const incarnations = new Map<string, number>();
  for (const [at, steps] of history.rounds.entries()) {
    const events: SystemEvent[] = [];
    const proposals = steps.map(([who, lag, what]) => {
      const agent = AGENTS[who] as string;
      const choice = choiceOf(what);
      const n = (counts.get(agent) ?? 0) + 1;
      counts.set(agent, n);
      const proposal = proposalFrom(state, choice, { agent, n, revision: Math.max(0, at - lag) });
      if (choice.upTo(16) === 15 && !events.some((event) => 'agent' in event && event.agent === agent)) {
        events.push({ kind: 'join', agent, role: agent === 'ada' ? 'lead' : 'worker', session: `again-${at}` });
        incarnations.set(agent, (incarnations.get(agent) ?? 1) + 1);
      }
      const isSorted = choice.upTo(4) > 0;
      events.push(...expiriesFrom(spaces, choice));
      return { proposal, isSorted };
    });
    const admitted = proposals.map(({ proposal, isSorted }) =>
      admittedOf({ ...proposal, incarnation: incarnations.get(proposal.agent) ?? 1 }, isSorted),
    );
    const sealed = sealWith(space, { term: 1, events, proposals: admitted });
    space = sealed.space;
    spaces.push(space);
    rounds.push({ events, proposals: admitted, sealed });
  }
  return { state, spaces, rounds };
}

/** A space at revision 0 with all agents joined; `ada` leads. */
export function bornSpace(state: SampleState): Space {
  return born(state).space;
}

/** The proposal through the real gate. With its keys in reverse order unless `isSorted`. Throws when the gate turns it away. */
export function admittedOf(proposal: Proposal, isSorted: boolean = true): Admitted {
  const text = isSorted ? canonical(proposal as unknown as Json) : JSON.stringify(reversed(proposal as unknown as Json));
  const gated = admit(text, proposal.agent);
  if (!gated.ok) throw new Error(`the gate turned a generated proposal away: ${JSON.stringify(gated.issues)}`);
  return gated.value;
}

function stateFor({ state }: History): SampleState {
  return typeof state === 'number' ? sampleState(state) : stateOf(state);
}

const births = new WeakMap<SampleState, Sealed>();

function born(state: SampleState): Sealed {
  const known = births.get(state);
  if (known !== undefined) return known;
  const joins = AGENTS.map((agent): SystemEvent => ({
    kind: 'join',
    agent,
    role: agent === 'ada' ? 'lead' : 'worker',
    session: 'first',
  }));
  const genesis: SystemEvent = { kind: 'genesis', schema: state.schema.digest, nonce: 'n' };
  const sealed = seal(unbornSpace('space', state.schema), { term: 1, events: [genesis, ...joins], proposals: [] });
  births.set(state, sealed);
  return sealed;
}

function proposalFrom(
  state: SampleState,
  choice: Choice,
  { agent, n, revision }: { agent: string; n: number; revision: number },
): Proposal {
  const names = Object.keys(state.specs);
  const patch: { [name: string]: Json } = {};
  const count = choice.upTo(3) === 2 ? 2 : 1;
  for (let i = 0; i < count; i += 1) {
    const name = names[choice.upTo(names.length)] as string;
    patch[name] ??= intentFrom(state.specs[name] as (typeof state.specs)[string], choice);
  }
  const premises = choice.upTo(8) === 7 ? [premiseFrom(names, choice)] : undefined;
  return {
    kind: 'proposal',
    v: 1,
    space: 'space',
    agent,
    incarnation: 1,
    n,
    schema: state.schema.id,
    base: { revision },
    patch,
    ...(premises === undefined ? {} : { premises }),
  };
}

/** Half the time, where something may end by itself: an expiry of what stands, or stood up to two revisions ago. */
function expiriesFrom(spaces: readonly Space[], choice: Choice): readonly SystemEvent[] {
  if (!hasTimers((spaces[0] as Space).schema) || choice.upTo(2) === 0) return [];
  const timers = timersOf(spaces.at(-1 - choice.upTo(3)) ?? (spaces[0] as Space));
  if (timers.length === 0) return [];
  const { path, token, holder } = choice.of(timers as [Timer]);
  const fitting = holder === undefined ? (['deadline'] as const) : (['lease', 'left'] as const);
  const cause =
    choice.upTo(8) === 7 ? (holder === undefined ? 'lease' : 'deadline') : choice.of<ExpiryCause>([...fitting] as [ExpiryCause]);
  return [{ kind: 'expire', path, token: choice.upTo(8) === 7 ? token + 1 : token, cause }];
}

function premiseFrom(names: readonly string[], choice: Choice): string {
  const name = names[choice.upTo(names.length)] as string;
  const below = choice.upTo(3);
  return below === 0
    ? pointer(name)
    : below === 1
      ? pointer(name, choice.of([...KEYS, ...IDS] as [string]))
      : pointer(name, choice.of(IDS), 'n');
}

function reversed(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .reverse()
      .map(([key, part]) => [key, reversed(part)]),
  );
}
