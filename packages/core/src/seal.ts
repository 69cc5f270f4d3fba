/**
 * The seal: one round of proposals, decided.
 *
 * Sort canonically, judge each on a copy, accept or refuse, settle once, digest, write the entry. A pure function of the
 * space and the set of members: arrival order and duplicates change nothing, so two coordinators that both believe they
 * lead compute the same bytes. SPEC: SEAL1-SEAL10, T1, T8.
 */
import { compareEvents, entryText, eventText, memberText } from './entry.ts';
import type { SystemEvent } from './entry.ts';
import { AGENT_PATTERN, TRUST_MAX } from './dot.ts';
import { invariant } from './error.ts';
import { expired } from './expiry.ts';
import type { FieldKind, Settling } from './field-kind.ts';
import type { Outcome, Verdict } from './issue.ts';
import { isRetryable } from './issue.ts';
import type { Json } from './json.ts';
import { canonical, compareText } from './json.ts';
import { judge } from './judge.ts';
import type { Judgement } from './judge.ts';
import type { Admitted } from './proposal.ts';
import { ROUND_PROPOSALS_MAX } from './proposal.ts';
import type { AgentRecord, Space } from './space.ts';
import { horizonOf, vectorOf, withDigests } from './space.ts';
import type { Stamp } from './stamp.ts';
import { compareAdmit, stampOf } from './stamp.ts';
import type { Trie } from './trie.ts';
import { trieAt, trieWith } from './trie.ts';
import type { VersionVector } from './version-vector.ts';

/** The members of one round, in any order, duplicates allowed. `term` is that of the sealing coordinator. */
export type Round = {
  readonly term: number;
  readonly events: readonly SystemEvent[];
  readonly proposals: readonly Admitted[];
};

/** One decided proposal. `verdictText` is the canonical JSON of the verdict. */
export type Decided = { readonly admitted: Admitted; readonly verdict: Verdict; readonly verdictText: string };

/** What a seal gives: the next space, the entry's canonical text and digest, and the verdicts in canonical order. */
export type Sealed = {
  readonly space: Space;
  readonly text: string;
  readonly digest: string;
  readonly revision: number;
  readonly events: readonly SystemEvent[];
  readonly decided: readonly Decided[];
  readonly spilled: readonly Spilled[];
};

/** What left the state for an artefact: of which field, the text, and the SHA-256 by which the state refers to it. */
export type Spilled = { readonly path: string; readonly digest: string; readonly text: string };

/**
 * Seals a round. Members that are no longer due (an agent that never joined, an n that was answered, an event without
 * effect) are left out of the entry. O(members x log of what they touch), plus the rules that they wake.
 */
