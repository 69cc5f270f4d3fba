/**
 * What went wrong at a model's server, read off status and closed codes, never off message text; and errors without secrets.
 */
import { OplusError } from '@oplus/core';
import { APIConnectionError, APIError } from 'openai';
import type { Endpoint } from './endpoint.ts';

/**
 * - `later`: overloaded, unreachable or garbled; the same request may succeed. `retryAfterMs` is what the server asks to wait.
 * - `request`: the server does not take this request as it is. `parameter` names what it stumbles over, when it says so.
 * - `refused`: the server said no, and will again.
 */
export type Failure =
  | { readonly kind: 'later'; readonly why: string; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'request'; readonly why: string; readonly parameter: string | undefined }
  | { readonly kind: 'refused'; readonly why: string; readonly hint: string };

/** Reads an error of the SDK. `why` is one line without secrets. */
export function failureOf(error: unknown, endpoint: Endpoint): Failure {
  const said = withoutSecrets(lineOf(error).replace(/^\d{3} /, ''), endpoint);
  if (error instanceof APIError && typeof error.status === 'number') return answered(error as AnsweredError, said);
  if (error instanceof APIConnectionError)
    return { kind: 'later', why: `no connection (${withoutSecrets(rootOf(error), endpoint)})`, retryAfterMs: undefined };
  return { kind: 'later', why: `the answer could not be read (${said})`, retryAfterMs: undefined };
}

/** The error for a server that stays unreachable. */
export function unreachable(model: string, endpoint: Endpoint, why: string, error: unknown, waitMs?: number): OplusError {
  const hint =
    waitMs === undefined
      ? `Is the server at ${endpoint.label} running? Check OPENAI_BASE_URL.`
      : `The server asks to wait ${Math.ceil(waitMs / 1000)} s. Run again later, or with fewer agents.`;
  return new OplusError('MODEL_UNREACHABLE', `${model} at ${endpoint.label} does not answer: ${why}`, {
    hint,
    cause: safeCause(error, endpoint),
  });
}

/** The error for a server that said no. */
export function refused(model: string, endpoint: Endpoint, why: string, hint: string, error: unknown): OplusError {
  return new OplusError('MODEL_REFUSED', `${model} at ${endpoint.label} refused: ${why}`, {
    hint,
    cause: safeCause(error, endpoint),
  });
}

/** The text with the key, and what looks like one, taken out. At most `TEXT_CHARS_MAX` characters. */
export function withoutSecrets(text: string, endpoint: Endpoint): string {
  const bare = endpoint.apiKey.length < SECRET_CHARS_MIN ? text : text.replaceAll(endpoint.apiKey, HIDDEN);
  const clean = bare.replaceAll(/\b(?:sk|key)-[\w*-]{6,}/g, HIDDEN).replaceAll(/\b(Bearer|Basic) +[^\s"',]+/gi, `$1 ${HIDDEN}`);
  return clean.length <= TEXT_CHARS_MAX ? clean : `${clean.slice(0, TEXT_CHARS_MAX)}...`;
}

const HIDDEN = '[hidden]';
const SECRET_CHARS_MIN = 5;
const TEXT_CHARS_MAX = 300;

type AnsweredError = APIError<number, Headers, object>;

/** Codes that say no for good, whatever the status. */
const FINAL_CODES: { readonly [code: string]: string } = {
  insufficient_quota: 'The account has no credit left.',
  invalid_api_key: 'Check OPENAI_API_KEY.',
  model_not_found: 'Check the name of the model.',
  context_length_exceeded: 'The prompt is too long for this model; lower tokensMax of the skill.',
};

const HINTS: { readonly [status: number]: string } = {
  401: 'Check OPENAI_API_KEY.',
  403: 'This key may not use this model.',
  404: 'Check the name of the model, and that OPENAI_BASE_URL ends with the path of the API, often /v1.',
  413: 'The prompt is too long for this server; lower tokensMax of the skill.',
};

function answered(error: AnsweredError, said: string): Failure {
  const { status, code, param, headers } = error;
  const why = `status ${status}${typeof code === 'string' ? ` ${code}` : ''}: ${said}`;
  const final = typeof code === 'string' && Object.hasOwn(FINAL_CODES, code) ? FINAL_CODES[code] : undefined;
  if (final !== undefined) return { kind: 'refused', why, hint: final };
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500)
    return { kind: 'later', why, retryAfterMs: retryAfterMs(headers) };
  if (status === 400 || status === 422)
    return { kind: 'request', why, parameter: typeof param === 'string' && param !== '' ? param : undefined };
  return { kind: 'refused', why, hint: HINTS[status] ?? 'The message of the server says what it does not take.' };
}

/** What `retry-after-ms` or `retry-after` ask for; a date is read against the server's own `date`, so no clock is needed here. */
function retryAfterMs(headers: Headers | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (ms >= 0) return ms;
  const after = headers?.get('retry-after') ?? '';
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  const waitMs = Date.parse(after) - Date.parse(headers?.get('date') ?? '');
  return waitMs >= 0 ? waitMs : undefined;
}

function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The deepest cause: what a failed connection was about. */
function rootOf(error: Error): string {
  let root: Error = error;
  for (let depth = 0; depth < 5 && root.cause instanceof Error; depth += 1) root = root.cause;
  const code = (root as { readonly code?: unknown }).code;
  return typeof code === 'string' ? code : lineOf(root);
}

/** The SDK's error holds headers and bodies, which may echo the key: only its name and its cleaned message go on. */
function safeCause(error: unknown, endpoint: Endpoint): Error {
  const cause = new Error(withoutSecrets(lineOf(error), endpoint));
  if (error instanceof Error) cause.name = error.name;
  return cause;
}
