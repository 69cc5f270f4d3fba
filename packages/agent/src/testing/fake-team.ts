/**
 * A team in memory, for tests of what stands on `Worker`: the real seal of the core behind the public face of a worker, with
 * no coordinator, log or bus. One proposal is sealed at a time, in the order of arrival.
 */
import { admit, canonical, invariant, project, rehearse, seal, trieAt, unbornSpace, withoutEchoes } from '@oplus/core';
import type {
  Admitted,
  AgentRecord,
  Gated,
  Json,
  Projection,
  Proposal,
  Reader,
  Sealed,
  Space,
  StateSchema,
  SystemEvent,
} from '@oplus/core';
import type { Answer, Draft, View, Worker } from '@oplus/worker';

export interface FakeTeam {
  /** Joins and gives the agent's worker. */
  join(agent: string, role?: string): Worker;
  space(): Space;
  /** Everything sealed so far, genesis included. */
  sealed(): readonly Sealed[];
  /** How often a worker said that it has nothing to propose. */
  passCount(): number;
  /** Runs before each proposal is sealed: where another agent may come first. */
  beforeSeal(then: ((draft: Draft, agent: string) => void | Promise<void>) | undefined): void;
}

/** A space of that schema after its genesis. */
export function fakeTeam(schema: StateSchema, name: string = 'test'): FakeTeam {
  const history: Sealed[] = [];
  const waiting: (() => void)[] = [];
  let passes = 0;
  let before: ((draft: Draft, agent: string) => void | Promise<void>) | undefined;
  const space = (): Space => history.at(-1)?.space ?? unbornSpace(name, schema);
  const sealRound = (events: readonly SystemEvent[], proposals: readonly Admitted[]): Sealed => {
    const sealed = seal(space(), { term: 1, events, proposals });
    history.push(sealed);
    for (const wake of waiting.splice(0)) wake();
    return sealed;
  };
  sealRound([{ kind: 'genesis', schema: schema.digest, nonce: 'test' }], []);

  const recordOf = (agent: string): AgentRecord => {
    const record = trieAt(space().agents, agent);
    invariant(record !== undefined, `${agent} has joined`);
    return record;
  };
  const gate = (seen: Space, agent: string, draft: Draft): Gated<Admitted> => {
    const { incarnation, n } = recordOf(agent);
    const proposal: Proposal = {
      kind: 'proposal',
      v: 1,
      space: name,
      agent,
      incarnation,
      n: n + 1,
      schema: schema.id,
      base: { revision: seen.revision, digest: seen.head.slice(0, 16) },
      ...draft,
      patch: withoutEchoes(seen, draft.patch),
    };
    return admit(canonical(proposal as unknown as Json), agent);
  };
  const propose = async (seen: Space, agent: string, draft: Draft): Promise<Answer> => {
    await before?.(draft, agent);
    const gated = gate(seen, agent, draft);
    if (!gated.ok) return { kind: 'refused', issues: gated.issues };
    const decided = sealRound([], [gated.value]).decided[0];
    invariant(decided !== undefined, 'a due proposal is decided');
    return decided.verdict;
  };
  const rehearseOn = async (seen: Space, agent: string, draft: Draft): Promise<Answer> => {
    const gated = gate(seen, agent, draft);
    if (!gated.ok) return { kind: 'refused', issues: gated.issues };
    const verdict = rehearse(space(), gated.value);
    invariant(verdict !== undefined, 'a due proposal has a verdict');
    return verdict;
  };
  const viewOf = (seen: Space, agent: string, role: string): View => ({
    space: seen,
    project: (reader: Omit<Reader, 'agent' | 'role'>, charsMax: number, projection?: Projection) =>
      project(seen, { ...reader, agent, role }, charsMax, projection),
    propose: (draft) => propose(seen, agent, draft),
    rehearse: (draft) => rehearseOn(seen, agent, draft),
    pass: async () => {
      passes += 1;
    },
  });

  return {
    join(agent, role = 'agent') {
      sealRound([{ kind: 'join', agent, role, session: `s-${agent}-${history.length}` }], []);
      return {
        agent,
        role,
        view: async () => viewOf(space(), agent, role),
        newest: () => viewOf(space(), agent, role),
        viewAfter: async (view) => {
          while (space().revision <= view.space.revision) await new Promise<void>((wake) => waiting.push(wake));
          return viewOf(space(), agent, role);
        },
        leave: async () => void sealRound([{ kind: 'leave', agent, incarnation: recordOf(agent).incarnation }], []),
        close: async () => undefined,
      };
    },
    space,
    sealed: () => history,
    passCount: () => passes,
    beforeSeal: (then) => {
      before = then;
    },
  };
}
