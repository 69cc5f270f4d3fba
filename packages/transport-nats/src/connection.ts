/**
 * A connection to a NATS broker with settings for a long life, and the two questions every adapter here asks of it: is the link up, and
 * did it hold while I waited.
 *
 * The client library buffers what is published while the link is down and then drops it, and leaves a request that was in flight to its
 * time-out. So nothing is sent while the link is down, and an awaited answer fails as soon as the link breaks.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { OplusError } from '@oplus/core';
import {
  PermissionViolationError,
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/nats-core';
import type { Authenticator, NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import type { NodeConnectionOptions } from '@nats-io/transport-node';
import { readBrokerAddress } from './broker-address.ts';
import type { BrokerAddress, NatsAuth } from './broker-address.ts';
import { LinkLost, brokerError, isAuthRefusal, isPassing } from './broker-error.ts';

export type ConnectOptions = {
  /** `nats://host:port`, several joined by commas; credentials may be inside. */
  readonly url: string;
  /** Shown in the broker's own lists of connections. */
  readonly name: string;
  /** Goes before what the address holds. */
  readonly auth?: NatsAuth;
  /** File of the authority that signed the broker's certificate; asks for TLS. */
  readonly tlsAuthorityFile?: string;
  /** First token of the subjects on which answers arrive; one per agent, so that no agent can listen to another's (permissions.ts). */
  readonly inboxPrefix?: string;
  /** Longest wait for one attempt to connect, in milliseconds (default 3,000). */
  readonly connectMsMax?: number;
  /** Keep trying to reach the broker this long, in milliseconds (default 0: one attempt). Refused credentials end it at once. */
  readonly patienceMs?: number;
  /** A ping at this pace, in milliseconds (default 3,000); two unanswered ones end a dead link. */
  readonly pingMs?: number;
};

/** One connection, shared by the adapters opened on it; closing them does not close it. */
export type BrokerConnection = {
  /** The library's connection, for the adapters of this package. */
  readonly client: NatsConnection;
  /** Host and port, without credentials. */
  readonly address: string;
  /** Version of the broker last connected to. */
  version(): string;
  /** False from the moment a break is noticed until the client has connected again. */
  isUp(): boolean;
  /** How often the broker refused a publish or a subscription of this connection for want of permission. */
  refusals(): number;
  /** The answer, or a rejection with `LinkLost` as soon as the link breaks, when nobody knows what became of the request. */
  whileUp<T>(answer: Promise<T>): Promise<T>;
  /**
   * Sends a request that may safely be sent twice, again and again across broken links and elections, for at most `msMax` milliseconds
   * (default 5,000). Rejects with an `OplusError`: `BROKER_UNREACHABLE`, `BROKER_REFUSED`, `TRANSPORT_TIMEOUT`, `TRANSPORT_CLOSED`, `LOG_FULL`.
   */
  ask<T>(what: string, send: () => Promise<T>, msMax?: number): Promise<T>;
  /** Sends out what is buffered and closes. Idempotent. */
  close(): Promise<void>;
};

/** Longest wait for one answer of the broker, in milliseconds. */
export const ANSWER_MS_MAX = 2_000;

/**
 * Connects. Throws `BROKER_UNREACHABLE` when nothing that speaks NATS answers there, `BROKER_REFUSED` for refused credentials,
 * `USAGE` for an address that is none.
 */
export async function connectNats(options: ConnectOptions): Promise<BrokerConnection> {
  const address = readBrokerAddress(options.url);
  const settings = await settingsOf(options, address);
  const deadlineMs = performance.now() + (options.patienceMs ?? 0);
  for (;;) {
    try {
      return watched(await connect({ ...settings }), address.shown);
    } catch (error) {
      if (isAuthRefusal(error)) throw brokerError(error, `the broker at ${address.shown} refused us`);
      if (performance.now() >= deadlineMs) throw unreachable(address, error);
      await delay(RECONNECT_MS + Math.random() * RECONNECT_JITTER_MS);
    }
  }
}

const CONNECT_MS_MAX = 3_000;
const PING_MS = 3_000;
const PINGS_UNANSWERED_MAX = 2;
const RECONNECT_MS = 200;
const RECONNECT_JITTER_MS = 200;
const ASK_MS_MAX = 5_000;
const ASK_PAUSE_MS = 50;
const FLUSH_MS_MAX = 1_000;

/** Whatever went wrong: a refused socket, silence, bytes that are not NATS, a certificate of somebody else. */
function unreachable(address: BrokerAddress, error: unknown): OplusError {
  const { message } = brokerError(error, `no broker answers at ${address.shown}`);
  return new OplusError('BROKER_UNREACHABLE', message, {
    cause: error,
    hint: 'start a nats-server there, or check the address and the network',
  });
}

