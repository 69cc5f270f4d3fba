export type { Announced } from './announcement.ts';
export { encodeAnnouncement, readAnnouncement } from './announcement.ts';
export { CONTROL_BYTES_MAX, encodeMessage, encodeVerdict, readDownward, readUpward, tagOf } from './codec.ts';
export { foldLogRecord } from './log-fold.ts';
export type { Downward, Hello, Leave, Left, Pass, Refusal, Rehearsal, Upward, VerdictMessage, Welcome } from './message.ts';
export {
  downwardShape,
  helloShape,
  leaveShape,
  leftShape,
  passShape,
  refusalShape,
  rehearsalShape,
  upwardShape,
  verdictMessageShape,
  verdictShape,
  welcomeShape,
} from './message.ts';
export { isPassing } from './passing.ts';
export type { Blobs } from './ports/blobs.ts';
export { BLOB_BYTES_MAX } from './ports/blobs.ts';
export type { Attachment, Bus, ChannelServer, Closable } from './ports/bus.ts';
export { ADDRESS_PATTERN, MESSAGE_BYTES_MAX } from './ports/bus.ts';
export type { Clock } from './ports/clock.ts';
export {
  assertAddress,
  assertBlob,
  assertDelay,
  assertDigest,
  assertIndex,
  assertLogBody,
  assertMessage,
} from './ports/guard.ts';
export type { AppendOutcome, Durability, Log, LogReader, StoredRecord } from './ports/log.ts';
export { LOG_BODY_BYTES_MAX } from './ports/log.ts';
export type { Replica } from './ports/replica.ts';
export { sha256 } from './sha256.ts';
export { PROTOCOL_VERSION } from './version.ts';
