/**
 * Port `Blobs`: immutable bytes by content digest, beside the log. What it holds can be large and is never state.
 */

/** Largest blob, in bytes. */
export const BLOB_BYTES_MAX = 8_388_608;

/** Neither side shares memory with the other: bytes changed after `put` or after `get` change nothing stored. `TRANSPORT_CLOSED` after `close`. */
export interface Blobs {
  /** Stores the bytes and gives their SHA-256 in lower-case hex. Storing the same bytes again is a no-op. Throws `USAGE` above `BLOB_BYTES_MAX`, `LOG_FULL` when there is no room. */
  put(bytes: Uint8Array): Promise<string>;
  /** The bytes, verified against the digest on every read; `undefined` when absent. Throws `LOG_DAMAGED` when they do not match, `USAGE` when `digest` is not 64 hex digits. */
  get(digest: string): Promise<Uint8Array | undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}
