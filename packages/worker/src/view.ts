/**
 * What an agent's code holds: views of a space, and proposals made on them.
 *
 * The revision of a view travels inside it. Nothing here takes a revision from the caller, so a proposal can never claim a
 * base that its author did not read.
 */
import type { Action, Issue, JsonObject, Projection, Reader, Space, Verdict } from '@oplus/core';

/** What an agent suggests. `premises` are JSON Pointers of fields that it relied on without writing them. */
export type Draft = {
  readonly patch: JsonObject;
  readonly action?: Action;
  readonly premises?: readonly string[];
  readonly why?: string;
};

/** The verdict, or a refusal at the gate: the message never became a proposal, no dot was used, nothing was logged. */
export type Answer = Verdict | { readonly kind: 'refused'; readonly issues: readonly Issue[] };

/** One sealed state, as it was read. Immutable: later commits do not change it. */
export interface View {
  /** The sealed state itself, for programs. */
  readonly space: Space;
  /** Canonical text of what one reader sees. Throws `USAGE` above `charsMax` UTF-16 units. */
  project(reader: Omit<Reader, 'agent' | 'role'>, charsMax: number, projection?: Projection): string;
  /**
   * Proposes on this view and waits for the answer, however long it takes; re-sent until answered. One proposal is in
   * flight per worker: a second call waits for the first. Throws `FENCED` when another session took this identity over,
   * `TRANSPORT_CLOSED` after `leave` or `close`.
   */
  propose(draft: Draft): Promise<Answer>;
  /**
   * The verdict that the draft would get if it were proposed on this view now, alone; nothing is committed, logged or kept. What others
   * commit meanwhile may change it. In turn with proposals, and throws as `propose` does.
   */
  rehearse(draft: Draft): Promise<Answer>;
  /**
   * Says that there is nothing to propose on this view: in barrier mode the round then need not wait for this worker. Resolves when
   * it is said; it is said again until a newer revision is known or something else is said.
   */
  pass(): Promise<void>;
}

/** One agent's session in one space. */
export interface Worker {
  readonly agent: string;
  readonly role: string;
  /**
   * The newest sealed state known here, never older than the worker's own last verdict. Throws why the replica stopped following, once
   * it has, and why the session is over, once it is.
   */
  view(): Promise<View>;
  /** The newest sealed state known here, without waiting. Right after an answer it may be older than that answer. */
  newest(): View;
  /** Resolves with a view newer than the given one. Throws as `view` does. */
  viewAfter(view: View): Promise<View>;
  /** After the answer to what it has proposed, leaves the space: its agent name stays known, its session ends. Then closes. Idempotent. */
  leave(): Promise<void>;
  /**
   * Ends the session without a word, as a crash would. A proposal that waits for its answer rejects with `TRANSPORT_CLOSED`; whether
   * it was committed stands in the log. Idempotent.
   */
  close(): Promise<void>;
}
