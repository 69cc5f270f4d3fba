/**
 * A coordinator as data: its state, what it can be told, and what must then happen.
 */
import type { OplusError, Sealed, Shard } from '@oplus/core';
import type { StoredRecord } from '@oplus/protocol';
import type { Barrier } from './barrier.ts';
import type { Leases } from './leases.ts';
import type { Recent } from './recent.ts';
import type { Waiting } from './waiting.ts';

/**
 * A record on its way into the log: appended or not, nobody knows yet. `next` is the shard if it is; `refusals` what must be
 * said of proposals that the rounds left out, true only once they are in the log.
 */
export type InFlight = {
  readonly body: string;
  readonly next: Shard;
  readonly sealed: readonly Sealed[];
  readonly refusals: readonly Effect[];
};

/**
 * `taking`: the term record is on its way; `leading`: rounds are sealed; `ended`: another term took over, or the log
 * failed. `shard` holds only what the log has acknowledged.
 */
export type CoordinatorState = {
  readonly phase: 'taking' | 'leading' | 'ended';
  readonly term: number;
  readonly shard: Shard;
  /** By space, the longest unserved first; without those where nothing waits. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  readonly inFlight: InFlight | undefined;
  /** Digests of the newest entries of each space, by revision, against bases from another history. */
  readonly recent: Recent;
  readonly barrier: Barrier | undefined;
  /** What ends by itself, and since when it stands. */
  readonly leases: Leases;
  /** By space: the nonce of its genesis, against a log that was deleted and made again. Empty when absent. */
  readonly nonces: ReadonlyMap<string, string>;
};

export type Input =
  /** A message of a worker, under the name that the transport vouches for. */
  | { readonly kind: 'message'; readonly from: string; readonly body: string }
  /** Everything that had arrived has been said: rounds may be sealed. */
  | { readonly kind: 'turn' }
  /** Time has passed: `at` milliseconds at the least since this coordinator leads. A `wake` asked for it. */
  | { readonly kind: 'tick'; readonly at: number }
  | { readonly kind: 'appended'; readonly index: number }
  /** Nothing was stored; `tail` is the newest index. */
  | { readonly kind: 'conflict'; readonly tail: number }
  /** Stored or not, nobody can say. */
  | { readonly kind: 'unknown' }
  /** What the log holds after the index that `readTail` named. */
  | { readonly kind: 'tail'; readonly records: readonly StoredRecord[] }
  /** The log refuses for a reason that re-reading cannot cure. Nothing was stored. */
  | { readonly kind: 'failed'; readonly error: OplusError };

/** Effects are listed in the order in which the shell must carry them out. At most one `append` or `readTail` is under way. */
export type Effect =
  | { readonly kind: 'append'; readonly tail: number; readonly body: string }
  | { readonly kind: 'readTail'; readonly from: number }
  | { readonly kind: 'announce'; readonly index: number; readonly body: string }
  | { readonly kind: 'send'; readonly to: string; readonly body: string }
  /** These rounds are in the log for good. */
  | { readonly kind: 'committed'; readonly sealed: readonly Sealed[] }
  | { readonly kind: 'leading'; readonly term: number }
  /** Tells a `tick` after this long. */
  | { readonly kind: 'wake'; readonly delayMs: number }
  | { readonly kind: 'ended'; readonly error: OplusError };

export type Step = { readonly state: CoordinatorState; readonly effects: readonly Effect[] };
