/**
 * A space: one shared state with its schema, its agents and its place in the log. Immutable; `seal` gives the next one.
 *
 * The dedupe table is part of the state: per agent the last n, the digest of that proposal and its verdict. So a re-sent
 * proposal gets its first answer whoever leads, for ever.
 */
import { OplusError } from './error.ts';
import type { FieldKind } from './field-kind.ts';
import type { Json, JsonObject } from './json.ts';
import { canonical, isJsonObject } from './json.ts';
import type { StateSchema } from './state-schema.ts';
import { initialCells } from './views.ts';
import type { Trie } from './trie.ts';
import { emptyTrie, trieDigest, trieEntries, trieSorted, trieWith } from './trie.ts';
import type { VersionVector } from './version-vector.ts';

/** One agent of a space. `session` is the token of its live `hello`; `incarnation` counts them. */
export type AgentRecord = {
  readonly role: string;
  readonly incarnation: number;
  readonly session: string;
  readonly isLive: boolean;
  /** n of its newest decided proposal, 0 before the first. */
  readonly n: number;
  /** Least depth of its next stamp: an agent's own later proposal never loses to its earlier one. */
  readonly depth: number;
  /** SHA-256 of that proposal's canonical text, and its verdict as canonical JSON. */
  readonly answered?: { readonly digest: string; readonly verdict: string };
};

export type Space = {
  readonly name: string;
  readonly schema: StateSchema;
  /** -1 before genesis. */
  readonly revision: number;
  readonly cells: readonly unknown[];
  readonly agents: Trie<AgentRecord>;
  /** Digest of each field as JSON (digest.ts), in the order of the schema. */
  readonly digests: readonly string[];
  /** Digest of the whole state: of fields, agents and schema. */
  readonly state: string;
  /** Digest of the newest entry: what the next one names as its predecessor. Empty before genesis. */
  readonly head: string;
};

/** A space before its genesis. */
export function unbornSpace(name: string, schema: StateSchema): Space {
  const cells = initialCells(schema);
  const bare = { name, schema, revision: -1, cells, agents: emptyTrie<AgentRecord>(), digests: [], state: '', head: '' };
  return withDigests(bare, bare.cells, bare.agents, -1);
}

/** The space with these cells and agents, digests brought up to date. Cost: that of what changed. */
export function withDigests(space: Space, cells: readonly unknown[], agents: Trie<AgentRecord>, revision: number): Space {
  const { schema } = space;
  const digests = cells.map((cell, i) => {
    const known = space.cells[i] === cell ? space.digests[i] : undefined;
    return known ?? (schema.kinds[i] as FieldKind).digest(cell, schema.sha256);
  });
  const agentsDigest = trieDigest(agents, encodeAgent, schema.sha256);
  const state = schema.sha256(`{"agents":"${agentsDigest}","fields":[${digests.join()}],"schema":"${schema.digest}"}`);
  return { ...space, revision, cells, agents, digests, state };
}

/** Digest of the field values alone: two spaces that agree here hold the same facts, whatever was refused on the way. */
export function valuesDigest(space: Space): string {
  return space.schema.sha256(`[${space.digests.join()}]`);
}

/** The whole state as JSON: field to value. O(size). */
export function stateJson(space: Space): JsonObject {
  return Object.fromEntries(space.schema.kinds.map((kind, i) => [space.schema.names[i] as string, kind.json(space.cells[i])]));
}

/** Every agent's n of its newest decided proposal. O(agents). */
export function vectorOf(space: Space): VersionVector {
  const vector = new Map<string, number>();
  for (const [agent, record] of trieEntries(space.agents)) if (record.n > 0) vector.set(agent, record.n);
  return vector;
}

/**
 * Oldest revision that a base may name: as far back as the definition says, or no further than the oldest view that a live
 * agent may still hold. An agent's views only grow newer, so what it has proposed on is a lease on all that came after; one
 * that falls silent holds the horizon back no longer than the definition allows. O(agents).
 */
export function horizonOf(space: Space): number {
  let leased = space.revision;
  for (const [, record] of trieEntries(space.agents)) if (record.isLive) leased = Math.min(leased, record.depth - 1);
  return Math.max(0, leased, space.revision - space.schema.horizon);
}

/** A snapshot: canonical JSON of everything that cannot be computed from the rest, and a digest over all of it. O(size). */
export function encodeSpace(space: Space): string {
  const { schema } = space;
  const cells = schema.kinds.map((kind, i) => `${canonical(schema.names[i] as string)}:${kind.encode(space.cells[i])}`);
  const agents = trieSorted(space.agents).map(([agent, record]) => `${canonical(agent)}:${encodeAgent(record)}`);
  const before = `{"agents":{${agents.join()}},"cells":{${cells.join()}},`;
  const after = `"head":${canonical(space.head)},"name":${canonical(space.name)},"revision":${space.revision},"schema":"${schema.digest}","state":"${space.state}","v":1}`;
  return `${before}"digest":"${schema.sha256(before + after)}",${after}`;
}

/** Inverse of `encodeSpace`. Throws `LOG_DAMAGED` unless what it holds is written back to the very same text. */
export function decodeSpace(schema: StateSchema, stored: Json): Space {
  if (!isJsonObject(stored) || stored['v'] !== 1 || stored['schema'] !== schema.digest) {
    throw new OplusError('LOG_DAMAGED', 'the snapshot is not one of this schema', { hint: 'Recover from the log instead.' });
  }
  const decoded = readSpace(schema, stored);
  if (decoded === undefined) {
    throw new OplusError('LOG_DAMAGED', 'the snapshot does not hold what its digest says', {
      hint: 'Recover from the log instead.',
    });
  }
  return decoded;
}

/** The space, if it is written back to the very same text. */
function readSpace(schema: StateSchema, stored: JsonObject): Space | undefined {
  try {
    const cells = schema.kinds.map((kind, i) => kind.decode((stored['cells'] as JsonObject)[schema.names[i] as string] as Json));
    let agents = emptyTrie<AgentRecord>();
    for (const [agent, record] of Object.entries(stored['agents'] as JsonObject))
      agents = trieWith(agents, agent, decodeAgent(record as JsonObject));
    const bare = { ...unbornSpace(stored['name'] as string, schema), head: stored['head'] as string };
    const space = withDigests(bare, cells, agents, stored['revision'] as number);
    return encodeSpace(space) === canonical(stored) ? space : undefined;
  } catch (cause) {
    throw new OplusError('LOG_DAMAGED', 'the snapshot cannot be read', { hint: 'Recover from the log instead.', cause });
  }
}

function encodeAgent(record: AgentRecord): string {
  const answered =
    record.answered === undefined
      ? ''
      : `"answered":{"digest":"${record.answered.digest}","verdict":${record.answered.verdict}},`;
  return `{${answered}"depth":${record.depth},"incarnation":${record.incarnation},"isLive":${record.isLive},"n":${record.n},"role":"${record.role}","session":"${record.session}"}`;
}

function decodeAgent(stored: JsonObject): AgentRecord {
  const { answered, ...rest } = stored;
  const record = rest as unknown as AgentRecord;
  if (answered === undefined) return record;
  const { digest, verdict } = answered as JsonObject;
  return { ...record, answered: { digest: digest as string, verdict: canonical(verdict as Json) } };
}
