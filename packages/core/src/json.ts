/**
 * JSON values and their canonical text (RFC 8785, JSON Canonicalization Scheme).
 *
 * One value has one text: keys sorted by UTF-16 code unit, no white space, numbers as ECMAScript prints them, `-0` as `0`.
 * Digests, dedupe and the log are defined on this text, so equal values have equal bytes on every machine.
 */
import { OplusError } from './error.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** SHA-256 of the UTF-8 text in lower-case hex. Handed in by the shell: the core has no crypto of its own. */
export type Sha256 = (text: string) => string;

/** Deepest nesting that a message may have; `[1]` has depth 1. */
export const JSON_DEPTH_MAX = 24;

/** Deepest nesting that has a canonical text: messages stand inside entries, and entries inside records. */
const TEXT_DEPTH_MAX = 128;

/** Deepest nesting that a verdict shows as a value; what is deeper is shown as its text. */
const EXCERPT_DEPTH_MAX = 8;

/**
 * Canonical text of a value. Throws `INVARIANT` for what JSON cannot say (non-finite numbers, `undefined`, functions)
 * and for nesting above 128. O(size), plus sorting of keys.
 */
export function canonical(value: Json): string {
  return write(value, 0);
}

/** Length of the UTF-8 form in bytes, without encoding it; a lone surrogate counts as its replacement, 3 bytes. O(length). */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else {
      bytes += 2;
      if (isHighSurrogate(unit) && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i += 1;
    }
  }
  return bytes;
}

/** True when the UTF-8 form has at most `bytesMax` bytes. O(1) for what is far below, O(length) near the limit. */
export function fitsUtf8(text: string, bytesMax: number): boolean {
  return text.length * 3 <= bytesMax || (text.length <= bytesMax && utf8Bytes(text) <= bytesMax);
}

/** Order of UTF-16 code units: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True when both have the same canonical text. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return canonical(a) === canonical(b);
}

/** `/a/b` from its tokens: RFC 6901, with `~` and `/` escaped. */
export function pointer(...tokens: readonly string[]): string {
  return tokens.map((token) => `/${escapeToken(token)}`).join('');
}

/** One token of a JSON Pointer, escaped. */
export function escapeToken(token: string): string {
  return token.includes('~') || token.includes('/') ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

/** The tokens of a JSON Pointer, or `undefined` when it is not one. */
export function pointerTokens(path: string): readonly string[] | undefined {
  if (path === '') return [];
  if (!path.startsWith('/') || /~(?![01])/.test(path)) return undefined;
  return path
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * A value for a person or a verdict: at most about `charsMax` characters, saying when it is cut, and never nested deeply.
 * Throws `INVARIANT` for what is no JSON.
 */
export function excerpt(value: Json, charsMax: number): Json {
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'string') return clipped(value, charsMax);
  const text = canonical(value);
  if (text.length <= charsMax) return isDeeper(value, EXCERPT_DEPTH_MAX) ? text : value;
  return clipped(text, charsMax);
}

/** The text, or its beginning and its length when it has more than `charsMax` UTF-16 units. Never cuts a character in two. */
export function clipped(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = isHighSurrogate(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  return `${text.slice(0, end)}… (${text.length} characters)`;
}

/** True when a value nests deeper than `depth`; `[1]` has depth 1. Looks no deeper than that. */
export function isDeeper(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeper(part as Json, depth - 1));
}

/** The same value, frozen in depth: what a state holds is handed to rules and programs without a copy. O(size). */
export function frozen<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) frozen(part as Json);
  return Object.freeze(value);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function write(value: Json | undefined, depth: number): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      if (!Number.isFinite(value)) throw new OplusError('INVARIANT', 'a non-finite number has no JSON text');
      return value === 0 ? '0' : String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      break;
    default:
      throw new OplusError('INVARIANT', `a ${typeof value} has no JSON text`);
  }
  if (value === null) return 'null';
  if (depth >= TEXT_DEPTH_MAX) throw new OplusError('INVARIANT', `nesting above ${TEXT_DEPTH_MAX}`);
  if (isArray(value)) {
    let text = '[';
    for (let i = 0; i < value.length; i += 1) text += (i === 0 ? '' : ',') + write(value[i], depth + 1);
    return `${text}]`;
  }
  const keys = Object.keys(value);
  if (keys.length > 1) keys.sort();
  let text = '{';
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i] as string;
    text += `${(i === 0 ? '' : ',') + quote(key)}:${write(value[key], depth + 1)}`;
  }
  return `${text}}`;
}

/** A string in quotes. Short plain ASCII, the usual case, needs no escapes and no call into the platform. */
function quote(text: string): string {
  if (text.length > QUOTE_CHARS_MAX) return JSON.stringify(text);
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

const QUOTE_CHARS_MAX = 48;

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
