/**
 * The worker's step: pure and total. SPEC: WK1-WK16.
 */
import { canonical, fitsUtf8, invariant, OplusError, PROPOSAL_BYTES_MAX } from '@oplus/core';
import type { Issue, Json, Proposal } from '@oplus/core';
import { encodeMessage, PROTOCOL_VERSION, readDownward, tagOf } from '@oplus/protocol';
import type { Downward, Hello, Refusal, Rehearsal, VerdictMessage, Welcome } from '@oplus/protocol';
import { RESEND_MS, RESEND_MS_MAX } from './state.ts';
import type { Effect, Identity, Input, Step, WorkerState } from './state.ts';

/** Begins a session: says hello until it is welcomed. */
export function greet(given: Pick<Hello, 'space' | 'agent' | 'role' | 'session' | 'schema'>): Step {
  const { space, agent, role, session, schema } = given;
  const hello: Hello = { kind: 'hello', v: PROTOCOL_VERSION, space, agent, role, session, schema, after: 0 };
  return sent(
    { phase: 'joining', hello, identity: undefined, pending: undefined, revision: -1, passedOn: -1 },
    encodeMessage(hello),
  );
}

/** Advances the session by one input. Throws `INVARIANT` for a proposal that JSON cannot say, and for one that is not told while idle. */
export function step(state: WorkerState, input: Input): Step {
  if (state.phase === 'ended') return still(state);
  switch (input.kind) {
    case 'timer':
      return onTimer(state, input.revision);
    case 'term':
      return state.pending === undefined ? still(state) : sent(state, state.pending.text);
    case 'message':
      return onMessage(state, input.body);
    case 'propose':
      return onPropose(state, 'proposing', input.proposal);
    case 'rehearse':
      return onPropose(state, 'rehearsing', { ...input.proposal, dry: true });
    case 'pass': {
      const { incarnation } = idle(state);
      const { space, agent } = state.hello;
      const text = encodeMessage({ kind: 'pass', v: PROTOCOL_VERSION, space, agent, incarnation, revision: input.revision });
      return sent({ ...state, passedOn: input.revision }, text);
    }
    case 'leave': {
      const { incarnation } = idle(state);
      const { space, agent } = state.hello;
      return sent(
        { ...state, phase: 'leaving' },
        encodeMessage({ kind: 'leave', v: PROTOCOL_VERSION, space, agent, incarnation }),
      );
    }
  }
}

function onTimer(state: WorkerState, revision: number): Step {
  const { phase, pending } = state;
  if (pending === undefined) return still(state);
  // The round that the pass was for is over.
  if (phase === 'idle' && revision > state.passedOn) return still({ ...state, pending: undefined });
  return sent(state, pending.text, Math.min(pending.delayMs * 2, RESEND_MS_MAX));
}

function onPropose(state: WorkerState, phase: 'proposing' | 'rehearsing', proposal: Omit<Proposal, 'n' | 'incarnation'>): Step {
  const { incarnation, n } = idle(state);
  const text = canonical({ ...proposal, incarnation, n: n + 1 } as unknown as Json);
  if (fitsUtf8(text, PROPOSAL_BYTES_MAX)) return sent({ ...state, phase }, text);
  const hint = `The proposal has ${text.length} characters; ${PROPOSAL_BYTES_MAX} bytes are allowed. Put large data into an artefact.`;
  const issues: readonly Issue[] = [{ path: '', code: 'too_large', rule: 'gate', recovery: 'change', hint }];
  return { state: { ...state, pending: undefined }, effects: [{ kind: 'answered', answer: { kind: 'refused', issues } }] };
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
    case 'verdict':
      return onVerdict(state, message);
    case 'rehearsal':
      return onRehearsal(state, message);
    case 'refusal':
      return onRefusal(state, message);
    case 'left': {
      const isOurs = message.space === state.hello.space && message.incarnation === state.identity?.incarnation;
      return state.phase === 'leaving' && isOurs ? ended(state, undefined) : still(state);
    }
  }
}

