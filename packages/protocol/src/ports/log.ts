/**
 * Port `Log`: one totally ordered, append-only sequence of records, with a conditional append.
 *
 * It is the only truth of a shard: what an append acknowledged is read back by everybody, for ever, in that order.
 * The body is opaque here; its meaning (entries, digests, the chain) belongs to `record.ts`.
 */

/** Largest body of one record, in UTF-8 bytes: below the 1 MiB payload of a default NATS server, with room for headers. */
export const LOG_BODY_BYTES_MAX = 524_288;

/** What an acknowledged append survives: nothing, a killed process, or a power cut. */
export type Durability = 'none' | 'process' | 'power';

/** `index` counts from 1 without gaps. */
export type StoredRecord = { readonly index: number; readonly body: string };

/**
 * - `appended`: stored at `index`, and nothing else can be stored there.
 * - `conflict`: nothing was stored, the log is longer than the caller thought; `tail` is its newest index.
 * - `unknown`: stored or not, nobody can say (a time-out, a lost connection). Read the tail and compare; never resend blindly.
 */
export type AppendOutcome =
  | { readonly kind: 'appended'; readonly index: number }
  | { readonly kind: 'conflict'; readonly tail: number }
  | { readonly kind: 'unknown'; readonly why: string };

/** The reading half, all that a follower needs. */
export interface LogReader {
  /** Index of the newest record, 0 when there is none. Answered by whoever may append, never by a cache. */
  tail(): Promise<number>;
  /** Every record from index `from` (>= 1) to the tail at the time of the call, ascending. Ends there; it does not follow. */
  read(from: number): AsyncIterable<StoredRecord>;
  close(): Promise<void>;
}

export interface Log extends LogReader {
  readonly durability: Durability;
  /**
   * Appends `body` iff the newest index is exactly `tail`. One append is in flight at a time, by contract of the caller.
   * Throws `LOG_FULL` (nothing stored), `TRANSPORT_CLOSED` after `close`, `USAGE` for a body above `LOG_BODY_BYTES_MAX`.
   */
  append(tail: number, body: string): Promise<AppendOutcome>;
}
