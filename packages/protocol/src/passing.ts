/**
 * Trouble that passes: errors of a log after which the same question may be answered.
 */
import { OplusError } from '@oplus/core';
import type { ErrorCode } from '@oplus/core';

/** True when it is worth asking the log again: it did not answer in time, is not reachable now, or is held by somebody for a moment. */
export function isPassing(error: unknown): boolean {
  return error instanceof OplusError && PASSING.has(error.code);
}

const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['TRANSPORT_TIMEOUT', 'BROKER_UNREACHABLE', 'LOG_LOCKED']);
