/**
 * The worker's step: pure and total. SPEC: WK1-WK7.
 */
import { canonical, OplusError } from '@oplus/core';
import type { Issue, Json } from '@oplus/core';
import { encodeMessage, PROTOCOL_VERSION, readDownward } from '@oplus/protocol';
import type { Downward, Hello, Refusal, Welcome } from '@oplus/protocol';
import { RESEND_MS, RESEND_MS_MAX } from './state.ts';
import type { Effect, Identity, Input, Pending, Step, WorkerState } from './state.ts';

/** Begins a session: says hello until it is welcomed. */
export function greet(given: { readonly space: string; readonly agent: string; readonly role: string; readonly session: string; readonly schema: string }): Step {
  const { space, agent, session } = given;
  const hello: Hello = { kind: 'hello', v: PROTOCOL_VERSION, ...given };
  const state: WorkerState = { phase: 'joining', space, agent, session, identity: undefined, pending: undefined, revision: -1 };
  return sent(state, { text: encodeMessage(hello), n: 0, delayMs: RESEND_MS });
}

/** Advances the session by one input. */
export function step(state: WorkerState, input: Input): Step {
  if (state.phase === 'ended') return still(state);
  switch (input.kind) {
    case 'timer':
      return state.pending === undefined ? still(state) : sent(state, { ...state.pending, delayMs: Math.min(state.pending.delayMs * 2, RESEND_MS_MAX) });
    case 'message':
      return onMessage(state, input.body);
    case 'propose': {
      const { incarnation, n } = state.identity as Identity;
      const text = canonical({ ...input.proposal, incarnation, n: n + 1 } as unknown as Json);
      return sent({ ...state, phase: 'proposing' }, { text, n: n + 1, delayMs: RESEND_MS });
    }
    case 'leave': {
      if (state.identity === undefined) return ended(state, undefined);
      const { space, agent } = state;
      const text = encodeMessage({ kind: 'leave', v: PROTOCOL_VERSION, space, agent, incarnation: state.identity.incarnation });
      return sent({ ...state, phase: 'leaving' }, { text, n: 0, delayMs: RESEND_MS });
    }
  }
}

function onMessage(state: WorkerState, body: string): Step {
  let message: Downward;
  try {
    message = readDownward(body);
  } catch (error) {
    return ended(state, error as OplusError);
  }
  switch (message.kind) {
    case 'welcome':
      return onWelcome(state, message);
    case 'verdict': {
      if (state.phase !== 'proposing' || message.space !== state.space || message.n !== state.pending?.n) return still(state);
      const { verdict } = message;
      const identity = { incarnation: (state.identity as Identity).incarnation, n: message.n };
      return {
        state: { ...state, phase: 'idle', identity, pending: undefined, revision: Math.max(state.revision, verdict.revision) },
        effects: [{ kind: 'answered', answer: verdict }],
      };
    }
    case 'refusal':
      return onRefusal(state, message);
    case 'left':
      return state.phase === 'leaving' && message.incarnation === state.identity?.incarnation ? ended(state, undefined) : still(state);
  }
}

function onWelcome(state: WorkerState, welcome: Welcome): Step {
  if (welcome.space !== state.space) return still(state);
  if (welcome.session !== state.session) {
    // Somebody else was welcomed under this name after us: this session is over.
    return state.identity !== undefined && welcome.incarnation > state.identity.incarnation ? ended(state, fenced(state)) : still(state);
  }
  if (state.phase !== 'joining') return still(state);
  const identity = { incarnation: welcome.incarnation, n: welcome.n };
  return {
    state: { ...state, phase: 'idle', identity, pending: undefined, revision: welcome.revision },
    effects: [{ kind: 'joined' }],
  };
}

function onRefusal(state: WorkerState, refusal: Refusal): Step {
  const codes = new Set(refusal.issues.map((issue) => issue.code));
  if (state.phase === 'joining') {
    if (refusal.session !== undefined && refusal.session !== state.session) return still(state);
    return ended(state, refused(refusal.issues));
  }
  if (state.phase !== 'proposing' || (refusal.n !== undefined && refusal.n !== state.pending?.n)) return still(state);
  if (codes.has('fenced') || codes.has('unknown_agent')) return ended(state, fenced(state));
  if (codes.has('equivocation') || codes.has('replayed')) return ended(state, fenced(state));
  if (codes.has('gap')) return still(state);
  return { state: { ...state, phase: 'idle', pending: undefined }, effects: [{ kind: 'answered', answer: { kind: 'refused', issues: refusal.issues } }] };
}

function sent(state: WorkerState, pending: Pending): Step {
  const effects: readonly Effect[] = [
    { kind: 'send', body: pending.text },
    { kind: 'wake', delayMs: pending.delayMs },
  ];
  return { state: { ...state, pending }, effects };
}

function still(state: WorkerState): Step {
  return { state, effects: [] };
}

function ended(state: WorkerState, error: OplusError | undefined): Step {
  return { state: { ...state, phase: 'ended', pending: undefined }, effects: [{ kind: 'ended', error }] };
}

function fenced(state: WorkerState): OplusError {
  return new OplusError('FENCED', `another session speaks as ${state.agent}`, { hint: 'Join again for a new incarnation; what was committed stays committed.' });
}

function refused(issues: readonly Issue[]): OplusError {
  const first = issues[0];
  const isVersion = first?.code === 'protocol';
  return new OplusError(isVersion ? 'PROTOCOL_VERSION' : 'USAGE', `hello was refused: ${first?.code ?? 'no reason'} (${first?.rule ?? ''})`, { hint: first?.hint ?? '' });
}
