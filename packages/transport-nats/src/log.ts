/**
 * Port `Log` over one JetStream stream per shard. A record's index is its stream sequence.
 *
 * Fenced by the *stream-wide* expected last sequence: on clusters before 2.9.21 the per-subject one lets several writers win. One append is in
 * flight at a time, because a follower built on a missing record would be accepted. A time-out or a broken link is `unknown`: the request may still
 * be on its way, so it is never sent again; the caller reads the tail and compares.
 */
import { randomBytes } from 'node:crypto';
import { OplusError } from '@oplus/core';
import { assertIndex, assertLogBody } from '@oplus/protocol';
import type { AppendOutcome, Durability, Log, LogReader, StoredRecord } from '@oplus/protocol';
import { API_CODE, LinkLost, apiCodeOf, brokerError, isNoRoom, isPassing, isUnanswered } from './broker-error.ts';
import type { BrokerConnection } from './connection.ts';
import { damaged, openStream } from './stream.ts';
import type { Stream } from './stream.ts';
import { assertName, logStream, logSubject } from './subjects.ts';
import { SYNC_INTERVAL_SINCE, isAtLeast } from './version.ts';

export type NatsLogOptions = {
  readonly namespace: string;
  readonly shard: string;
  /** Limit of a new stream, in bytes (default 1 GiB). The server sets it aside from its own limit. */
  readonly bytesMax?: number;
  /** Copies of a new stream on a cluster (default 1). */
  readonly replicas?: number;
  /**
   * What the operator vouches for (default `process`). `power` only if the server runs with `sync_interval: always`, which a client cannot see;
   * `NatsServer.durability` of the supervisor has seen it. Refused for servers that cannot do it.
   */
  readonly durability?: Exclude<Durability, 'none'>;
  /** Longest wait for the acknowledgement of an append, in milliseconds (default 2,000). */
  readonly appendMsMax?: number;
};

/**
 * Opens a shard's log, creating its stream when there is none. Throws `BROKER_REFUSED` (no JetStream, other settings, a durability that the
 * server cannot give), `LOG_DAMAGED` when records are missing, and what `BrokerConnection.ask` throws. The connection stays open after `close`.
 */
export async function natsLog(connection: BrokerConnection, options: NatsLogOptions): Promise<Log> {
  const durability = options.durability ?? 'process';
  if (durability === 'power' && !isAtLeast(connection.version(), SYNC_INTERVAL_SINCE)) {
    throw new OplusError('BROKER_REFUSED', `nats-server ${connection.version()} cannot write every append through to the disk`, {
      hint: `use nats-server ${SYNC_INTERVAL_SINCE} or later with sync_interval: always, or accept durability process`,
    });
  }
  const stream = await openShard(connection, options, true);
  const reader = await readerOf(stream);
  const writer = randomBytes(WRITER_BYTES).toString('hex');
  const appendMsMax = options.appendMsMax ?? APPEND_MS_MAX;
  let attemptCount = 0;
  let inFlight: Promise<AppendOutcome> | undefined;

  const attempt = async (tail: number, body: string): Promise<AppendOutcome> => {
    if (!connection.isUp()) return { kind: 'unknown', why: 'the broker is gone' };
    attemptCount += 1;
    let error: unknown;
    try {
      const ack = await connection.whileUp(
        stream.js.publish(stream.subject, body, {
          msgID: `${writer}-${attemptCount}`,
          expect: { lastSequence: tail, streamName: stream.name },
          timeout: appendMsMax,
        }),
      );
      if (ack.duplicate) return { kind: 'unknown', why: 'the broker took this append for an earlier one' };
      if (ack.seq !== tail + 1) throw damaged(stream.name, `record ${tail + 1} was stored as ${ack.seq}`);
      reader.acknowledged(ack.seq);
      return { kind: 'appended', index: ack.seq };
    } catch (thrown) {
      error = thrown;
    }
    const code = apiCodeOf(error);
    if (code === API_CODE.wrongSequence || code === API_CODE.wrongSequenceUnknown)
      return { kind: 'conflict', tail: await reader.newest() };
    if (code === API_CODE.otherStream) throw damaged(stream.name, 'its subject belongs to another stream', error);
    if (isNoRoom(error)) throw brokerError(error, `record ${tail + 1} of ${stream.name} has no room`);
    if (isUnanswered(error)) {
      // No stream owns the subject: gone for good, which `newest` tells, or without a leader for a moment.
      await reader.newest();
      return { kind: 'unknown', why: 'no stream answered' };
    }
    if (isPassing(error))
      return { kind: 'unknown', why: error instanceof LinkLost ? 'the link broke' : 'no acknowledgement in time' };
    throw brokerError(error, `record ${tail + 1} of ${stream.name}`);
  };

  return {
    durability,
    tail: reader.tail,
    read: reader.read,
    async append(tail, body) {
      reader.assertOpen();
      assertIndex(tail, 0);
      assertLogBody(body);
      if (inFlight !== undefined) throw new OplusError('USAGE', 'an append is in flight already; await it first');
      inFlight = attempt(tail, body);
      try {
        return await inFlight;
      } finally {
        inFlight = undefined;
      }
    },
    async close() {
      await reader.close();
      await inFlight?.catch(() => undefined);
    },
  };
}

