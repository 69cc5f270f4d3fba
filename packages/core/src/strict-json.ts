/**
 * The strict reader of JSON that comes from outside.
 *
 * Refuses, never repairs: duplicate keys, reserved or empty keys, a second spelling of a number (`1.0`, `-0`, `1e2`,
 * integers that a double cannot hold), nesting above the limit, trailing text, byte order marks, and strings that are not
 * well-formed, not in Unicode normal form C, that pile more than 30 combining marks on one letter, or that carry control,
 * bidirectional, zero-width or tag characters.
 * A canonical text (json.ts) takes a fast way through the platform's parser; a property test holds both ways equal. The
 * keys of every object that it gives back stand in canonical order, however they were sent. SPEC: JSN8-JSN11.
 *
 * Source: RFC 8259, RFC 8785; UAX #15; the classes of hidden characters of CVE-2021-42574.
 */
import type { Json, JsonObject } from './json.ts';
import { canonical, JSON_DEPTH_MAX } from './json.ts';

/** What is wrong with a text. `at` is the offset in UTF-16 units, or -1 when the fault has no one place. */
export type JsonFault = {
  readonly code: 'not_json' | 'not_utf8' | 'depth' | 'duplicate_key' | 'key' | 'number' | 'string' | 'secret';
  readonly at: number;
  readonly message: string;
};

export type StrictJson =
  | { readonly ok: true; readonly value: Json; readonly canonical: string }
  | { readonly ok: false; readonly fault: JsonFault };

/** Longest key, in UTF-16 units. */
export const KEY_CHARS_MAX = 128;

/** Reads a text. Never throws. O(length). */
export function readStrictJson(text: string): StrictJson {
  const plain = readPlainJson(text, 0);
  if (plain !== undefined) return { ok: true, value: plain, canonical: text };
  const reader: Reader = { text, at: 0 };
  try {
    skipSpace(reader);
    const value = readValue(reader, 0);
    skipSpace(reader);
    if (reader.at < text.length) throw new Fault('not_json', reader.at, 'text after the end of the document');
    const canonicalText = canonical(value);
    return { ok: true, value: JSON.parse(canonicalText) as Json, canonical: canonicalText };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, fault: { code: error.code, at: error.at, message: error.message } };
    throw error;
  }
}

/**
 * The value of a canonical text in which nothing needs a closer look, `undefined` for any other text: the reader says what is
 * wrong with it, if anything is. `depth` is that of what it stands in.
 */
export function readPlainJson(text: string, depth: number): Json | undefined {
  if (NEEDS_A_LOOK.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isPlainValue(value, depth) && JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Why a string may not enter the state, or `undefined` when it may. */
export function stringFault(value: string): JsonFault | undefined {
  if (!SUSPECT.test(value)) return undefined;
  if (value.includes('\uFFFD')) return fault('not_utf8', 'a replacement character: the bytes were not UTF-8');
  if (LONE_SURROGATE.test(value)) return fault('string', 'a lone surrogate');
  const hidden = HIDDEN.exec(value);
  if (hidden !== null) {
    return fault(
      'string',
      `the hidden or control character U+${(hidden[0].codePointAt(0) ?? 0).toString(16).padStart(4, '0').toUpperCase()}`,
    );
  }
  // Before normalising, which takes quadratic time on a long run of marks.
  if (MARKS_RUN.test(value)) return fault('string', 'more than 30 combining marks in a row');
  if (value.normalize('NFC') !== value) return fault('string', 'not in Unicode normal form C');
  return markupFault(value);
}

/** The part of it that two sound texts may make where they meet: a reserved token of chat templates, or a private key. */
export function markupFault(value: string): JsonFault | undefined {
  if (CHAT_MARKUP.test(value)) return fault('string', 'a reserved token of chat templates');
  if (PRIVATE_KEY.test(value)) return fault('secret', 'a private key');
  return undefined;
}

/** Keys that could reach a prototype, in any object of any depth. */
export function isReservedKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype';
}

const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\uFFFE\uFFFF\u115F\u1160\u3164\uFFA0]|\u034F|\u17B4|\u17B5|[\u{E0000}-\u{E0FFF}]/u;
const LONE_SURROGATE = /\p{Surrogate}/u;
/** UAX #15, Stream-Safe Text Format. */
const MARKS_RUN = /\p{M}{31}/u;
const CHAT_MARKUP = /<\|[a-z_]{2,24}\|>/;
/** The longest name of a kind of key has 10 letters. What is bounded here can be looked for where two texts meet. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----/;
const SUSPECT = /[^\t\n\x20-\x7e]|<\||-----BEGIN/;
/** Printable ASCII without escapes of control characters, reserved keys or empty keys: nothing left to look at. */
const NEEDS_A_LOOK = /[^\x20-\x7e]|\\[ubfr]|<\||-----BEGIN|"(?:__proto__|constructor|prototype)?":/;

class Fault extends Error {
  readonly code: JsonFault['code'];
  readonly at: number;

