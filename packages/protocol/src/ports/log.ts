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
 * - `conflict`: nothing was stored, the newest index is not the one the caller gave (in either direction); `tail` is the newest index.
 * - `unknown`: stored or not, nobody can say (a time-out, a lost connection). Read the tail and compare; never resend blindly.
 */
export type AppendOutcome =
  | { readonly kind: 'appended'; readonly index: number }
  | { readonly kind: 'conflict'; readonly tail: number }
  | { readonly kind: 'unknown'; readonly why: string };

/** The reading half, all that a follower needs. It sees a prefix of the log, and at least what was acknowledged to anybody before it asked. */
export interface LogReader {
  /** Index of the newest record, 0 when there is none. Answered by whoever may append, never by a cache. */
  tail(): Promise<number>;
  /**
   * Every record from index `from` (>= 1) to the tail at the first step of the iteration, ascending. Ends there; it does not follow.
   * Nothing when `from` is above the tail. Errors come with a step, never with the call: `USAGE` for another `from`,
   * `TRANSPORT_CLOSED` after `close`, `LOG_DAMAGED` when a stored record cannot be read. Leaving the loop early is allowed.
   */
  read(from: number): AsyncIterable<StoredRecord>;
  /** Idempotent. Waits for an append in flight. What was acknowledged is there when the store is opened again, as far as its durability goes. */
  close(): Promise<void>;
}

export interface Log extends LogReader {
  readonly durability: Durability;
  /**
   * Appends `body` iff the newest index is exactly `tail`. One append is in flight at a time, by contract of the caller.
   * Throws `LOG_FULL` (nothing stored), `TRANSPORT_CLOSED` after `close`, `USAGE` for a body above `LOG_BODY_BYTES_MAX`, for
   * ill-formed Unicode and for a `tail` that is no index. The body is kept byte for byte, empty ones and NUL included.
   */
  append(tail: number, body: string): Promise<AppendOutcome>;
}