export function seal(space: Space, round: Round): Sealed {
  const revision = space.revision + 1;
  const arrivals = foldEvents(
    space,
    space,
    round.events.filter((event) => event.kind !== 'leave'),
  );
  invariant(space.revision >= 0 || arrivals.events[0]?.kind === 'genesis', 'the first entry of a space begins with its genesis');
  let { agents, cells } = arrivals;
  let known: number | undefined;
  const horizon = (): number => (known ??= horizonOf(space));
  const judged: (readonly [Due, Judgement])[] = [];
  const vector = (): VersionVector => vectorOf(space);
  for (const due of inCanonicalOrder(agents, space, round.proposals)) {
    const { stamp, record } = due;
    const judgement = judge(
      {
        schema: space.schema,
        cells,
        revision,
        horizon,
        role: record.role,
        trust: trustOf(space, record),
        stamp,
        turn: judged.length,
        vector,
      },
      due.admitted.proposal,
    );
    if (judgement.kind === 'accepted') cells = judgement.cells;
    judged.push([due, judgement]);
  }
  const { settled, evictions, spilled } = settle(space, cells);
  const plainCommit: Verdict = { kind: 'committed', revision };
  const plainText = canonical(plainCommit);
  const decided: Decided[] = [];
  const members = arrivals.events.map(eventText);
  const digestMembers = members.slice();
  const { sha256 } = space.schema;
  for (const [{ admitted, stamp }, judgement] of judged) {
    const { proposal, text } = admitted;
    const { agent, n } = proposal;
    const evicted = evictions?.get(`${agent} ${n}`);
    const isPlain = judgement.kind === 'accepted' && judgement.outcomes === undefined && evicted === undefined;
    const verdict = isPlain ? plainCommit : verdictOf(judgement, revision, evicted);
    const verdictText = isPlain ? plainText : canonical(verdict as unknown as Json);
    const proposalDigest = sha256(text);
    const current = trieAt(agents, agent) as AgentRecord;
    agents = trieWith(agents, agent, {
      ...current,
      n,
      depth: stamp.depth,
      answered: { digest: proposalDigest, verdict: verdictText },
    });
    decided.push({ admitted, verdict, verdictText });
    members.push(memberText(text, verdictText));
    digestMembers.push(memberText(`"${proposalDigest}"`, verdictText));
  }
  const departures = foldEvents(
    space,
    { agents, cells },
    round.events.filter((event) => event.kind === 'leave'),
  );
  const left = departures.events.map(eventText);
  members.push(...left);
  digestMembers.push(...left);
  const events = [...arrivals.events, ...departures.events];
  const next = withDigests(space, settled, departures.agents, revision);
  const head = { space: space.name, revision, term: round.term, prev: space.head, state: next.state };
  const text = entryText(head, members);
  const digest = sha256(entryText(head, digestMembers));
  return { space: { ...next, head: digest }, text, digest, revision, events, decided, spilled };
}

/** True when the event would change something: what a coordinator asks before it lets one into a round. */
export function isDue(space: Space, event: SystemEvent): boolean {
  return foldEvent(space, space, event) !== undefined;
}

/** Tokens of sessions: they stand in the state without escapes. */
const SESSION_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

type Due = { readonly admitted: Admitted; readonly stamp: Stamp; readonly record: AgentRecord };

/** What events change. */
type Standing = Pick<Space, 'agents' | 'cells'>;
type Folded = Standing & { readonly events: readonly SystemEvent[] };

function foldEvents(space: Space, start: Standing, given: readonly SystemEvent[]): Folded {
  let { agents, cells } = start;
  if (given.length === 0) return { agents, cells, events: given };
  const events: SystemEvent[] = [];
  for (const event of given.toSorted(compareEvents)) {
    const after = foldEvent(space, { agents, cells }, event);
    if (after === undefined || (event.kind === 'genesis' && events.length > 0)) continue;
    ({ agents, cells } = after);
    events.push(event);
  }
  return { agents, cells, events };
}

function foldEvent(space: Space, standing: Standing, event: SystemEvent): Standing | undefined {
  const { agents, cells } = standing;
  if (event.kind === 'genesis') return space.revision < 0 && event.schema === space.schema.digest ? standing : undefined;
  if (event.kind === 'expire') {
    const after = expired(space.schema, cells, event, space.revision + 1);
    return after === undefined ? undefined : { agents, cells: after };
  }
  const after = foldAgent(space, agents, event);
  return after === undefined ? undefined : { agents: after, cells };
}

function foldAgent(
  space: Space,
  agents: Trie<AgentRecord>,
  event: SystemEvent & { readonly kind: 'join' | 'leave' },
): Trie<AgentRecord> | undefined {
  const record = trieAt(agents, event.agent);
  if (event.kind === 'leave') {
    if (record === undefined || !record.isLive || record.incarnation !== event.incarnation) return undefined;
    return trieWith(agents, event.agent, { ...record, isLive: false });
  }
  if (!AGENT_PATTERN.test(event.agent) || !SESSION_PATTERN.test(event.session)) return undefined;
  if (!space.schema.roles.has(event.role) || record?.session === event.session) return undefined;
  if (record === undefined && agents.size >= space.schema.agentsMax) return undefined;
  const { role, session } = event;
  const depth = space.revision + 2; // One more than that of any view that its earlier incarnations could have had.
  if (record === undefined) return trieWith(agents, event.agent, { role, session, incarnation: 1, isLive: true, n: 0, depth });
  return trieWith(agents, event.agent, { ...record, role, session, incarnation: record.incarnation + 1, isLive: true, depth });
}