async function settingsOf(options: ConnectOptions, address: BrokerAddress): Promise<NodeConnectionOptions> {
  const auth = options.auth ?? address.auth;
  const tls = options.tlsAuthorityFile === undefined ? (address.isTls ? {} : undefined) : { caFile: options.tlsAuthorityFile };
  return {
    servers: [...address.servers],
    name: options.name,
    timeout: options.connectMsMax ?? CONNECT_MS_MAX,
    // The library gives up for good after ten attempts, and notices a dead link after four minutes.
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    pingInterval: options.pingMs ?? PING_MS,
    maxPingOut: PINGS_UNANSWERED_MAX,
    // A stack trace per request costs more than the request.
    noAsyncTraces: true,
    ...(auth === undefined ? {} : { authenticator: await authenticatorOf(auth) }),
    ...(tls === undefined ? {} : { tls }),
    ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
  };
}

async function authenticatorOf(auth: NatsAuth): Promise<Authenticator> {
  switch (auth.kind) {
    case 'token':
      return tokenAuthenticator(auth.token);
    case 'password':
      return usernamePasswordAuthenticator(auth.user, auth.password);
    case 'nkey':
      return tried(nkeyAuthenticator(new TextEncoder().encode(auth.seed)), 'the nkey seed cannot be used');
    case 'credentials':
      try {
        return tried(credsAuthenticator(await readFile(auth.file)), 'the credentials file cannot be used');
      } catch (error) {
        throw new OplusError('USAGE', 'the credentials file cannot be used', { cause: error, path: auth.file });
      }
  }
}

/** The library looks into keys only while connecting, where an unusable one looks like a broker that is not there. */
function tried(authenticator: Authenticator, what: string): Authenticator {
  try {
    authenticator('trial');
    return authenticator;
  } catch (error) {
    throw new OplusError('USAGE', what, { cause: error });
  }
}

function watched(client: NatsConnection, address: string): BrokerConnection {
  let isUp = true;
  let refusalCount = 0;
  let version = client.info?.version ?? '';
  let closing: Promise<void> | undefined;
  /** Called when the link breaks, and when it is back or will never be: two sets of one-time listeners. */
  const onBreak = new Set<() => void>();
  const onSettle = new Set<() => void>();

  void (async () => {
    for await (const status of client.status()) {
      if (status.type === 'disconnect') {
        isUp = false;
        callAll(onBreak);
      } else if (status.type === 'reconnect') {
        isUp = true;
        version = client.info?.version ?? version;
        callAll(onSettle);
      } else if (status.type === 'error' && status.error instanceof PermissionViolationError) {
        refusalCount += 1;
      }
    }
  })();
  void client.closed().then(() => {
    isUp = false;
    callAll(onBreak);
    callAll(onSettle);
  });

  const untilUp = async (deadlineMs: number): Promise<void> => {
    if (!isUp && !client.isClosed()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, Math.max(0, deadlineMs - performance.now()));
        onSettle.add(done);
        function done(): void {
          clearTimeout(timer);
          onSettle.delete(done);
          resolve();
        }
      });
    }
    if (client.isClosed()) throw new OplusError('TRANSPORT_CLOSED', `the connection to the broker at ${address} is closed`);
    if (!isUp) {
      throw new OplusError('BROKER_UNREACHABLE', `the broker at ${address} is gone`, {
        hint: 'the client keeps trying; start the broker again',
      });
    }
  };

  const whileUp = <T>(answer: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const lose = (): void => reject(new LinkLost(`the link to ${address} broke`));
      onBreak.add(lose);
      answer.then(
        (value) => {
          onBreak.delete(lose);
          resolve(value);
        },
        (error: unknown) => {
          onBreak.delete(lose);
          reject(error as Error);
        },
      );
    });

  const ask = async <T>(what: string, send: () => Promise<T>, msMax: number = ASK_MS_MAX): Promise<T> => {
    const deadlineMs = performance.now() + msMax;
    for (;;) {
      if (!isUp) await untilUp(deadlineMs);
      try {
        return await whileUp(send());
      } catch (error) {
        if (!isPassing(error) || performance.now() >= deadlineMs) throw brokerError(error, what);
      }
      await delay(ASK_PAUSE_MS);
    }
  };

  const close = async (): Promise<void> => {
    if (isUp) await Promise.race([client.flush().catch(() => undefined), delay(FLUSH_MS_MAX, undefined, { ref: false })]);
    await client.close();
  };

  return {
    client,
    address,
    version: () => version,
    isUp: () => isUp && !client.isClosed(),
    refusals: () => refusalCount,
    whileUp,
    ask,
    close: () => (closing ??= close()),
  };
}

function callAll(listeners: Set<() => void>): void {
  const called = [...listeners];
  listeners.clear();
  for (const listener of called) listener();
}
