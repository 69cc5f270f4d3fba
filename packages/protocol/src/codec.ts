/**
 * Messages to text and back. What we send is canonical JSON; what we receive passes the strict reader.
 */
import { admit, canonical, isJsonObject, OplusError, readMessage, readStrictJson } from '@oplus/core';
import type { Admitted, Gated, Json } from '@oplus/core';
import type { z } from 'zod';
import type { Downward, Hello, Leave, Pass, VerdictMessage } from './message.ts';
import { downwardShape, helloShape, leaveShape, passShape } from './message.ts';
import { MESSAGE_BYTES_MAX } from './ports/bus.ts';
import { sha256 } from './sha256.ts';
import { PROTOCOL_VERSION } from './version.ts';

/** Largest upward message that is not a proposal, in UTF-8 bytes. */
export const CONTROL_BYTES_MAX = 2048;

/** Canonical text of a message. */
export function encodeMessage(message: Downward | Hello | Pass | Leave): string {
  return canonical(message as unknown as Json);
}

/** Tag of a message, by which a refusal names it: the first 16 hex digits of the SHA-256 of its text. O(length). */
export function tagOf(text: string): string {
  return sha256(text).slice(0, TAG_DIGITS);
}

/** A verdict message around a verdict that is canonical text already. */
export function encodeVerdict(given: { space: string; agent: string; n: number }, verdictText: string): string {
  return `{"agent":"${given.agent}","kind":"verdict","n":${given.n},"space":"${given.space}","v":${PROTOCOL_VERSION},"verdict":${verdictText}}`;
}

/**
 * The gate for every upward message. `from` is the name that the transport vouches for. Proposals are the frequent case and
 * are tried first; what is none of ours is answered as the proposal it fails to be.
 */
export function readUpward(text: string, from: string): Gated<Admitted | Hello | Pass | Leave> {
  const admitted = admit(text, from);
  if (admitted.ok) return admitted;
  const shape = controlShapeOf(text);
  if (shape === undefined) return admitted;
  const read = readMessage<Hello | Pass | Leave>(text, CONTROL_BYTES_MAX, shape as z.ZodType<Hello | Pass | Leave>);
  if (!read.ok) return read;
  const { message } = read.value;
  if (message.agent === from) return { ok: true, value: message };
  return {
    ok: false,
    issues: [
      {
        path: '/agent',
        code: 'identity',
        rule: 'gate',
        recovery: 'never',
        hint: `You are ${from}; a message speaks for its sender only.`,
      },
    ],
  };
}

/** Reads a downward message. Throws `MESSAGE_INVALID` for anything else: our own side is expected to speak correctly. */
export function readDownward(text: string): Downward {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid('not JSON', cause);
  }
  if (isPlainVerdict(value)) return value;
  if (isJsonObject(value) && value['v'] !== PROTOCOL_VERSION) {
    throw new OplusError(
      'PROTOCOL_VERSION',
      `the coordinator speaks version ${String(value['v'])}, we speak ${PROTOCOL_VERSION}`,
      {
        hint: 'Upgrade the older side.',
      },
    );
  }
  const parsed = downwardShape.safeParse(value);
  if (!parsed.success) throw invalid('of another shape', parsed.error);
  return value as Downward;
}

const TAG_DIGITS = 16;

function controlShapeOf(text: string): typeof helloShape | typeof passShape | typeof leaveShape | undefined {
  if (text.length > CONTROL_BYTES_MAX) return undefined;
  const read = readStrictJson(text);
  if (!read.ok || !isJsonObject(read.value)) return undefined;
  switch (read.value['kind']) {
    case 'hello':
      return helloShape;
    case 'pass':
      return passShape;
    case 'leave':
      return leaveShape;
    default:
      return undefined;
  }
}

/** The most frequent message, checked by hand as far as a worker looks at it. */
function isPlainVerdict(value: unknown): value is VerdictMessage {
  if (!isJsonObject(value) || value['kind'] !== 'verdict' || value['v'] !== PROTOCOL_VERSION || Object.keys(value).length !== 6)
    return false;
  const verdict = value['verdict'];
  return (
    isJsonObject(verdict) &&
    verdict['kind'] === 'committed' &&
    Object.keys(verdict).length === 2 &&
    isCount(verdict['revision']) &&
    isCount(value['n']) &&
    typeof value['agent'] === 'string' &&
    typeof value['space'] === 'string'
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function invalid(what: string, cause: unknown): OplusError {
  return new OplusError('MESSAGE_INVALID', `a message from the coordinator is ${what}`, {
    hint: `Is something else speaking on this channel? Messages are JSON of at most ${MESSAGE_BYTES_MAX} bytes.`,
    cause,
  });
}
