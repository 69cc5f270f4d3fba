/**
 * Turns what the NATS client throws into our errors, once, at this border.
 *
 * Decided by class and by the server's numeric codes, never by message text.
 */
import { OplusError } from '@oplus/core';
import type { ErrorCode } from '@oplus/core';
import { JetStreamApiError } from '@nats-io/jetstream';
import {
  AuthorizationError,
  ClosedConnectionError,
  DrainingConnectionError,
  InvalidArgumentError,
  NoRespondersError,
  PermissionViolationError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from '@nats-io/nats-core';

/** Codes of the JetStream API that we act on. */
export const API_CODE = {
  insufficientResources: 10_023,
  noMessage: 10_037,
  notEnabledForAccount: 10_039,
  storageExceeded: 10_047,
  nameInUse: 10_058,
  streamNotFound: 10_059,
  otherStream: 10_060,
  wrongSequence: 10_071,
  notEnabled: 10_076,
  storeFailed: 10_077,
  wrongSequenceUnknown: 10_164,
} as const;

/** The connection broke while an answer was awaited, so nobody knows what became of the request. Never leaves this package. */
export class LinkLost extends Error {
  override readonly name: string = 'LinkLost';
}

/** Wraps any error of the client; ours pass through. `what` says what was being done, for the message. */
export function brokerError(error: unknown, what: string): OplusError {
  if (error instanceof OplusError) return error;
  const cause = causeOf(error);
  const [code, hint] = classify(cause);
  return new OplusError(code, `${what}: ${describe(cause)}`, hint === undefined ? { cause: error } : { cause: error, hint });
}

/** The API code of a JetStream refusal, `undefined` for everything else. */
export function apiCodeOf(error: unknown): number | undefined {
  const cause = causeOf(error);
  return cause instanceof JetStreamApiError ? cause.code : undefined;
}

/** True if a JetStream refusal is the server's passing trouble (5xx: no leader, no quorum), not a verdict about the request. */
function isServersTrouble(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof JetStreamApiError && cause.status >= 500 && !isNoRoom(error);
}

/** True if the stream or the disk refused for want of room; nothing was stored. */
export function isNoRoom(error: unknown): boolean {
  const code = apiCodeOf(error);
  return code === API_CODE.storeFailed || code === API_CODE.insufficientResources || code === API_CODE.storageExceeded;
}

/** True if nobody was subscribed where the request went: no JetStream, no such stream, or no leader just now. */
export function isUnanswered(error: unknown): boolean {
  return causeOf(error) instanceof NoRespondersError;
}

/** True if the same request may be answered when sent again; only for requests that change nothing when doubled. */
export function isPassing(error: unknown): boolean {
  return error instanceof LinkLost || causeOf(error) instanceof TimeoutError || isUnanswered(error) || isServersTrouble(error);
}

/** True if the broker refused the credentials. */
export function isAuthRefusal(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof AuthorizationError || cause instanceof UserAuthenticationExpiredError;
}

function classify(cause: unknown): readonly [code: ErrorCode, hint?: string] {
  if (isAuthRefusal(cause)) return ['BROKER_REFUSED', 'check the user, password, token or key given for this broker'];
  if (cause instanceof PermissionViolationError) {
    return [
      'BROKER_REFUSED',
      `this user may not ${cause.operation === 'publish' ? 'publish to' : 'subscribe to'} ${cause.subject}`,
    ];
  }
  if (cause instanceof ClosedConnectionError || cause instanceof DrainingConnectionError) return ['TRANSPORT_CLOSED'];
  if (cause instanceof TimeoutError)
    return ['TRANSPORT_TIMEOUT', 'the broker is there but did not answer in time; look at its load and its log'];
  if (isNoRoom(cause)) return ['LOG_FULL', 'raise the limit of the stream or of the server, or make room on its disk'];
  if (isUnanswered(cause) || isWithoutJetStream(cause)) {
    return ['BROKER_REFUSED', 'JetStream does not answer: enable it in the server (a `jetstream` block in its configuration)'];
  }
  if (cause instanceof JetStreamApiError || cause instanceof InvalidArgumentError) return ['BROKER_REFUSED'];
  return ['BROKER_UNREACHABLE', 'start a nats-server there, or check the address and the network'];
}

function isWithoutJetStream(cause: unknown): boolean {
  const code = apiCodeOf(cause);
  return code === API_CODE.notEnabled || code === API_CODE.notEnabledForAccount;
}

/** The client wraps: a `RequestError` holds the reason in `cause`, and `JetStreamNotEnabled` holds a `RequestError`. */
function causeOf(error: unknown): unknown {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner;
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // A refused socket to a name with several addresses arrives as an AggregateError, whose message is empty.
  const first = cause instanceof AggregateError ? (cause.errors[0] as unknown) : undefined;
  return first instanceof Error ? first.message : cause.message || cause.name;
}
