/**
 * The messages between workers and a coordinator. Every one is a JSON document with a closed shape; the JSON Schemas in
 * `schemas/` are generated from these.
 *
 * Upwards: `hello`, `proposal` (the core's own shape), `pass`, `leave`. Downwards: `welcome`, `verdict`, `rehearsal`, `refusal`,
 * `left`.
 * Announcements carry a log record with its index (announcement.ts).
 */
import { z } from 'zod';
import type { Issue, Proposal, Verdict } from '@oplus/core';
import { AGENT_PATTERN, proposalShape, SPACE_PATTERN } from '@oplus/core';
import { ADDRESS_PATTERN } from './ports/bus.ts';
import { PROTOCOL_VERSION } from './version.ts';

const v = z.literal(PROTOCOL_VERSION);
const space = z.string().regex(SPACE_PATTERN);
const agent = z.string().regex(AGENT_PATTERN);
const session = z.string().regex(ADDRESS_PATTERN);
const count = z.int().min(0);
const positive = z.int().min(1);
const tag = z.string().regex(/^[0-9a-f]{16}$/);

/**
 * Asks for an identity. `session` is a token that the worker keeps for its life; the same one again is the same session.
 * `after` is the incarnation that it takes the name over from, 0 when it knows of none: a hello that names another one than the
 * newest is answered with who holds the name, so a hello that arrives late fences nobody.
 */
export type Hello = {
  readonly kind: 'hello';
  readonly v: typeof PROTOCOL_VERSION;
  readonly space: string;
  readonly agent: string;
  readonly role: string;
  readonly session: string;
  /** First 16 hex digits of the schema digest. */
  readonly schema: string;
  readonly after: number;
};

/** Nothing to propose on this revision: barrier mode need not wait. */
export type Pass = {
  readonly kind: 'pass';
  readonly v: typeof PROTOCOL_VERSION;
  readonly space: string;
  readonly agent: string;
  readonly incarnation: number;
  readonly revision: number;
};

export type Leave = {
  readonly kind: 'leave';
  readonly v: typeof PROTOCOL_VERSION;
  readonly space: string;
  readonly agent: string;
  readonly incarnation: number;
};

export type Upward = Hello | Proposal | Pass | Leave;

/**
 * Who holds a name: the asker, or another session, which is named. `n` is that of the newest decided proposal, `verdict` its
 * verdict; the log stands at `revision` or later.
 */
export type Welcome = {
  readonly kind: 'welcome';
  readonly v: typeof PROTOCOL_VERSION;
  readonly space: string;
  readonly agent: string;
  readonly session: string;
  readonly incarnation: number;
  readonly n: number;
  readonly revision: number;
  readonly verdict?: Verdict;
};

/** The answer to the dot `(agent, n)`. */
export type VerdictMessage = {
  readonly kind: 'verdict';
  readonly v: typeof PROTOCOL_VERSION;
  readonly space: string;
  readonly agent: string;
  readonly n: number;
  readonly verdict: Verdict;
};

/**
 * The answer to a proposal that is `dry`: the verdict that it would have got. `of` is its tag, as no dot was used. `revision` of
 * the verdict is that of the round which it would have been in, one more than that of the state that was asked.
 */
export type Rehearsal = {
  readonly kind: 'rehearsal';
  readonly v: typeof PROTOCOL_VERSION;
  readonly of: string;
  readonly verdict: Verdict;
};

/**
 * A message that was turned away before it became anything: no dot was used, nothing was logged. `of` is its tag (`tagOf`), so that a
 * refusal that arrives late is not taken for one of a newer message. `revision` is that of the state that refused it, absent when the
 * bytes alone were enough: whoever knows of a newer revision knows better.
 */
export type Refusal = {
  readonly kind: 'refusal';
  readonly v: typeof PROTOCOL_VERSION;
  readonly of: string;
  readonly revision?: number;
  readonly issues: readonly Issue[];
};

/** That incarnation is over, whether it left or was taken over from. */
export type Left = {
  readonly kind: 'left';
  readonly v: typeof PROTOCOL_VERSION;
  readonly space: string;
  readonly agent: string;
  readonly incarnation: number;
};

export type Downward = Welcome | VerdictMessage | Rehearsal | Refusal | Left;

export const helloShape: z.ZodType<Hello> = z.strictObject({
  kind: z.literal('hello'),
  v,
  space,
  agent,
  role: z.string().regex(AGENT_PATTERN),
  session,
  schema: tag,
  after: count,
});

export const passShape: z.ZodType<Pass> = z.strictObject({
  kind: z.literal('pass'),
  v,
  space,
  agent,
  incarnation: positive,
  revision: count,
});

export const leaveShape: z.ZodType<Leave> = z.strictObject({ kind: z.literal('leave'), v, space, agent, incarnation: positive });

/** Any upward message. The core's gate reads proposals; this is for everything else and for the schemas. */
export const upwardShape: z.ZodType<Upward> = z.union([helloShape, passShape, leaveShape, proposalShape]);

const json = z.unknown();
const issue = z.strictObject({
  path: z.string(),
  code: z.string(),
  rule: z.string(),
  have: json.optional(),
  want: json.optional(),
  by: z.string().optional(),
  recovery: z.enum(['re-read', 'wait', 'claim-again', 'change', 'stop', 'never']),
  hint: z.string(),
});
const outcome = z.union([
  z.strictObject({
    kind: z.literal('merged'),
    over: z.strictObject({ agent: z.string(), n: count }).optional(),
    id: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('superseded'), by: z.string(), value: json }),
  z.strictObject({ kind: z.enum(['unchanged', 'evicted', 'contested']) }),
]);

export const verdictShape: z.ZodType<Verdict> = z.union([
  z.strictObject({ kind: z.literal('committed'), revision: count, outcomes: z.record(z.string(), outcome).optional() }),
  z.strictObject({
    kind: z.literal('rejected'),
    revision: count,
    issues: z.array(issue),
    retry: z.strictObject({ after: count }).optional(),
  }),
]) as unknown as z.ZodType<Verdict>;

export const welcomeShape: z.ZodType<Welcome> = z.strictObject({
  kind: z.literal('welcome'),
  v,
  space,
  agent,
  session,
  incarnation: positive,
  n: count,
  revision: count,
  verdict: verdictShape.optional(),
}) as unknown as z.ZodType<Welcome>;

export const verdictMessageShape: z.ZodType<VerdictMessage> = z.strictObject({
  kind: z.literal('verdict'),
  v,
  space,
  agent,
  n: positive,
  verdict: verdictShape,
});

export const rehearsalShape: z.ZodType<Rehearsal> = z.strictObject({
  kind: z.literal('rehearsal'),
  v,
  of: tag,
  verdict: verdictShape,
});

export const refusalShape: z.ZodType<Refusal> = z.strictObject({
  kind: z.literal('refusal'),
  v,
  of: tag,
  revision: z.int().min(-1).optional(),
  issues: z.array(issue),
}) as unknown as z.ZodType<Refusal>;

export const leftShape: z.ZodType<Left> = z.strictObject({ kind: z.literal('left'), v, space, agent, incarnation: positive });

export const downwardShape: z.ZodType<Downward> = z.union([
  welcomeShape,
  verdictMessageShape,
  rehearsalShape,
  refusalShape,
  leftShape,
]);
