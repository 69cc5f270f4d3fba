/**
 * A coordinator as data: its state, what it can be told, and what must then happen.
 */
import type { OplusError, Sealed, Shard } from '@oplus/core';
import type { StoredRecord } from '@oplus/protocol';
import type { Barrier, Waiting } from './waiting.ts';

/** A record on its way into the log: appended or not, nobody knows yet. `next` is the shard if it is. */
export type InFlight = { readonly body: string; readonly next: Shard; readonly sealed: readonly Sealed[] };

/**
 * `taking`: the term record is on its way; `leading`: rounds are sealed; `ended`: another term took over, or the log
 * failed. `shard` holds only what the log has acknowledged.
 */
export type CoordinatorState = {
  readonly phase: 'taking' | 'leading' | 'ended';
  readonly term: number;
  readonly shard: Shard;
  readonly waiting: ReadonlyMap<string, Waiting>;
  readonly inFlight: InFlight | undefined;
  /** Digests of the newest entries of each space, by revision, against bases from another history. */
  readonly recent: ReadonlyMap<string, readonly string[]>;
  readonly barrier: Barrier | undefined;
  /** By space: the nonce of its genesis, against a log that was deleted and made again. */
  readonly nonces: ReadonlyMap<string, string>;
};

export type Input =
  /** A message of a worker, under the name that the transport vouches for. */
  | { readonly kind: 'message'; readonly from: string; readonly body: string }
  /** Everything that had arrived has been said: rounds may be sealed. */
  | { readonly kind: 'turn' }
  | { readonly kind: 'appended' }
  /** The log was longer than thought, or did not answer: what it holds after the folded part. */
  | { readonly kind: 'tail'; readonly records: readonly StoredRecord[] }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown' }
  /** The log refuses for a reason that re-reading cannot cure. Nothing was stored. */
  | { readonly kind: 'failed'; readonly error: OplusError };

/** Effects are listed in the order in which the shell must carry them out. */
export type Effect =
  | { readonly kind: 'append'; readonly tail: number; readonly body: string }
  | { readonly kind: 'readTail'; readonly from: number }
  | { readonly kind: 'announce'; readonly index: number; readonly body: string }
  | { readonly kind: 'send'; readonly to: string; readonly body: string }
  /** These rounds are in the log for good. */
  | { readonly kind: 'committed'; readonly sealed: readonly Sealed[] }
  | { readonly kind: 'leading'; readonly term: number }
  | { readonly kind: 'ended'; readonly error: OplusError };

export type Step = { readonly state: CoordinatorState; readonly effects: readonly Effect[] };
