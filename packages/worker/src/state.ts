/**
 * A worker's session as data: one identity, at most one proposal in flight, re-sent until it is answered.
 */
import type { OplusError, Proposal } from '@oplus/core';
import type { Hello } from '@oplus/protocol';
import type { Answer } from './view.ts';

/** How long to wait for an answer before the message is sent again; doubles up to `RESEND_MS_MAX`. */
export const RESEND_MS = 250;
export const RESEND_MS_MAX = 2_000;

export type Identity = { readonly incarnation: number; readonly n: number };

/** What is said until it is answered: the hello while joining, a proposal, a rehearsal, a leave; while idle a pass. `text` never changes. */
export type Pending = { readonly text: string; readonly delayMs: number };

export type WorkerState = {
  readonly phase: 'joining' | 'idle' | 'proposing' | 'rehearsing' | 'leaving' | 'ended';
  readonly hello: Hello;
  readonly identity: Identity | undefined;
  readonly pending: Pending | undefined;
  /** Newest revision that an answer named: no view of this worker may be older, and a refusal from an older one is stale. */
  readonly revision: number;
  /** The revision on which the pending pass was said. */
  readonly passedOn: number;
};

export type Input =
  | { readonly kind: 'message'; readonly body: string }
  /** The timer that the last `wake` asked for; `revision` is the newest that this process has seen. */
  | { readonly kind: 'timer'; readonly revision: number }
  /** Another coordinator leads now; it may have heard nothing of what is pending. */
  | { readonly kind: 'term' }
  /** A proposal without dot; the step gives it one. Only told while idle. */
  | { readonly kind: 'propose'; readonly proposal: Omit<Proposal, 'n' | 'incarnation'> }
  /** The same, as a rehearsal: it uses no dot. Only told while idle. */
  | { readonly kind: 'rehearse'; readonly proposal: Omit<Proposal, 'n' | 'incarnation'> }
  /** There is nothing to propose on this revision. Only told while idle. */
  | { readonly kind: 'pass'; readonly revision: number }
  /** Only told while idle. */
  | { readonly kind: 'leave' };

export type Effect =
  | { readonly kind: 'send'; readonly body: string }
  /** Calls back after this long, unless a newer `wake` replaces it. */
  | { readonly kind: 'wake'; readonly delayMs: number }
  | { readonly kind: 'joined' }
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'ended'; readonly error: OplusError | undefined };

export type Step = { readonly state: WorkerState; readonly effects: readonly Effect[] };
