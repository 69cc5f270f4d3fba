/**
 * Port `Clock`: the only source of time. The core has none; what must last is written into the log as an event.
 */

export interface Clock {
  /** Milliseconds since the Unix epoch. May step; use it for display and deadlines only. */
  nowMs(): number;
  /** Calls `then` once, `delayMs` (>= 0) from now, asynchronously. The returned function cancels it. */
  after(delayMs: number, then: () => void): () => void;
}