  constructor(code: JsonFault['code'], at: number, message: string) {
    super(message);
    this.code = code;
    this.at = at;
  }
}

type Reader = { readonly text: string; at: number };

function fault(code: JsonFault['code'], message: string): JsonFault {
  return { code, at: -1, message };
}

/**
 * What the spelling alone does not show: depth, long keys, integers that a double cannot hold, and the order of keys. The
 * platform puts keys that are whole numbers first, so some canonical texts are none here.
 */
function isPlainValue(value: Json, depth: number): boolean {
  if (typeof value === 'number') return !isUnsafe(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= JSON_DEPTH_MAX) return false;
  if (Array.isArray(value)) return (value as readonly Json[]).every((item) => isPlainValue(item, depth + 1));
  let before = '';
  for (const key of Object.keys(value)) {
    if (key < before || key.length > KEY_CHARS_MAX || !isPlainValue((value as JsonObject)[key] as Json, depth + 1)) return false;
    before = key;
  }
  return true;
}

function isUnsafe(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

function skipSpace(reader: Reader): void {
  while (reader.at < reader.text.length && ' \t\n\r'.includes(reader.text.charAt(reader.at))) reader.at += 1;
}

function readValue(reader: Reader, depth: number): Json {
  const { text, at } = reader;
  const first = text.charAt(at);
  if (first === '{' || first === '[') {
    if (depth >= JSON_DEPTH_MAX) throw new Fault('depth', at, `nesting above ${JSON_DEPTH_MAX}`);
    return first === '{' ? readObject(reader, depth) : readArray(reader, depth);
  }
  if (first === '"') return readString(reader);
  if (text.startsWith('true', at)) return advance(reader, 4, true);
  if (text.startsWith('false', at)) return advance(reader, 5, false);
  if (text.startsWith('null', at)) return advance(reader, 4, null);
  return readNumber(reader);
}

function advance<T>(reader: Reader, by: number, value: T): T {
  reader.at += by;
  return value;
}

function readObject(reader: Reader, depth: number): JsonObject {
  const object: { [key: string]: Json } = {};
  reader.at += 1;
  skipSpace(reader);
  if (reader.text.charAt(reader.at) === '}') return advance(reader, 1, object);
  for (;;) {
    const start = reader.at;
    if (reader.text.charAt(start) !== '"') throw new Fault('not_json', start, 'a key was expected');
    const key = readString(reader);
    if (key === '' || isReservedKey(key)) throw new Fault('key', start, key === '' ? 'an empty key' : 'a reserved key');
    if (key.length > KEY_CHARS_MAX) throw new Fault('key', start, `a key above ${KEY_CHARS_MAX} characters`);
    if (Object.hasOwn(object, key)) throw new Fault('duplicate_key', start, 'the same key twice');
    skipSpace(reader);
    if (reader.text.charAt(reader.at) !== ':') throw new Fault('not_json', reader.at, 'a colon was expected');
    reader.at += 1;
    skipSpace(reader);
    object[key] = readValue(reader, depth + 1);
    skipSpace(reader);
    const next = reader.text.charAt(reader.at);
    if (next === '}') return advance(reader, 1, object);
    if (next !== ',') throw new Fault('not_json', reader.at, 'a comma or a closing brace was expected');
    reader.at += 1;
    skipSpace(reader);
  }
}

function readArray(reader: Reader, depth: number): readonly Json[] {
  const array: Json[] = [];
  reader.at += 1;
  skipSpace(reader);
  if (reader.text.charAt(reader.at) === ']') return advance(reader, 1, array);
  for (;;) {
    array.push(readValue(reader, depth + 1));
    skipSpace(reader);
    const next = reader.text.charAt(reader.at);
    if (next === ']') return advance(reader, 1, array);
    if (next !== ',') throw new Fault('not_json', reader.at, 'a comma or a closing bracket was expected');
    reader.at += 1;
    skipSpace(reader);
  }
}

const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

function readString(reader: Reader): string {
  STRING.lastIndex = reader.at;
  const match = STRING.exec(reader.text);
  if (match === null) throw new Fault('not_json', reader.at, 'an unfinished or malformed string');
  const value = JSON.parse(match[0]) as string;
  const wrong = stringFault(value);
  if (wrong !== undefined) throw new Fault(wrong.code, reader.at, wrong.message);
  reader.at += match[0].length;
  return value;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

function readNumber(reader: Reader): number {
  NUMBER.lastIndex = reader.at;
  const match = NUMBER.exec(reader.text);
  if (match === null) throw new Fault('not_json', reader.at, 'a value was expected');
  const value = Number(match[0]);
  if (!Number.isFinite(value) || String(value) !== match[0]) {
    throw new Fault('number', reader.at, `a number is spelled as JSON.stringify prints it (here ${String(value)})`);
  }
  if (isUnsafe(value)) {
    throw new Fault('number', reader.at, 'an integer above 2^53 - 1');
  }
  reader.at += match[0].length;
  return value;
}
