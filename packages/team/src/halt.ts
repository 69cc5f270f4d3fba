/**
 * The end of a run before its end: somebody asked for it, or something failed.
 *
 * Either way nothing new begins, models are told to stop, and what was proposed is seen through; what differs is what the run
 * says afterwards.
 */

export type Halt = {
  /** Aborts when the run is to stop early, for whatever reason. */
  readonly signal: AbortSignal;
  /** Notes what went wrong and stops the run. The reason of the caller's own signal is no failure. */
  fail(error: unknown): void;
  hasFailed(): boolean;
  /** What went wrong first, as it was thrown. */
  failure(): unknown;
};

/** A halt that the caller's signal pulls too. */
export function haltOn(given: AbortSignal | undefined): Halt {
  const own = new AbortController();
  const failures: unknown[] = [];
  return {
    signal: given === undefined ? own.signal : AbortSignal.any([given, own.signal]),
    fail: (error) => {
      if (given?.aborted === true && error === given.reason) return;
      failures.push(error);
      own.abort(error);
    },
    hasFailed: () => failures.length > 0,
    failure: () => failures[0],
  };
}
