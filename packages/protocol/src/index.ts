export type { Attachment, Bus, ChannelServer, Closable } from './ports/bus.ts';
export { ADDRESS_PATTERN, MESSAGE_BYTES_MAX } from './ports/bus.ts';
export type { AppendOutcome, Durability, Log, LogReader, StoredRecord } from './ports/log.ts';
export { LOG_BODY_BYTES_MAX } from './ports/log.ts';
export type { Blobs } from './ports/blobs.ts';
export { BLOB_BYTES_MAX } from './ports/blobs.ts';
export type { Clock } from './ports/clock.ts';
export { assertAddress, assertBlob, assertDelay, assertDigest, assertIndex, assertLogBody, assertMessage } from './ports/guard.ts';
