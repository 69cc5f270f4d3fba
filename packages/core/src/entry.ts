/**
 * Entries: what a seal appends. Whole proposals with their verdicts, system events, the state digest and the digest of the
 * entry before: a hash chain, so that loss, damage or reordering shows on every replay.
 */
import { z } from 'zod';
import { OplusError } from './error.ts';
import type { ExpiryCause } from './field-kind.ts';
import type { Json, Sha256 } from './json.ts';
import { canonical } from './json.ts';
import type { Admitted, Proposal } from './proposal.ts';

/** Longest path of an expiry, in UTF-16 units: that of a key below keys below keys, escaped. */
const EXPIRE_PATH_CHARS_MAX = 4096;

/** What the system itself writes, in the canonical order of kinds: genesis, join, expire, leave. */
export type SystemEvent =
  | { readonly kind: 'genesis'; readonly schema: string; readonly nonce: string }
  | { readonly kind: 'join'; readonly agent: string; readonly role: string; readonly session: string }
  /** A timer ran out: the only way in which time enters the state. `path` and `token` name what ends. */
  | { readonly kind: 'expire'; readonly path: string; readonly token: number; readonly cause: ExpiryCause }
  | { readonly kind: 'leave'; readonly agent: string; readonly incarnation: number };

/** One member of an entry, as it is stored. */
export type StoredMember = { readonly event: SystemEvent } | { readonly proposal: Proposal; readonly verdict: Json };

/** An entry as it is stored. `prev` is empty in the genesis entry. */
export type StoredEntry = {
  readonly v: 1;
  readonly space: string;
  readonly revision: number;
  readonly term: number;
  readonly prev: string;
  readonly state: string;
  readonly members: readonly StoredMember[];
};

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** The shape of a stored entry; members are checked by folding them. */
export const entryShape: z.ZodType<StoredEntry> = z.strictObject({
  v: z.literal(1),
  space: z.string().max(64),
  revision: z.int().min(0),
  term: z.int().min(1),
  prev: z.union([z.literal(''), digest]),
  state: digest,
  members: z.array(
    z.union([
      z.strictObject({
        event: z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('genesis'), schema: digest, nonce: z.string().max(64) }),
          z.strictObject({
            kind: z.literal('join'),
            agent: z.string().max(32),
            role: z.string().max(32),
            session: z.string().max(64),
          }),
          z.strictObject({
            kind: z.literal('expire'),
            path: z.string().max(EXPIRE_PATH_CHARS_MAX),
            token: z.int().min(0),
            cause: z.enum(['lease', 'left', 'deadline']),
          }),
          z.strictObject({ kind: z.literal('leave'), agent: z.string().max(32), incarnation: z.int().min(1) }),
        ]),
      }),
      z.strictObject({ proposal: z.record(z.string(), z.unknown()), verdict: z.record(z.string(), z.unknown()) }),
    ]),
  ),
}) as unknown as z.ZodType<StoredEntry>;

/** Canonical text of an entry whose members are canonical texts already. */
export function entryText(entry: Omit<StoredEntry, 'members' | 'v'>, members: readonly string[]): string {
  return `{"members":[${members.join()}],"prev":"${entry.prev}","revision":${entry.revision},"space":"${entry.space}","state":"${entry.state}","term":${entry.term},"v":1}`;
}

/**
 * Digest of a stored entry: of its canonical text with each proposal replaced by its own digest. So the bytes of a proposal are
 * hashed once, for the dedupe table, and a single member can be proved without the others.
 */
export function entryDigest(entry: StoredEntry, sha256: Sha256): string {
  const members = entry.members.map((member) => {
    if ('event' in member) return eventText(member.event);
    const text = canonical(member.proposal as unknown as Json);
    return memberText(`"${sha256(text)}"`, canonical(member.verdict));
  });
  return sha256(entryText(entry, members));
}

/** Canonical text of a member; of its short form when `text` is the digest in quotes. */
export function memberText(text: string, verdict: string): string {
  return `{"proposal":${text},"verdict":${verdict}}`;
}

/** Canonical text of a system event as a member. */
export function eventText(event: SystemEvent): string {
  return `{"event":${canonical(event as unknown as Json)}}`;
}

/** Order of system events inside a round: genesis, joins, expiries, leaves; then by all that they say. Zero only for equal events. */
export function compareEvents(a: SystemEvent, b: SystemEvent): number {
  const left = sortKey(a);
  const right = sortKey(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Splits the members of a stored entry into what `seal` takes. Throws `LOG_DAMAGED` for another shape. */
export function membersOf(entry: StoredEntry): {
  readonly events: readonly SystemEvent[];
  readonly proposals: readonly Admitted[];
} {
  const events: SystemEvent[] = [];
  const proposals: Admitted[] = [];
  for (const member of entry.members) {
    if ('event' in member) events.push(member.event);
    else if ('proposal' in member)
      proposals.push({ proposal: member.proposal, text: canonical(member.proposal as unknown as Json) });
    else throw new OplusError('LOG_DAMAGED', 'a stored member is neither an event nor a proposal');
  }
  return { events, proposals };
}

const KIND_ORDER = { genesis: '0', join: '1', expire: '2', leave: '3' } as const;

function sortKey(event: SystemEvent): string {
  const order = KIND_ORDER[event.kind];
  if (event.kind === 'genesis') return `${order} ${event.nonce} ${event.schema}`;
  if (event.kind === 'expire') return `${order} ${event.path} ${event.token} ${event.cause}`;
  return `${order} ${event.agent} ${event.kind === 'join' ? `${event.session} ${event.role}` : event.incarnation}`;
}
