/**
 * Addresses of a broker as people write them: `nats://host:port`, several joined by commas, with or without credentials inside.
 */
import { OplusError } from '@oplus/core';

/** How a client proves who it is. `seed` is an nkey seed; `file` a credentials file with a JWT and its key. */
export type NatsAuth =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  | { readonly kind: 'nkey'; readonly seed: string }
  | { readonly kind: 'credentials'; readonly file: string };

/** What an address says. `shown` is safe to print: it holds no credentials. */
export type BrokerAddress = {
  readonly servers: readonly string[];
  readonly shown: string;
  readonly isTls: boolean;
  readonly auth: NatsAuth | undefined;
};

/** Reads an address. Throws `USAGE` for an empty one, an unknown scheme, or one that is no address; never echoes it, it may hold a secret. */
export function readBrokerAddress(url: string): BrokerAddress {
  const parts = url
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0) throw unusable('an empty broker address');
  const parsed = parts.map(parse);
  const servers = parsed.map((one) => `${one.hostname}:${one.port === '' ? NATS_PORT : one.port}`);
  return {
    servers,
    shown: servers.join(','),
    isTls: parsed.some((one) => one.protocol === 'tls:'),
    auth: parsed.map(authOf).find((auth) => auth !== undefined),
  };
}

const NATS_PORT = '4222';

function parse(part: string): URL {
  const text = part.includes('://') ? part : `nats://${part}`;
  if (!URL.canParse(text)) throw unusable('a broker address that cannot be read');
  const url = new URL(text);
  if (url.protocol !== 'nats:' && url.protocol !== 'tls:') throw unusable(`a broker address with the scheme ${url.protocol}//`);
  if (url.hostname === '' || (url.pathname !== '' && url.pathname !== '/') || url.search !== '') {
    throw unusable('a broker address that is more, or less, than host and port');
  }
  return url;
}

function authOf(url: URL): NatsAuth | undefined {
  if (url.username === '') return undefined;
  const user = decodeURIComponent(url.username);
  if (url.password === '') return { kind: 'token', token: user };
  return { kind: 'password', user, password: decodeURIComponent(url.password) };
}

function unusable(what: string): OplusError {
  return new OplusError('USAGE', what, { hint: 'write nats://host:port, or nats://user:password@host:port, or tls://host:port' });
}
