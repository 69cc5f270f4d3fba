/**
 * Disputes: who settles what contends, and when it ends by itself.
 *
 * A deadline is a timer of the cell (its token is the revision at which the thing to end began) and runs out by an event in
 * the log. What it leaves is the kind's own matter. SPEC: DSP1-DSP9.
 */
import { OplusError } from '../error.ts';
import type { Json } from '../json.ts';

/** `arbiter` is the role that settles. With `deadlineMs`, in whole milliseconds, what contends ends by itself after that time. */
export type DisputePolicy = { readonly arbiter: string; readonly deadlineMs?: number };

/** Throws `SCHEMA_INVALID` unless the deadline, if there is one, is a whole number of at least 1. */
export function checkDispute(kind: string, policy: DisputePolicy | undefined): void {
  const ms = policy?.deadlineMs;
  if (ms === undefined || (Number.isSafeInteger(ms) && ms >= 1)) return;
  throw new OplusError('SCHEMA_INVALID', `the deadline of ${kind} is ${ms}`, {
    hint: 'Give whole milliseconds: { deadlineMs: 60_000 }.',
  });
}

/** What a schema digest covers of a policy; `rest` is what the kind adds to it. */
export function declaredDispute(policy: DisputePolicy, rest: { readonly [key: string]: Json } = {}): Json {
  const { arbiter, deadlineMs } = policy;
  return { arbiter, ...(deadlineMs === undefined ? {} : { deadlineMs }), ...rest };
}
