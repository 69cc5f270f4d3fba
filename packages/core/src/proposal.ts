/**
 * Proposals, and the closed gate through which each one passes before the core looks at it.
 *
 * The gate is the same for every transport: size, strict JSON, closed envelope, identity. What it turns away never became
 * a proposal: it gets a refusal, not a verdict, and leaves no mark. SPEC: GTE1-GTE6.
 */
import { z } from 'zod';
import { AGENT_PATTERN } from './dot.ts';
import type { Issue, IssueCode } from './issue.ts';
import type { JsonObject } from './json.ts';
import { fitsUtf8, pointer } from './json.ts';
import { readStrictJson } from './strict-json.ts';
import { readUsualProposal } from './usual-proposal.ts';

/** Largest proposal, in UTF-8 bytes. */
export const PROPOSAL_BYTES_MAX = 65_536;

/** Most proposals that one round decides, the first in canonical order; the others are not due. */
export const ROUND_PROPOSALS_MAX = 4096;

/** Most single operations in one patch. */
export const OPERATIONS_MAX = 64;

/** Space names: one subject token. */
export const SPACE_PATTERN: RegExp = /^[a-z0-9][a-z0-9-]{0,63}$/;

const count = z.int().min(0);
const positive = z.int().min(1);
const digest16 = z.string().regex(/^[0-9a-f]{16}$/);

/** The wire form. Closed: an unknown member refuses the whole message. */
export const proposalShape: z.ZodType<Proposal> = z.strictObject({
  kind: z.literal('proposal'),
  v: z.literal(1),
  space: z.string().regex(SPACE_PATTERN),
  agent: z.string().regex(AGENT_PATTERN),
  incarnation: positive,
  n: positive,
  schema: digest16,
  base: z.strictObject({
    revision: count,
    digest: digest16.optional(),
    vector: z.record(z.string().regex(AGENT_PATTERN), count).optional(),
  }),
  premises: z.array(z.string().max(512)).max(32).optional(),
  patch: z.record(z.string(), z.unknown()),
  action: z.strictObject({ name: z.string().min(1).max(64), args: z.record(z.string(), z.unknown()) }).optional(),
  why: z.string().max(500).optional(),
  dry: z.literal(true).optional(),
}) as unknown as z.ZodType<Proposal>;

/** What an agent wants to do in the world once the patch is committed. Opaque to the core. */
export type Action = { readonly name: string; readonly args: JsonObject };

/**
 * `base` is the sealed revision that the proposer's view was made of, with the first 16 hex digits of its entry's digest;
 * `vector` replaces it only for drafts that were not made on a sealed revision. `premises` are JSON Pointers of fields that
 * the proposer relied on without writing them. `patch` maps fields to verbs. `dry` makes it a rehearsal: it is answered, and
 * leaves no trace.
 */
export type Proposal = {
  readonly kind: 'proposal';
  readonly v: 1;
  readonly space: string;
  readonly agent: string;
  readonly incarnation: number;
  readonly n: number;
  readonly schema: string;
  readonly base: {
    readonly revision: number;
    readonly digest?: string;
    readonly vector?: { readonly [agent: string]: number };
  };
  readonly premises?: readonly string[];
  readonly patch: JsonObject;
  readonly action?: Action;
  readonly why?: string;
  readonly dry?: true;
};

/** A proposal with its canonical text: what is logged, digested and compared. */
export type Admitted = { readonly proposal: Proposal; readonly text: string };

export type Gated<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly Issue[] };

/** Passes a message of a given shape through the strict reader and the closed envelope. Never throws. */
export function readMessage<T>(
  text: string,
  bytesMax: number,
  shape: z.ZodType<T>,
): Gated<{ readonly message: T; readonly text: string }> {
  if (!fitsUtf8(text, bytesMax)) {
    return refused('too_large', '', `The message has ${text.length} characters; ${bytesMax} bytes are allowed.`);
  }
  const read = readStrictJson(text);
  if (!read.ok) return refused(read.fault.code, '', `${read.fault.message}${read.fault.at < 0 ? '' : ` (at ${read.fault.at})`}`);
  const parsed = shape.safeParse(read.value);
  if (parsed.success) return { ok: true, value: { message: read.value as T, text: read.canonical } };
  return {
    ok: false,
    issues: parsed.error.issues.slice(0, 8).map((issue) => ({
      path: pointer(...issue.path.map(String)),
      code: issue.path[0] === 'v' ? 'protocol' : issue.path[0] === 'agent' ? 'identity' : 'schema',
      rule: 'envelope',
      recovery: 'never',
      hint: issue.message.slice(0, 200),
    })),
  };
}

/** The gate for proposals. `from` is the name that the transport vouches for. */
export function admit(text: string, from: string): Gated<Admitted> {
  const usual = fitsUtf8(text, PROPOSAL_BYTES_MAX) ? readUsualProposal(text, from) : undefined;
  if (usual !== undefined) return { ok: true, value: usual };
  const read = readMessage(text, PROPOSAL_BYTES_MAX, proposalShape);
  if (!read.ok) return read;
  const { message: proposal, text: canonicalText } = read.value;
  if (proposal.agent !== from) return refused('identity', '/agent', `You are ${from}; a proposal speaks for its sender only.`);
  return { ok: true, value: { proposal, text: canonicalText } };
}

function refused(code: IssueCode, path: string, hint: string): { readonly ok: false; readonly issues: readonly Issue[] } {
  return { ok: false, issues: [{ path, code, rule: 'gate', recovery: 'never', hint }] };
}
