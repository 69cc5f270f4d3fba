/**
 * Port `Clock`: the only source of time. The core has none; what must last is written into the log as an event.
 */

export interface Clock {
  /** Milliseconds since the Unix epoch. May step; use it for display and deadlines only. */
  nowMs(): number;
  /**
   * Calls `then` once, not before `delayMs` (>= 0, also beyond 2^31) from now, never inside the caller's stack, earlier deadlines
   * first. The returned function cancels it; a second call of it, or one after `then` ran, does nothing. Throws `USAGE` for a delay
   * that is negative or not finite.
   */
  after(delayMs: number, then: () => void): () => void;
}
