/**
 * Names on the broker: which subjects and streams a namespace uses.
 *
 * ```
 * <ns>.<channel>.up.<sender>     a worker speaks                        core NATS
 * <ns>.<channel>.down.<sender>   the coordinator answers that worker    core NATS
 * <ns>.<channel>.log             the coordinator announces              core NATS
 * <ns>.LOG.<shard>.<birth>       records of a shard's log               stream <ns>_LOG_<shard>
 * <ns>.BLOB.<digest>[.<part>]    blobs                                  stream <ns>_BLOB
 * ```
 *
 * Names are lower case (`ADDRESS_PATTERN`), so a token in upper case can never be a channel. `birth` is drawn when the stream is
 * created: a writer that knew an earlier stream of the same name publishes to a subject that nobody owns any more.
 */
import { OplusError } from '@oplus/core';
import { ADDRESS_PATTERN } from '@oplus/protocol';

/** Refuses a namespace or shard name that is no single, lower-case token. Throws `USAGE`. */
export function assertName(what: 'namespace' | 'shard', name: string): void {
  if (typeof name === 'string' && ADDRESS_PATTERN.test(name)) return;
  throw new OplusError('USAGE', `not a ${what} name: ${JSON.stringify(String(name).slice(0, 80))}`, {
    hint: 'use 1 to 64 characters of a-z, 0-9, - and _',
  });
}

/** Prefix of what senders publish; the sender's name follows, and `*` takes all. */
export function upPrefix(namespace: string, channel: string): string {
  return `${namespace}.${channel}.up.`;
}

/** Where one sender hears answers. */
export function downSubject(namespace: string, channel: string, sender: string): string {
  return `${namespace}.${channel}.down.${sender}`;
}

/** Where announcements are made. */
export function announceSubject(namespace: string, channel: string): string {
  return `${namespace}.${channel}.log`;
}

/** Stream of a shard's log. */
export function logStream(namespace: string, shard: string): string {
  return `${namespace}_LOG_${shard}`;
}

/** Subject of a shard's log stream of that birth, `*` for any. */
export function logSubject(namespace: string, shard: string, birth: string): string {
  return `${namespace}.LOG.${shard}.${birth}`;
}

/** Stream of a namespace's blobs. */
export function blobStream(namespace: string): string {
  return `${namespace}_BLOB`;
}

/** Prefix of the blobs' subjects. */
export function blobPrefix(namespace: string): string {
  return `${namespace}.BLOB.`;
}
