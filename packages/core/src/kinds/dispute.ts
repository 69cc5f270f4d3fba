/**
 * Disputes: who settles what contends, and when it ends by itself.
 *
 * A deadline is a timer of the cell (its token is the revision at which the thing to end began) and runs out by an event in
 * the log. What it leaves is the kind's own matter. SPEC: DSP1-DSP9.
 */
import { COUNT } from '../field-options.ts';
import { z } from 'zod';
import type { Json } from '../json.ts';

/** `arbiter` is the role that settles. With `deadlineMs`, in whole milliseconds, what contends ends by itself after that time. */
export type DisputePolicy = { readonly arbiter: string; readonly deadlineMs?: number };

/** The shape of a policy. */
export const DISPUTE: z.ZodObject<{ arbiter: z.ZodString; deadlineMs: z.ZodOptional<z.ZodType<number>> }, z.core.$strip> =
  z.object({ arbiter: z.string(), deadlineMs: COUNT.optional() });

/** What a schema digest covers of a policy; `rest` is what the kind adds to it. */
export function declaredDispute(policy: DisputePolicy, rest: { readonly [key: string]: Json } = {}): Json {
  const { arbiter, deadlineMs } = policy;
  return { arbiter, ...(deadlineMs === undefined ? {} : { deadlineMs }), ...rest };
}
