/**
 * Plays by hand: a definition, and rounds in which each proposal stands there for a reason. Every fixture of this sort shows one idea.
 */
import { admit, canonical, seal, timersOf, unbornSpace } from '@oplus/core';
import type { Admitted, ExpiryCause, Json, JsonObject, Sealed, Space, StateSchema, SystemEvent } from '@oplus/core';

/** One idea: its name is that of the fixture and of the space. */
export type Idea = {
  readonly name: string;
  readonly schema: StateSchema;
  /** What the code of the definition does, in words: of functions by path of their field, of checks by name of their rule. */
  readonly functions?: { readonly [path: string]: string };
  readonly checks?: { readonly [rule: string]: string };
  readonly rounds: readonly Drafted[];
};

/**
 * The events and proposals of a round, in no order that matters. `ends` makes an expiry, with this cause, of each timer that stands at
 * the path. From `term` on the rounds are of that term.
 */
export type Drafted = {
  readonly events?: readonly SystemEvent[];
  readonly ends?: { readonly [path: string]: ExpiryCause };
  readonly proposals?: readonly Draft[];
  readonly term?: number;
};

/** `base` is a revision, the newest one when left out, or a whole base. */
export type Draft = {
  readonly agent: string;
  readonly n: number;
  readonly base?: number | JsonObject;
  readonly patch: JsonObject;
  readonly premises?: readonly string[];
  readonly incarnation?: number;
  readonly schema?: string;
  readonly why?: string;
  readonly dry?: true;
};

/** One round as it was played. `proposals` are canonical texts, also those that are not due. */
export type HandRound = {
  readonly term: number;
  readonly events: readonly SystemEvent[];
  readonly proposals: readonly string[];
  readonly sealed: Sealed;
};

export type HandPlay = { readonly space: Space; readonly rounds: readonly HandRound[] };

/** The play of an idea, always the same, with the space after its last round. */
export function playIdea({ name, schema, rounds: drafted }: Idea): HandPlay {
  let space = unbornSpace(name, schema);
  let term = 1;
  const rounds = drafted.map((round, i): HandRound => {
    term = round.term ?? term;
    const genesis: readonly SystemEvent[] = i === 0 ? [{ kind: 'genesis', schema: schema.digest, nonce: 'n' }] : [];
    const given = { term, events: [...genesis, ...(round.events ?? []), ...endings(space, round.ends ?? {})] };
    const admitted = (round.proposals ?? []).map((one) => admittedOf(one, space, i - 1));
    const sealed = seal(space, { ...given, proposals: admitted });
    space = sealed.space;
    return { ...given, proposals: admitted.map(({ text }) => text), sealed };
  });
  return { space, rounds };
}

/** A join in the first round, or under another session. */
export function joined(agent: string, role: string = 'worker', session: string = 'first'): SystemEvent {
  return { kind: 'join', agent, role, session };
}

/** Proposals of one agent on one base, numbered from `n` on: one for each patch. */
export function asks(agent: string, n: number, base: number | JsonObject, ...patches: readonly JsonObject[]): readonly Draft[] {
  return patches.map((patch, i) => ({ agent, n: n + i, base, patch }));
}

function endings(space: Space, ends: { readonly [path: string]: ExpiryCause }): readonly SystemEvent[] {
  return timersOf(space).flatMap(({ path, token }): readonly SystemEvent[] => {
    const cause = ends[path];
    return cause === undefined ? [] : [{ kind: 'expire', path, token, cause }];
  });
}

function admittedOf(
  { agent, n, base, patch, premises, incarnation = 1, schema, why, dry }: Draft,
  of: Space,
  newest: number,
): Admitted {
  const proposal = {
    kind: 'proposal',
    v: 1,
    space: of.name,
    agent,
    incarnation,
    n,
    schema: schema ?? of.schema.id,
    base: typeof base === 'object' ? base : { revision: base ?? newest },
    ...(premises === undefined ? {} : { premises }),
    patch,
    ...(why === undefined ? {} : { why }),
    ...(dry === undefined ? {} : { dry }),
  };
  const gated = admit(canonical(proposal as unknown as Json), agent);
  if (!gated.ok) throw new Error(`${agent} ${n}: ${JSON.stringify(gated.issues)}`);
  return gated.value;
}
