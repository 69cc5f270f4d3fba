/**
 * What is left of a value that was stored and read back: as JSON, or as LangGraph's checkpoints keep it.
 *
 * LangGraph writes JSON in which Map, Set, RegExp, Error, Uint8Array, `undefined` and its own messages keep their kind; a test
 * compares this with its serializer. Dates become texts and instances of other classes plain objects in both.
 */
import { LIVE_VALUES } from './live-value.ts';

/** A value after JSON. What JSON refuses is told as such. */
export function viaJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return UNSTORED;
  }
}

/** A value after a checkpoint of LangGraph. */
export function viaCheckpoint(value: unknown): unknown {
  try {
    return checkpointed(value, 0);
  } catch {
    return UNSTORED;
  }
}

const UNSTORED = Symbol('nothing, it cannot be stored');
const DEPTH_MAX = 64;

function checkpointed(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint' || depth > DEPTH_MAX) throw new TypeError('this has no JSON');
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return ['function', 'symbol'].includes(typeof value) ? undefined : value;
  const inner = (part: unknown): unknown => checkpointed(part, depth + 1);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [inner(key), inner(item)]));
  if (value instanceof Set) return new Set([...value].map(inner));
  if (value instanceof RegExp || value.constructor === Uint8Array || isMessage(value)) return LIVE_VALUES.copy(value, false);
  if (value instanceof Error) return new Error(value.message);
  if (Array.isArray(value)) return value.map(inner);
  if ('toJSON' in value && typeof value.toJSON === 'function') return inner((value.toJSON as () => unknown)());
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)]));
}

/** Messages and other things of LangChain, which it makes anew from what it wrote. */
function isMessage(value: object): boolean {
  return 'lc_serializable' in value && value.lc_serializable === true;
}
