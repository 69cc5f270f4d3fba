/**
 * A shard: several spaces with one log. A record is what one append stores: the entries of every space that had proposals
 * waiting, under one term and chained to the record before.
 *
 * The void rule: a record that does not name the last valid record as its predecessor, or that carries a lower term, is
 * void, and every reader skips it alike. So a coordinator that lost its leadership cannot change history even where the
 * log itself would let it append. SPEC: SHD1-SHD5.
 */
import { z } from 'zod';
import { entryDigest, entryShape } from './entry.ts';
import type { StoredEntry } from './entry.ts';
import { OplusError } from './error.ts';
import type { Sha256 } from './json.ts';
import { foldStored } from './replay.ts';
import type { Sealed } from './seal.ts';
import type { Space } from './space.ts';
import { unbornSpace } from './space.ts';
import type { StateSchema } from './state-schema.ts';

/** A record as it is stored. A record without entries begins a term. */
export type StoredRecord = {
  readonly v: 1;
  readonly term: number;
  readonly prev: string;
  readonly entries: readonly StoredEntry[];
};

/**
 * `index` is the newest log index folded, void records included; `head` the digest of the last valid record, empty before
 * the first; `term` the newest term, 0 before the first. Only spaces whose schema is given are folded.
 */
export type Shard = {
  readonly index: number;
  readonly head: string;
  readonly term: number;
  readonly spaces: ReadonlyMap<string, Space>;
  readonly sha256: Sha256;
};

export type FoldedRecord =
  | { readonly kind: 'folded'; readonly shard: Shard; readonly sealed: readonly Sealed[] }
  | { readonly kind: 'void'; readonly shard: Shard; readonly why: string };

/** A shard before its first record. Throws `USAGE` when no space is given. */
export function emptyShard(schemas: ReadonlyMap<string, StateSchema>): Shard {
  const [first] = schemas.values();
  if (first === undefined)
    throw new OplusError('USAGE', 'a shard without spaces', { hint: 'Give at least one space and its schema.' });
  const spaces = new Map([...schemas].map(([name, schema]) => [name, unbornSpace(name, schema)]));
  return { index: 0, head: '', term: 0, spaces, sha256: first.sha256 };
}

/** The body to append after `shard`, with the shard that it leads to. `term` is at least that of the shard. */
export function composeRecord(
  shard: Shard,
  term: number,
  sealed: readonly Sealed[],
): { readonly body: string; readonly shard: Shard } {
  const body = recordText(
    shard.head,
    term,
    sealed.map((one) => one.text),
  );
  return { body, shard: advance(shard, shard.index + 1, term, sealed) };
}

/**
 * Folds the record at `index`, which must be the next one. Throws `LOG_DAMAGED` for bytes that are no record or a gap,
 * `LOG_DIVERGED` when an entry folds to something else. Cost: that of sealing its entries.
 */
export function foldRecord(shard: Shard, index: number, body: string): FoldedRecord {
  if (index !== shard.index + 1) throw damaged(`record ${index} does not follow record ${shard.index}`);
  const record = readRecord(body, index);
  const why =
    record.prev !== shard.head
      ? 'it does not continue the last valid record'
      : record.term < shard.term
        ? `term ${record.term} ended when term ${shard.term} began`
        : undefined;
  if (why !== undefined) return { kind: 'void', shard: { ...shard, index }, why };
  const sealed: Sealed[] = [];
  const digests: string[] = [];
  const spaces = new Map(shard.spaces);
  for (const entry of record.entries) {
    if (entry.term !== record.term) throw damaged(`record ${index} holds an entry of another term`);
    const space = spaces.get(entry.space);
    if (space === undefined) {
      digests.push(entryDigest(entry, shard.sha256));
      continue;
    }
    const next = foldStored(space, entry);
    spaces.set(entry.space, next.space);
    sealed.push(next);
    digests.push(next.digest);
  }
  const isWhole = sealed.length === record.entries.length;
  if (
    isWhole &&
    recordText(
      record.prev,
      record.term,
      sealed.map((one) => one.text),
    ) !== body
  ) {
    throw new OplusError('LOG_DIVERGED', `record ${index} folds to other bytes than it holds`, {
      hint: 'The record was altered, or it was written by another version of the skill or of the core.',
    });
  }
  return {
    kind: 'folded',
    shard: { ...shard, index, term: record.term, spaces, head: recordDigest(shard, record.term, digests) },
    sealed,
  };
}

/** Reads a record's body. Throws `LOG_DAMAGED` for anything that is not one. */
export function readRecord(body: string, index: number): StoredRecord {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw damaged(`record ${index} is not JSON`, cause);
  }
  const parsed = recordShape.safeParse(value);
  if (!parsed.success) throw damaged(`record ${index} has another shape: ${parsed.error.issues[0]?.message ?? ''}`, parsed.error);
  return value as StoredRecord;
}

/** The shape of a stored record. */
export const recordShape: z.ZodType<StoredRecord> = z.strictObject({
  v: z.literal(1),
  term: z.int().min(1),
  prev: z.string().regex(/^(?:[0-9a-f]{64})?$/),
  entries: z.array(entryShape),
}) as unknown as z.ZodType<StoredRecord>;

function advance(shard: Shard, index: number, term: number, sealed: readonly Sealed[]): Shard {
  const spaces = sealed.length === 0 ? shard.spaces : new Map(shard.spaces);
  for (const one of sealed) (spaces as Map<string, Space>).set(one.space.name, one.space);
  return {
    ...shard,
    index,
    term,
    spaces,
    head: recordDigest(
      shard,
      term,
      sealed.map((one) => one.digest),
    ),
  };
}

function recordText(prev: string, term: number, entries: readonly string[]): string {
  return `{"entries":[${entries.join()}],"prev":"${prev}","term":${term},"v":1}`;
}

function recordDigest(shard: Shard, term: number, entryDigests: readonly string[]): string {
  return shard.sha256(`["${shard.head}",${term},"${entryDigests.join('","')}"]`);
}

function damaged(message: string, cause?: unknown): OplusError {
  return new OplusError('LOG_DAMAGED', message, {
    hint: 'Restore the log from a copy; what it holds before this point is intact.',
    cause,
  });
}
