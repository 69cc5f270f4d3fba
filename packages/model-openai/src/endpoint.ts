/**
 * Where a model is served, and with which key. The key leaves this package in one header only.
 */
import { OplusError } from '@oplus/core';

/** `label` is the address as messages may show it: without user, password and query. */
export type Endpoint = { readonly baseURL: string; readonly label: string; readonly apiKey: string; readonly isDefault: boolean };

/** Environment variables, by name. */
export type Variables = { readonly [name: string]: string | undefined };

/** The address of the service that the variables of this package are named after. */
export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/**
 * Settles address and key: what is given, then `OPENAI_BASE_URL` and `OPENAI_API_KEY`, then the default address. A server of one's
 * own needs no key. Throws `USAGE` for an address that is none, for a key that no header can carry, and when the default
 * address has no key.
 */
export function endpointOf(
  given: { readonly baseURL?: string | undefined; readonly apiKey?: string | undefined },
  environment: Variables,
): Endpoint {
  const baseURL = filled(given.baseURL) ?? filled(environment['OPENAI_BASE_URL']) ?? DEFAULT_BASE_URL;
  const apiKey = filled(given.apiKey) ?? filled(environment['OPENAI_API_KEY']);
  const url = readAddress(baseURL);
  const isDefault = url.host === new URL(DEFAULT_BASE_URL).host;
  const label = `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  if (apiKey === undefined && isDefault) {
    throw new OplusError('USAGE', `no API key for ${label}`, {
      hint: 'Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.',
    });
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new OplusError('USAGE', 'the API key holds characters that no header can carry', {
      hint: 'Check OPENAI_API_KEY for blanks, line ends and quotes.',
    });
  }
  return { baseURL: baseURL.replace(/\/$/, ''), label, apiKey: apiKey ?? NO_KEY, isDefault };
}

/** What servers that ask for no key get: the SDK wants one. */
const NO_KEY = 'none';

function filled(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === undefined || trimmed === '' ? undefined : trimmed;
}

function readAddress(text: string): URL {
  const hint = 'An address looks like http://127.0.0.1:11434/v1.';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new OplusError('USAGE', 'the base URL of the model is no address', { path: 'OPENAI_BASE_URL', hint });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OplusError('USAGE', `the base URL of the model begins with ${url.protocol}`, { path: 'OPENAI_BASE_URL', hint });
  if (url.username !== '' || url.password !== '') {
    throw new OplusError('USAGE', `the base URL of the model at ${url.host} holds a user or a password`, {
      path: 'OPENAI_BASE_URL',
      hint: 'Put the key into OPENAI_API_KEY.',
    });
  }
  return url;
}
