/**
 * What we throw: operating trouble and our own mistakes. Expected trouble (a conflict, a full field) is never thrown,
 * it is an `Issue` in a verdict (issue.ts).
 */

/**
 * Closed list. In brackets: may the same call succeed later?
 * - `INVARIANT`: our own mistake, the process should stop (no).
 * - `USAGE`: an argument or option is wrong (no).
 * - `SCHEMA_INVALID`: a state definition does not load (no).
 * - `SKILL_UNKNOWN`: no skill of that name (no).
 * - `PROTOCOL_VERSION`: the other side speaks another version (no, until one side is upgraded).
 * - `MESSAGE_INVALID`: bytes that are not a message of ours (no).
 * - `TRANSPORT_CLOSED`: used after `close` (no).
 * - `TRANSPORT_TIMEOUT`: nobody answered in time; the outcome is unknown (yes).
 * - `BROKER_MISSING`: no `nats-server` binary was found (yes, after installing one).
 * - `BROKER_UNREACHABLE`: nothing answers at that address (yes).
 * - `BROKER_REFUSED`: the broker answered and said no: credentials, limits, configuration (no).
 * - `PORT_BUSY`: another program holds the address (yes, when it is free).
 * - `LOG_LOCKED`: another process writes this log (yes, when it ends).
 * - `LOG_DAMAGED`: stored bytes are not what was written (no).
 * - `LOG_DIVERGED`: folding an entry gave another digest than the entry says (no).
 * - `LOG_FULL`: the disk or the stream limit refuses more (yes, after making room).
 * - `FENCED`: a newer term or incarnation took over (no, not under this identity).
 * - `MODEL_UNREACHABLE`: the model's server does not answer or is overloaded (yes).
 * - `MODEL_REFUSED`: the model's server answered with an error (no).
 */
export type ErrorCode =
  | 'INVARIANT'
  | 'USAGE'
  | 'SCHEMA_INVALID'
  | 'SKILL_UNKNOWN'
  | 'PROTOCOL_VERSION'
  | 'MESSAGE_INVALID'
  | 'TRANSPORT_CLOSED'
  | 'TRANSPORT_TIMEOUT'
  | 'BROKER_MISSING'
  | 'BROKER_UNREACHABLE'
  | 'BROKER_REFUSED'
  | 'PORT_BUSY'
  | 'LOG_LOCKED'
  | 'LOG_DAMAGED'
  | 'LOG_DIVERGED'
  | 'LOG_FULL'
  | 'FENCED'
  | 'MODEL_UNREACHABLE'
  | 'MODEL_REFUSED';

/** One thing that is unsound in a definition: where it stands, as a JSON Pointer, what is broken, and what to do about it. */
export type Fault = { readonly path: string; readonly rule: string; readonly hint: string };

/**
 * What to tell a person beside the message: what to do next, and where it happened (a file, a path in a state). `faults` holds
 * all that is wrong where that may be several things; the rest is then about the first of them.
 */
export type ErrorDetail = {
  readonly hint?: string;
  readonly path?: string;
  readonly cause?: unknown;
  readonly faults?: readonly Fault[];
};

/** Base of all that we throw. Callers match on `code`; messages are for people and may change. */
export class OplusError extends Error {
  override readonly name: string = 'OplusError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly path: string | undefined;
  readonly faults: readonly Fault[] | undefined;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.code = code;
    this.hint = detail.hint;
    this.path = detail.path;
    this.faults = detail.faults;
  }
}

/** Throws `INVARIANT` unless `claim` holds: for what only a mistake of ours can break. */
export function invariant(claim: boolean, message: string): asserts claim {
  if (!claim) throw new OplusError('INVARIANT', message);
}
