/**
 * What goes back to workers: welcomes, verdicts, farewells and refusals.
 */
import type { Admitted, Issue, IssueCode, Json, Sealed, Space, Verdict } from '@oplus/core';
import { trieAt } from '@oplus/core';
import { encodeMessage, encodeVerdict, PROTOCOL_VERSION } from '@oplus/protocol';
import type { Effect } from './state.ts';

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
    answers.push({ kind: 'send', to: agent, body: encodeVerdict({ space: space.name, agent, n }, verdictText) });
  }
  return answers;
}

/** An answer to `hello`, from the sealed state. */
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

export function farewell(space: string, agent: string, incarnation: number): Effect {
  return { kind: 'send', to: agent, body: encodeMessage({ kind: 'left', v: PROTOCOL_VERSION, space, agent, incarnation }) };
}

/** Why proposals of a round were left out of it: their dot is taken by other bytes, or an earlier one is missing. */
export function leftoversOf(sealed: Sealed, proposals: readonly Admitted[]): readonly Effect[] {
  const decided = new Set(sealed.decided.map((one) => one.admitted.text));
  const { sha256 } = sealed.space.schema;
  return proposals.flatMap((admitted): readonly Effect[] => {
    if (decided.has(admitted.text)) return [];
    const { agent, n, incarnation } = admitted.proposal;
    const record = trieAt(sealed.space.agents, agent);
    if (record === undefined || !record.isLive) return [refuseDot(agent, n, 'unknown_agent')];
    if (incarnation !== record.incarnation) return [refuseDot(agent, n, 'fenced')];
    if (n > record.n) return [refuseDot(agent, n, 'gap')];
    if (n < record.n) return [refuseDot(agent, n, 'replayed')];
    return record.answered?.digest === sha256(admitted.text) ? [] : [refuseDot(agent, n, 'equivocation')];
  });
}

/** A refusal of one dot, by a code of the closed list. */
export function refuseDot(to: string, n: number, code: keyof typeof DOT_HINTS): Effect {
  const { recovery, hint } = DOT_HINTS[code];
  return refuse(to, { n }, [{ path: '', code: code as IssueCode, rule: 'dot', want: n as Json, recovery, hint }]);
}

export function refuse(to: string, which: { readonly n?: number; readonly session?: string }, issues: readonly Issue[]): Effect {
  return { kind: 'send', to, body: encodeMessage({ kind: 'refusal', v: PROTOCOL_VERSION, ...which, issues }) };
}

const DOT_HINTS = {
  unknown_agent: { recovery: 're-read', hint: 'Nobody of that name is in the space. Say hello first.' },
  fenced: { recovery: 'stop', hint: 'A newer session took this identity over.' },
  gap: { recovery: 'wait', hint: 'An earlier proposal of yours has not been decided. Send that one first.' },
  replayed: { recovery: 'never', hint: 'That proposal was decided, and a newer one since. Its verdict stands in the log.' },
  equivocation: { recovery: 'never', hint: 'That dot is taken by a proposal with other content. A new content needs a new n.' },
} as const;
