/**
 * What a broker really is: version, JetStream, how it syncs, known gaps. For `doctor`, and for the supervisor to read its settings back.
 */
import { OplusError } from '@oplus/core';
import type { NatsAuth } from './broker-address.ts';
import { ANSWER_MS_MAX, connectNats } from './connection.ts';
import { SYNC_INTERVAL_SINCE, gapsOf, isAtLeast } from './version.ts';

export type DescribeOptions = {
  readonly url: string;
  readonly auth?: NatsAuth;
  /** Address of the server's HTTP monitor (`http://host:8222`), the only place where an ordinary user can read how it syncs. */
  readonly monitorUrl?: string;
};

/** `intervalMs`: how long an acknowledged append may sit in the page cache only; `undefined` when the server does not say. */
export type SyncSetting = { readonly isAlways: boolean; readonly intervalMs: number | undefined };

export type NatsServerDescription = {
  readonly address: string;
  readonly version: string;
  readonly isJetStreamOn: boolean;
  /** `undefined` when it cannot be read from here. */
  readonly sync: SyncSetting | undefined;
  readonly maxPayloadBytes: number;
  readonly isClustered: boolean;
  /** Known gaps of this version that concern us, gravest first. */
  readonly gaps: readonly string[];
};

/** Asks a running server. Throws what `connectNats` throws, and `BROKER_UNREACHABLE` when a monitor was named that does not answer. */
export async function describeNatsServer(options: DescribeOptions): Promise<NatsServerDescription> {
  const connection = await connectNats({
    url: options.url,
    name: 'oplus describe',
    ...(options.auth === undefined ? {} : { auth: options.auth }),
  });
  try {
    const version = connection.version();
    const info = connection.client.info;
    return {
      address: connection.address,
      version,
      isJetStreamOn: info?.jetstream === true,
      sync: isAtLeast(version, SYNC_INTERVAL_SINCE)
        ? options.monitorUrl === undefined
          ? undefined
          : await syncOf(options.monitorUrl)
        : { isAlways: false, intervalMs: SYNC_MS_BEFORE_2_10 },
      maxPayloadBytes: info?.max_payload ?? 0,
      isClustered: info?.cluster !== undefined,
      gaps: gapsOf(version),
    };
  } finally {
    await connection.close();
  }
}

/** Fixed in the server's source until 2.10. */
const SYNC_MS_BEFORE_2_10 = 120_000;
const NANOS_PER_MS = 1_000_000;

async function syncOf(monitorUrl: string): Promise<SyncSetting | undefined> {
  try {
    const answer = await fetch(new URL('/varz', monitorUrl), { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const varz = (await answer.json()) as { jetstream?: { config?: { sync_interval?: number; sync_always?: boolean } } };
    const config = varz.jetstream?.config;
    if (config === undefined) return undefined;
    const intervalMs = config.sync_interval === undefined ? undefined : config.sync_interval / NANOS_PER_MS;
    return { isAlways: config.sync_always === true, intervalMs };
  } catch (cause) {
    throw new OplusError('BROKER_UNREACHABLE', `no answer from the monitor at ${new URL(monitorUrl).host}`, {
      hint: 'leave the monitor out, or set `http` in the configuration of the server',
      cause,
    });
  }
}