function onWelcome(state: WorkerState, welcome: Welcome): Step {
  const { phase, hello, identity } = state;
  const { session, incarnation, n } = welcome;
  if (welcome.space !== hello.space) return still(state);
  const revision = Math.max(state.revision, welcome.revision);
  if (phase !== 'joining') {
    // Somebody else was welcomed under this name after us: this session is over.
    return session !== hello.session && incarnation > (identity as Identity).incarnation
      ? ended(state, fenced(state))
      : still(state);
  }
  if (session === hello.session) {
    return {
      state: { ...state, phase: 'idle', identity: { incarnation, n }, pending: undefined, revision },
      effects: [{ kind: 'joined' }],
    };
  }
  if (incarnation <= hello.after) return still(state);
  const next: Hello = { ...hello, after: incarnation };
  return sent({ ...state, hello: next, revision }, encodeMessage(next));
}

function onVerdict(state: WorkerState, { space, n, verdict }: VerdictMessage): Step {
  if (state.phase !== 'proposing' || space !== state.hello.space) return still(state);
  const { incarnation, n: decided } = state.identity as Identity;
  if (n !== decided + 1) return still(state);
  const revision = Math.max(state.revision, verdict.revision);
  return {
    state: { ...state, phase: 'idle', identity: { incarnation, n }, pending: undefined, revision },
    effects: [{ kind: 'answered', answer: verdict }],
  };
}

/** Of the newest state that this worker knows of, or a newer one: a coordinator that is behind answers from an old one. */
function onRehearsal(state: WorkerState, { of, verdict }: Rehearsal): Step {
  const asked = verdict.revision - 1;
  if (state.phase !== 'rehearsing' || of !== tagOf(state.pending?.text ?? '') || asked < state.revision) return still(state);
  return {
    state: { ...state, phase: 'idle', pending: undefined, revision: asked },
    effects: [{ kind: 'answered', answer: verdict }],
  };
}

function onRefusal(state: WorkerState, { of, revision, issues }: Refusal): Step {
  // Of another message, or by a coordinator that is behind what we know: whoever is not will answer.
  if (state.pending === undefined || of !== tagOf(state.pending.text) || (revision !== undefined && revision < state.revision))
    return still(state);
  const codes = new Set(issues.map((issue) => issue.code));
  switch (state.phase) {
    case 'joining':
      return ended(state, refused(issues));
    case 'proposing':
    case 'rehearsing':
      if (codes.has('gap')) return still(state);
      if (codes.has('fenced') || codes.has('unknown_agent') || codes.has('equivocation') || codes.has('replayed'))
        return ended(state, fenced(state));
      return {
        state: { ...state, phase: 'idle', pending: undefined },
        effects: [{ kind: 'answered', answer: { kind: 'refused', issues } }],
      };
    case 'leaving':
      return ended(state, refused(issues));
    case 'idle':
    case 'ended':
      return still(state);
  }
}

function idle(state: WorkerState): Identity {
  invariant(state.phase === 'idle' && state.identity !== undefined, `a session that is ${state.phase} has no room for this`);
  return state.identity;
}

function sent(state: WorkerState, text: string, delayMs: number = RESEND_MS): Step {
  const effects: readonly Effect[] = [
    { kind: 'send', body: text },
    { kind: 'wake', delayMs },
  ];
  return { state: { ...state, pending: { text, delayMs } }, effects };
}

function still(state: WorkerState): Step {
  return { state, effects: [] };
}

function ended(state: WorkerState, error: OplusError | undefined): Step {
  return { state: { ...state, phase: 'ended', pending: undefined }, effects: [{ kind: 'ended', error }] };
}

/** Another session holds the name. */
export function fenced({ hello }: WorkerState): OplusError {
  return new OplusError('FENCED', `this session of ${hello.agent} is over: it has left, or another one took the name over`, {
    hint: 'Join again for a new incarnation; what was committed stays committed.',
  });
}

function refused(issues: readonly Issue[]): OplusError {
  const first = issues[0];
  const code =
    first?.path === '/v'
      ? 'PROTOCOL_VERSION'
      : first?.rule === 'schema digest'
        ? 'SCHEMA_INVALID'
        : first?.code === 'fenced'
          ? 'FENCED'
          : 'USAGE';
  return new OplusError(code, `the coordinator refused the session: ${first?.code ?? 'no reason'} (${first?.rule ?? ''})`, {
    hint: first?.hint ?? '',
    ...(first?.path === undefined || first.path === '' ? {} : { path: first.path }),
  });
}
