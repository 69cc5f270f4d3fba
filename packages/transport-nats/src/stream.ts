/**
 * One JetStream stream as an append-only store: created with exact settings, recognised again, and read through its leader.
 *
 * Old servers drop settings that they do not know and say nothing, so what the server echoes is compared with what was asked.
 * Everything is asked of the stream's leader (`STREAM.INFO`, `STREAM.MSG.GET`); a direct get may be answered by a follower that lags.
 */
import { randomBytes } from 'node:crypto';
import { OplusError } from '@oplus/core';
import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { ApiError, JetStreamClient, JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { API_CODE, apiCodeOf } from './broker-error.ts';
import { ANSWER_MS_MAX } from './connection.ts';
import type { BrokerConnection } from './connection.ts';

/** What a stream must be. `subjectOf(birth)` is its only subject. */
export type StreamShape = {
  readonly name: string;
  readonly subjectOf: (birth: string) => string;
  /** The one limit, in bytes. An existing stream keeps its own. */
  readonly bytesMax: number;
  readonly replicas: number;
  /** True if a newer message replaces the older one of its subject. */
  readonly isLastPerSubject: boolean;
};

/** An open stream. */
export type Stream = {
  readonly name: string;
  readonly subject: string;
  readonly connection: BrokerConnection;
  readonly js: JetStreamClient;
  /** Fresh state from the leader. Throws `LOG_DAMAGED` when this is no longer the stream that was opened. */
  info(): Promise<StreamInfo>;
  /** The payload at a sequence, or the newest on a subject; `undefined` when there is none. Answered by the leader. */
  message(query: { readonly seq: number } | { readonly last_by_subj: string }): Promise<StoredPayload | undefined>;
};

export type StoredPayload = { readonly subject: string; readonly seq: number; readonly bytes: Buffer };

/**
 * Opens a stream, creating it when `mayCreate`. Throws `BROKER_REFUSED` when the server has no JetStream, cannot carry our messages, or
 * keeps a stream of that name with other settings; `USAGE` when there is none and it may not be created.
 */
export async function openStream(connection: BrokerConnection, shape: StreamShape, mayCreate: boolean): Promise<Stream> {
  assertPayloadLimit(connection);
  const manager = await jetstreamManager(connection.client, { checkAPI: false, timeout: ANSWER_MS_MAX });
  // The server we are on may lack JetStream while another of its cluster has it; else nobody will answer, and waiting long is no use.
  const msMax = connection.client.info?.jetstream === true ? undefined : WITHOUT_JETSTREAM_MS_MAX;
  const first =
    (await infoOf(connection, manager, shape.name, msMax)) ?? (mayCreate ? await create(connection, manager, shape) : undefined);
  if (first === undefined) {
    throw new OplusError('USAGE', `there is no stream ${shape.name} on ${connection.address}`, {
      hint: 'the coordinator creates it; start one first, or check the namespace',
    });
  }
  assertShape(shape, first);
  const subject = first.config.subjects[0] as string;

  return {
    name: shape.name,
    subject,
    connection,
    js: jetstream(connection.client, { timeout: ANSWER_MS_MAX }),
    async info() {
      const now = await infoOf(connection, manager, shape.name);
      if (now === undefined || now.created !== first.created || now.config.subjects[0] !== subject) {
        throw damaged(shape.name, now === undefined ? 'the stream was deleted' : 'the stream was deleted and made anew');
      }
      return now;
    },
    message: (query) => message(connection, shape.name, query),
  };
}

/** An error for a stream that does not hold what was acknowledged. */
export function damaged(name: string, what: string, cause?: unknown): OplusError {
  return new OplusError('LOG_DAMAGED', `stream ${name}: ${what}`, {
    path: name,
    hint: 'stop writing and restore the stream from a copy, or begin a new namespace',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Our largest message with room for headers; the default of a server is 1 MiB. */
const PAYLOAD_BYTES_NEEDED = 900_000;
/** Short: ids are unique per attempt and never sent again, so a window saves nobody and its table costs the server memory. */
const DUPLICATE_WINDOW_MS = 2_000;
const BIRTH_BYTES = 8;
const WITHOUT_JETSTREAM_MS_MAX = 300;

function assertPayloadLimit(connection: BrokerConnection): void {
  const bytesMax = connection.client.info?.max_payload ?? 0;
  if (bytesMax >= PAYLOAD_BYTES_NEEDED) return;
  throw new OplusError('BROKER_REFUSED', `the broker at ${connection.address} takes messages of ${bytesMax} bytes at most`, {
    hint: `set its max_payload to ${PAYLOAD_BYTES_NEEDED} bytes or more`,
  });
}

async function infoOf(
  connection: BrokerConnection,
  manager: JetStreamManager,
  name: string,
  msMax?: number,
): Promise<StreamInfo | undefined> {
  const send = async (): Promise<StreamInfo | undefined> => {
    try {
      return await manager.streams.info(name);
    } catch (error) {
      if (apiCodeOf(error) === API_CODE.streamNotFound) return undefined;
      throw error;
    }
  };
  return connection.ask(`no state of stream ${name}`, send, msMax);
}

async function create(
  connection: BrokerConnection,
  manager: JetStreamManager,
  shape: StreamShape,
): Promise<StreamInfo | undefined> {
  const birth = randomBytes(BIRTH_BYTES).toString('hex');
  const config = {
    ...settingsOf(shape),
    name: shape.name,
    subjects: [shape.subjectOf(birth)],
    num_replicas: shape.replicas,
    max_bytes: shape.bytesMax,
  };
  return connection.ask(`stream ${shape.name} cannot be created`, async () => {
    try {
      return await manager.streams.add(config);
    } catch (error) {
      // Somebody else created it a moment ago, with another birth.
      if (apiCodeOf(error) === API_CODE.nameInUse) return manager.streams.info(shape.name);
      throw error;
    }
  });
}

/** What every stream of ours has. Compared with what the server says, for a new stream and for one that was there. */
function settingsOf(shape: StreamShape): Partial<StreamConfig> {
  return {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    deny_delete: true,
    allow_rollup_hdrs: false,
    max_msgs: -1,
    max_age: 0,
    max_msg_size: -1,
    max_msgs_per_subject: shape.isLastPerSubject ? 1 : -1,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  };
}

function assertShape(shape: StreamShape, info: StreamInfo): void {
  const have = info.config as Partial<Record<string, unknown>>;
  const wrong = Object.entries(settingsOf(shape))
    .filter(([key, value]) => have[key] !== value)
    .map(([key]) => key);
  if (info.config.subjects.length !== 1 || !subjectPattern(shape).test(info.config.subjects[0] as string)) wrong.push('subjects');
  for (const key of ['mirror', 'sources', 'subject_transform', 'allow_msg_ttl', 'sealed']) {
    if (have[key] !== undefined && have[key] !== false) wrong.push(key);
  }
  if (wrong.length === 0) return;
  throw new OplusError('BROKER_REFUSED', `stream ${shape.name} has other settings than a stream of ours: ${wrong.join(', ')}`, {
    path: shape.name,
    hint: 'it was made by something else, or the server ignores these settings; choose another namespace or a newer server',
  });
}

function subjectPattern(shape: StreamShape): RegExp {
  // Our names hold letters, digits, `-`, `_` and `.`, and only the last means something to a pattern.
  return new RegExp(`^${shape.subjectOf('BIRTH').replaceAll('.', '\\.').replace('BIRTH', '[0-9a-f]+')}$`);
}

async function message(
  connection: BrokerConnection,
  name: string,
  query: { readonly seq: number } | { readonly last_by_subj: string },
): Promise<StoredPayload | undefined> {
  const body = JSON.stringify(query);
  const answer = await connection.ask(`no message from stream ${name}`, async () => {
    const reply = await connection.client.request(`$JS.API.STREAM.MSG.GET.${name}`, body, { timeout: ANSWER_MS_MAX });
    const { message: found, error } = reply.json<MessageAnswer>();
    if (error !== undefined && error.err_code !== API_CODE.noMessage) throw new JetStreamApiError(error);
    return found;
  });
  if (answer === undefined) return undefined;
  return { subject: answer.subject, seq: answer.seq, bytes: Buffer.from(answer.data ?? '', 'base64') };
}

/** Answer of the JetStream API to a get; read here because the library decodes its base64 byte by byte in JavaScript. */
type MessageAnswer = {
  readonly message?: { readonly subject: string; readonly seq: number; readonly data?: string };
  readonly error?: ApiError;
};
