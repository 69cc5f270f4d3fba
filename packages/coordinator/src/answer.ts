/**
 * What goes back to workers: welcomes, verdicts, rehearsals, farewells and refusals.
 *
 * A coordinator that was deposed without knowing it still answers, from a state that is old but true. So each answer is either
 * a fact that no later entry can change (a verdict, a farewell, `fenced`), or names the revision that it was given at. SPEC: CO9-CO14.
 */
import type { Admitted, AgentRecord, Decided, Issue, Sealed, Sha256, Space, Verdict } from '@oplus/core';
import { trieAt } from '@oplus/core';
import { encodeMessage, encodeVerdict, PROTOCOL_VERSION, tagOf } from '@oplus/protocol';
import type { Effect } from './state.ts';

/** Why a dot can have no verdict now. */
export type DotFault = 'unknown_agent' | 'fenced' | 'gap' | 'replayed' | 'equivocation';

/** Everything that an appended round answers, to addresses computed from the members. */
export function answersOf(sealed: Sealed): readonly Effect[] {
  const { space } = sealed;
  const answers: Effect[] = [];
  for (const event of sealed.events) {
    if (event.kind === 'join') answers.push(welcome(space, event.agent));
    if (event.kind === 'leave') answers.push(farewell(space.name, event.agent, event.incarnation));
  }
  for (const { admitted, verdictText } of sealed.decided) {
    const { agent, n } = admitted.proposal;
    answers.push(verdictOn(space.name, agent, n, verdictText));
  }
  return answers;
}

/** Who holds the name of an agent that has joined, from the sealed state. */
export function welcome(space: Space, agent: string): Effect {
  const record = trieAt(space.agents, agent);
  return {
    kind: 'send',
    to: agent,
    body: encodeMessage({
      kind: 'welcome',
      v: PROTOCOL_VERSION,
      space: space.name,
      agent,
      session: record?.session ?? '',
      incarnation: record?.incarnation ?? 0,
      n: record?.n ?? 0,
      revision: space.revision,
      ...(record?.answered === undefined ? {} : { verdict: JSON.parse(record.answered.verdict) as Verdict }),
    }),
  };
}

/** That incarnation is over. Only said of one that the log has seen. */
export function farewell(space: string, agent: string, incarnation: number): Effect {
  return { kind: 'send', to: agent, body: encodeMessage({ kind: 'left', v: PROTOCOL_VERSION, space, agent, incarnation }) };
}

/** A verdict from its canonical text. */
export function verdictOn(space: string, agent: string, n: number, verdictText: string): Effect {
  return { kind: 'send', to: agent, body: encodeVerdict({ space, agent, n }, verdictText) };
}

/** The verdict that the proposal would get, by its tag. */
export function rehearsalOf({ proposal, text }: Admitted, verdict: Verdict): Effect {
  const body = encodeMessage({ kind: 'rehearsal', v: PROTOCOL_VERSION, of: tagOf(text), verdict });
  return { kind: 'send', to: proposal.agent, body };
}

/** What `space` has to say of the proposals that a round left out: their dot is taken by other bytes, or an earlier one is missing. */
export function leftoversOf(space: Space, decided: readonly Decided[], proposals: readonly Admitted[]): readonly Effect[] {
  if (decided.length === proposals.length) return [];
  const isDecided = new Set(decided.map((one) => one.admitted.text));
  const refusals = new Map<string, Effect>();
  for (const admitted of proposals) {
    const record = trieAt(space.agents, admitted.proposal.agent);
    const code = isDecided.has(admitted.text) ? undefined : faultOf(record, admitted, space.schema.sha256);
    if (code !== undefined) refusals.set(admitted.text, refuseDot(space, admitted, code));
  }
  return [...refusals.values()];
}

/**
 * Why a proposal can have no verdict now, by what the log knows of its agent; `undefined` when it is due, or when it is the newest
 * decided one. O(1), plus a digest when its dot is that of the newest decided one.
 */
export function faultOf(record: AgentRecord | undefined, { proposal, text }: Admitted, sha256: Sha256): DotFault | undefined {
  const { n, incarnation } = proposal;
  if (record === undefined || incarnation > record.incarnation) return 'unknown_agent';
  if (n === record.n && record.answered?.digest === sha256(text)) return undefined;
  if (incarnation < record.incarnation || !record.isLive) return 'fenced';
  if (n === record.n) return 'equivocation';
  if (n < record.n) return 'replayed';
  return n === record.n + 1 ? undefined : 'gap';
}

/** A refusal of one dot, by a code of the closed list. */
export function refuseDot(space: Space, { proposal, text }: Admitted, code: DotFault): Effect {
  const { recovery, hint } = DOT_HINTS[code];
  return refuse(proposal.agent, text, [{ path: '', code, rule: 'dot', want: proposal.n, recovery, hint }], space.revision);
}

/** A refusal of the message `body`, at a revision when a newer one might refuse it no longer. */
export function refuse(to: string, body: string, issues: readonly Issue[], revision?: number): Effect {
  return {
    kind: 'send',
    to,
    body: encodeMessage({
      kind: 'refusal',
      v: PROTOCOL_VERSION,
      of: tagOf(body),
      ...(revision === undefined ? {} : { revision }),
      issues,
    }),
  };
}

const DOT_HINTS: { readonly [fault in DotFault]: Pick<Issue, 'recovery' | 'hint'> } = {
  unknown_agent: { recovery: 're-read', hint: 'Nobody of that name has joined with this incarnation. Say hello first.' },
  fenced: { recovery: 'stop', hint: 'That incarnation is over: it has left, or a newer session took the name over.' },
  gap: { recovery: 'wait', hint: 'An earlier proposal of yours has not been decided. Send that one first.' },
  replayed: { recovery: 'never', hint: 'That proposal was decided, and a newer one since. Its verdict stands in the log.' },
  equivocation: { recovery: 'never', hint: 'That dot is taken by a proposal with other content. A new content needs a new n.' },
};
