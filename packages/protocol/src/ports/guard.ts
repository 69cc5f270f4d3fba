/**
 * What every adapter of a port checks before it does anything: names, sizes, digests. One place, so that all adapters refuse the same things.
 *
 * All functions throw `USAGE`: the caller has made a mistake, and the same call never succeeds.
 */
import { OplusError } from '@oplus/core';
import { BLOB_BYTES_MAX } from './blobs.ts';
import { ADDRESS_PATTERN, MESSAGE_BYTES_MAX } from './bus.ts';
import { LOG_BODY_BYTES_MAX } from './log.ts';

/** Refuses a channel or sender name outside `ADDRESS_PATTERN`; `what` names it in the message. */
export function assertAddress(what: 'channel' | 'sender', name: string): void {
  if (typeof name === 'string' && ADDRESS_PATTERN.test(name)) return;
  throw new OplusError('USAGE', `not a ${what} name: ${excerptOf(name)}`, {
    hint: 'use 1 to 64 characters of a-z, 0-9, - and _',
  });
}

/** Refuses a message that is ill-formed Unicode or above `MESSAGE_BYTES_MAX`. O(1) for short Latin-1 text. */
export function assertMessage(body: string): void {
  assertText('message', body, MESSAGE_BYTES_MAX);
}

/** Refuses a record body that is ill-formed Unicode or above `LOG_BODY_BYTES_MAX`. */
export function assertLogBody(body: string): void {
  assertText('record', body, LOG_BODY_BYTES_MAX);
}

/** Refuses what cannot be an index of a record: `smallest` is 0 for a tail, 1 for a record. */
export function assertIndex(index: number, smallest: 0 | 1): void {
  if (Number.isSafeInteger(index) && index >= smallest) return;
  throw new OplusError('USAGE', `not an index of a log: ${String(index)}`, { hint: `use an integer from ${smallest} on` });
}

/** Refuses bytes above `BLOB_BYTES_MAX`. */
export function assertBlob(bytes: Uint8Array): void {
  if (bytes.byteLength <= BLOB_BYTES_MAX) return;
  throw new OplusError('USAGE', `a blob of ${bytes.byteLength} bytes is above the limit of ${BLOB_BYTES_MAX}`, {
    hint: 'cut it into several blobs',
  });
}

/** Refuses what is not a SHA-256 in lower-case hex. */
export function assertDigest(digest: string): void {
  if (typeof digest === 'string' && DIGEST_PATTERN.test(digest)) return;
  throw new OplusError('USAGE', `not a digest: ${excerptOf(digest)}`, {
    hint: 'use the 64 lower-case hex digits that put returned',
  });
}

/** Refuses a delay that is negative or not finite. */
export function assertDelay(delayMs: number): void {
  if (Number.isFinite(delayMs) && delayMs >= 0) return;
  throw new OplusError('USAGE', `not a delay in milliseconds: ${String(delayMs)}`, { hint: 'use a finite number from 0 on' });
}

const DIGEST_PATTERN = /^[0-9a-f]{64}$/;
const UTF8_BYTES_PER_UNIT_MAX = 3;

function assertText(what: string, body: string, bytesMax: number): void {
  if (!(body as unknown as { isWellFormed(): boolean }).isWellFormed()) {
    throw new OplusError('USAGE', `a ${what} holds half of a surrogate pair, which UTF-8 cannot carry`);
  }
  if (body.length * UTF8_BYTES_PER_UNIT_MAX <= bytesMax) return;
  const bytes = Buffer.byteLength(body, 'utf8');
  if (bytes > bytesMax) throw new OplusError('USAGE', `a ${what} of ${bytes} bytes is above the limit of ${bytesMax}`);
}

function excerptOf(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 80));
}
