/**
 * What a broker's user may publish and subscribe to, so that identity is what the broker enforces and not what a body says.
 *
 * Allow lists only: a queue subscription slips past deny lists on servers before the fixes of 2026. No `$JS.API.CONSUMER`: a push consumer makes the
 * server itself publish stored records to a subject of the caller's choice, past these lists. No `$JS.API.>`, which includes purge and delete.
 */
import { assertAddress } from '@oplus/protocol';
import { announceSubject, assertName, blobPrefix, blobStream, downSubject, logStream, logSubject, upPrefix } from './subjects.ts';

/** In the shape of a `permissions` block of the server's configuration. */
export type NatsPermissions = {
  readonly publish: { readonly allow: readonly string[] };
  readonly subscribe: { readonly allow: readonly string[] };
};

export type WorkerScope = {
  readonly namespace: string;
  readonly channel: string;
  readonly agent: string;
  /** Shard whose log this worker may read from the broker, and with it the blobs. Without it the worker may use no JetStream at all. */
  readonly readableShard?: string;
};

export type CoordinatorScope = { readonly namespace: string; readonly channel: string; readonly shard: string };

/** Prefix of the subjects on which this agent alone hears the broker's answers: give it to `connectNats` as `inboxPrefix`. Throws `USAGE`. */
export function workerInbox(agent: string): string {
  assertAddress('sender', agent);
  return `_INBOX_${agent}`;
}

/** A worker speaks under its own name, and hears its answers and the announcements. Throws `USAGE` for a name that is no token. */
export function workerPermissions(scope: WorkerScope): NatsPermissions {
  const { namespace, channel, agent, readableShard } = scope;
  assertName('namespace', namespace);
  assertAddress('channel', channel);
  assertAddress('sender', agent);
  if (readableShard !== undefined) assertName('shard', readableShard);
  const readable = readableShard === undefined ? [] : [logStream(namespace, readableShard), blobStream(namespace)];
  return {
    publish: { allow: [`${upPrefix(namespace, channel)}${agent}`, ...readable.flatMap(readSubjects)] },
    subscribe: {
      allow: [downSubject(namespace, channel, agent), announceSubject(namespace, channel), `${workerInbox(agent)}.>`],
    },
  };
}

/** A coordinator hears every sender, answers and announces, and appends to one shard's log and the blobs. It may not purge or delete. Throws `USAGE`. */
export function coordinatorPermissions(scope: CoordinatorScope): NatsPermissions {
  const { namespace, channel, shard } = scope;
  assertName('namespace', namespace);
  assertName('shard', shard);
  assertAddress('channel', channel);
  const streams = [logStream(namespace, shard), blobStream(namespace)];
  return {
    publish: {
      allow: [
        downSubject(namespace, channel, '*'),
        announceSubject(namespace, channel),
        logSubject(namespace, shard, '*'),
        `${blobPrefix(namespace)}>`,
        ...streams.flatMap(readSubjects),
        ...streams.map((stream) => `$JS.API.STREAM.CREATE.${stream}`),
      ],
    },
    subscribe: { allow: [`${upPrefix(namespace, channel)}*`, `${COORDINATOR_INBOX}.>`] },
  };
}

/** Inbox prefix of coordinators, for `connectNats`. In upper case, so that no agent's name can lead to it. */
export const COORDINATOR_INBOX = '_INBOX_COORDINATOR';

function readSubjects(stream: string): readonly string[] {
  return [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.MSG.GET.${stream}`];
}
