/**
 * A small team on one space, for examples: every call seals one round, and the log is kept.
 */
import type { SystemEvent } from '../entry.ts';
import { OplusError } from '../error.ts';
import type { FieldKind } from '../field-kind.ts';
import type { Verdict } from '../issue.ts';
import type { JsonObject } from '../json.ts';
import type { Proposal } from '../proposal.ts';
import { seal } from '../seal.ts';
import type { Sealed } from '../seal.ts';
import type { Space } from '../space.ts';
import { stateJson, unbornSpace } from '../space.ts';
import type { Fields, StateDefinition, StateSchema } from '../state-schema.ts';
import { loadState } from '../state-schema.ts';
import { admittedOf } from './histories.ts';
import { sha256 } from './sha256.ts';

/** One proposal of a round. `base` is the newest revision when left out. */
export type Ask = { readonly agent: string; readonly patch: JsonObject } & Partial<
  Pick<Proposal, 'premises' | 'action' | 'why'>
> & {
    readonly base?: number | Proposal['base'];
  };

export type SmallTeam = {
  readonly schema: StateSchema;
  /** Newest revision. */
  readonly revision: number;
  readonly space: Space;
  /** The space at a revision. */
  at(revision: number): Space;
  /** The whole state as JSON. */
  readonly state: JsonObject;
  /** The texts of the log. */
  readonly log: readonly string[];
  /** Seals one round; verdicts in the order asked. */
  round(...asks: readonly Ask[]): readonly Verdict[];
  /** Seals a round of one. */
  ask(agent: string, patch: JsonObject, base?: number): Verdict;
  /** Seals a round of one; with all that the seal gave. */
  sealOne(agent: string, patch: JsonObject): { readonly sealed: Sealed; readonly verdict: Verdict };
  /** Seals a round of system events. */
  events(...events: readonly SystemEvent[]): Sealed;
};

/** Loads a definition that has this one field, called `f`. */
export function loading(kind: FieldKind): () => StateSchema {
  return () => loadState({ name: 'example', version: 1, fields: { f: kind } }, sha256);
}

/** Why a definition does not load. Throws when it does. */
export function loadError<F extends Fields>(given: Partial<StateDefinition<F>> & { readonly fields: F }): OplusError {
  try {
    loadState({ name: 'example', version: 1, ...given }, sha256);
  } catch (error) {
    if (error instanceof OplusError) return error;
    throw error;
  }
  throw new Error('the definition loads');
}

/** A team whose agents have joined at revision 0. A role follows the name after a colon: `boss:lead`. */
export function smallTeam<F extends Fields>(
  given: Partial<StateDefinition<F>> & { readonly fields: F },
  agents: readonly string[] = ['a', 'b', 'c'],
): SmallTeam {
  const schema = loadState({ name: 'example', version: 1, ...given }, sha256);
  const joins = agents.map((name): SystemEvent => {
    const [agent = '', role = 'agent'] = name.split(':');
    return { kind: 'join', agent, role, session: 'first' };
  });
  const first = seal(unbornSpace('example', schema), {
    term: 1,
    events: [{ kind: 'genesis', schema: schema.digest, nonce: 'n' }, ...joins],
    proposals: [],
  });
  const spaces = [first.space];
  const log = [first.text];
  const counts = new Map<string, number>();
  const incarnations = new Map<string, number>();
  const head = (): Space => spaces.at(-1) as Space;
  let newest: Sealed | undefined;
  const add = (sealed: Sealed): Sealed => {
    newest = sealed;
    spaces.push(sealed.space);
    log.push(sealed.text);
    return sealed;
  };
  const team: SmallTeam = {
    schema,
    log,
    at: (revision) => spaces[revision] as Space,
    get revision() {
      return head().revision;
    },
    get space() {
      return head();
    },
    get state() {
      return stateJson(head());
    },
    round: (...asks) => {
      const proposals = asks.map(({ agent, base = head().revision, ...rest }) => {
        const n = (counts.get(agent) ?? 0) + 1;
        counts.set(agent, n);
        const incarnation = incarnations.get(agent) ?? 1;
        const where = typeof base === 'number' ? { revision: base } : base;
        return admittedOf({
          kind: 'proposal',
          v: 1,
          space: 'example',
          agent,
          incarnation,
          n,
          schema: schema.id,
          base: where,
          ...rest,
        });
      });
      const { decided } = add(seal(head(), { term: 1, events: [], proposals }));
      return proposals.map(({ proposal }) => {
        const found = decided.find(
          ({ admitted }) => admitted.proposal.agent === proposal.agent && admitted.proposal.n === proposal.n,
        );
        if (found === undefined) throw new Error(`no verdict for ${proposal.agent} ${proposal.n}`);
        return found.verdict;
      });
    },
    sealOne: (agent, patch) => {
      const verdict = team.ask(agent, patch);
      return { sealed: newest as Sealed, verdict };
    },
    ask: (agent, patch, base) => team.round({ agent, patch, ...(base === undefined ? {} : { base }) })[0] as Verdict,
    events: (...events) => {
      for (const event of events)
        if (event.kind === 'join')
          incarnations.set(
            event.agent,
            (incarnations.get(event.agent) ?? (agents.some((name) => name.split(':')[0] === event.agent) ? 1 : 0)) + 1,
          );
      return add(seal(head(), { term: 1, events, proposals: [] }));
    },
  };
  return team;
}

/** The issue codes of a refusal; `committed` for a commit. */
export function codesOf(verdict: Verdict | undefined): readonly string[] {
  return verdict?.kind === 'rejected' ? verdict.issues.map((issue) => issue.code) : ['committed'];
}

/** The outcome kinds of a commit by path. */
export function outcomesOf(verdict: Verdict | undefined): { readonly [path: string]: string } {
  const outcomes = verdict?.kind === 'committed' ? (verdict.outcomes ?? {}) : {};
  return Object.fromEntries(Object.entries(outcomes).map(([path, outcome]) => [path, outcome.kind]));
}