/** Opens a shard's log for reading only: needs no more than `STREAM.INFO` and `STREAM.MSG.GET` of that stream. Throws `USAGE` when there is none yet. */
export async function natsLogReader(
  connection: BrokerConnection,
  options: Pick<NatsLogOptions, 'namespace' | 'shard'>,
): Promise<LogReader> {
  const { tail, read, close } = await readerOf(await openShard(connection, options, false));
  return { tail, read, close };
}

type Reader = LogReader & {
  assertOpen(): void;
  /** `tail`, also while closing. */
  newest(): Promise<number>;
  /** Notes that this record is there for good: a tail below it is damage. */
  acknowledged(index: number): void;
};

const LOG_BYTES_MAX = 1_073_741_824;
const APPEND_MS_MAX = 2_000;
const WRITER_BYTES = 9;
/** Gets under way at once while reading: enough to hide the round trip, and bounded in bytes for a log of large records. */
const WINDOW_MAX = 64;
const WINDOW_MIN = 4;
const WINDOW_BYTES = 16_777_216;

async function openShard(connection: BrokerConnection, options: NatsLogOptions, mayCreate: boolean): Promise<Stream> {
  const { namespace, shard } = options;
  assertName('namespace', namespace);
  assertName('shard', shard);
  return openStream(
    connection,
    {
      name: logStream(namespace, shard),
      subjectOf: (birth) => logSubject(namespace, shard, birth),
      bytesMax: options.bytesMax ?? LOG_BYTES_MAX,
      replicas: options.replicas ?? 1,
      isLastPerSubject: false,
    },
    mayCreate,
  );
}

async function readerOf(stream: Stream): Promise<Reader> {
  let isOpen = true;
  let highest = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  const assertOpen = (): void => {
    if (!isOpen) throw new OplusError('TRANSPORT_CLOSED', `log ${stream.name} was closed`);
  };

  const newest = async (): Promise<number> => {
    const floor = highest;
    const { messages, first_seq, last_seq } = (await stream.info()).state;
    // Sequences start at 1 and nothing is ever deleted, so the count and the newest sequence are one number.
    if (messages !== last_seq)
      throw damaged(stream.name, `records are missing: it holds ${messages}, from ${first_seq} to ${last_seq}`);
    if (last_seq < floor)
      throw damaged(stream.name, `it went backwards: record ${floor} was acknowledged, the newest is ${last_seq}`);
    highest = Math.max(highest, last_seq);
    return last_seq;
  };

  const tail = async (): Promise<number> => {
    assertOpen();
    return newest();
  };

  const record = async (index: number): Promise<StoredRecord> => {
    const stored = await stream.message({ seq: index });
    if (stored === undefined) throw damaged(stream.name, `record ${index} is missing`);
    if (stored.seq !== index || stored.subject !== stream.subject) throw damaged(stream.name, `record ${index} is another one`);
    try {
      return { index, body: decoder.decode(stored.bytes) };
    } catch (error) {
      throw damaged(stream.name, `record ${index} is no UTF-8`, error);
    }
  };

  await newest();
  return {
    assertOpen,
    newest,
    acknowledged: (index) => {
      highest = Math.max(highest, index);
    },
    tail,
    async *read(from) {
      assertIndex(from, 1);
      const last = await tail();
      const ahead: Promise<StoredRecord>[] = [];
      let largestBytes = WINDOW_BYTES / WINDOW_MAX;
      for (let next = from; next <= last || ahead.length > 0;) {
        const window = Math.max(WINDOW_MIN, Math.min(WINDOW_MAX, Math.floor(WINDOW_BYTES / largestBytes)));
        // Refilled when half empty, in one go: requests made together leave in one write.
        const isLow = ahead.length <= window / 2;
        for (; isLow && next <= last && ahead.length < window; next += 1) {
          const coming = record(next);
          // It is awaited below, unless the loop is left before: then its failure is nobody's.
          coming.catch(() => undefined);
          ahead.push(coming);
        }
        const read = await (ahead.shift() as Promise<StoredRecord>);
        assertOpen();
        largestBytes = Math.max(largestBytes, read.body.length);
        yield read;
      }
    },
    async close() {
      isOpen = false;
    },
  };
}