/**
 * The due proposals in admit order, each dot once, and no more than a round decides. An agent's own proposals keep their order: a later one never has a
 * smaller depth than an earlier one. What a draft with a vector of its own had seen has no one revision; it may be anything
 * that is sealed, so its depth is that of the newest view: no change that it saw has a greater stamp.
 */
function inCanonicalOrder(agents: Trie<AgentRecord>, space: Space, proposals: readonly Admitted[]): readonly Due[] {
  const byDot = proposals.length < 2 ? proposals : proposals.toSorted(compareDots);
  const due: Due[] = [];
  let last: Due | undefined;
  for (const admitted of byDot) {
    const { agent, n, incarnation, base, dry } = admitted.proposal;
    if (dry === true) continue;
    const isSame = last?.admitted.proposal.agent === agent;
    const record = isSame && last !== undefined ? last.record : trieAt(agents, agent);
    const newest = isSame && last !== undefined ? last.admitted.proposal.n : (record?.n ?? 0);
    if (record === undefined || !record.isLive || record.incarnation !== incarnation || n !== newest + 1) continue;
    const priority = space.schema.roles.get(record.role)?.priority ?? 0;
    const least = (isSame && last !== undefined ? last.stamp.depth : record.depth) - 1;
    // Nobody has read what is not sealed, whatever is claimed.
    const read = base.vector === undefined ? Math.min(base.revision, space.revision) : space.revision;
    const revision = Math.max(least, read);
    last = { admitted, stamp: stampOf({ revision, priority, agent, n }), record };
    due.push(last);
  }
  return due.sort((a, b) => compareAdmit(a.stamp, b.stamp)).slice(0, ROUND_PROPOSALS_MAX);
}

function trustOf(space: Space, record: AgentRecord): number {
  return space.schema.roles.get(record.role)?.trust ?? TRUST_MAX;
}

/** By agent, n, then text: of two different texts under one dot the smaller stands, whatever came first. */
function compareDots(a: Admitted, b: Admitted): number {
  return compareText(a.proposal.agent, b.proposal.agent) || a.proposal.n - b.proposal.n || compareText(a.text, b.text);
}

function verdictOf(judgement: Judgement, revision: number, evicted: readonly string[] | undefined): Verdict {
  if (judgement.kind === 'refused') {
    const { issues } = judgement;
    return { kind: 'rejected', revision, issues, ...(isRetryable(issues) ? { retry: { after: revision } } : {}) };
  }
  const outcomes: { [path: string]: Outcome } = { ...judgement.outcomes };
  for (const path of evicted ?? []) outcomes[path] = { kind: 'evicted' };
  return { kind: 'committed', revision, outcomes };
}

type Settled = {
  readonly settled: readonly unknown[];
  readonly evictions: ReadonlyMap<string, readonly string[]> | undefined;
  readonly spilled: readonly Spilled[];
};

/**
 * The cells settled, by dot the operations whose effect fell off, and what was put aside. Dots of earlier rounds are among
 * them: they were visible.
 */
function settle(space: Space, cells: readonly unknown[]): Settled {
  if (cells === space.cells) return { settled: cells, evictions: undefined, spilled: NOTHING_SPILLED };
  let evictions: Map<string, string[]> | undefined;
  const spilled: Spilled[] = [];
  const settling: Settling = {
    evict: (path, { agent, n }) => {
      evictions ??= new Map();
      const dot = `${agent} ${n}`;
      evictions.set(dot, [...(evictions.get(dot) ?? []), path]);
    },
    spill: (path, text) => {
      const digest = space.schema.sha256(text);
      spilled.push({ path, digest, text });
      return digest;
    },
  };
  const settled = cells.map((cell, i) => {
    const kind = space.schema.kinds[i] as FieldKind;
    if (cell === space.cells[i] || kind.settle === undefined) return cell;
    return kind.settle(cell, `/${space.schema.names[i] as string}`, settling);
  });
  return { settled, evictions, spilled };
}

const NOTHING_SPILLED: readonly Spilled[] = [];
