/**
 * What a reducer gave, read as a message is read: a plain value that the state may hold, or what is wrong with it.
 *
 * The value that is kept is read anew from its canonical text, so nothing that the reducer holds on to, and no class, date or
 * hidden text that it makes, can reach the state.
 */
import type { Json } from '../json.ts';
import { canonical, frozen } from '../json.ts';
import { readStrictJson } from '../strict-json.ts';
import type { TypeFault, ValueType } from '../value-type.ts';

/** `text` is the canonical text of the value. The value is frozen in depth. */
export type ReducedState =
  | { readonly ok: true; readonly value: Json; readonly text: string }
  | { readonly ok: false; readonly fault: TypeFault };

/** Calls a reducer on frozen values. Never throws; O(size of the new state) beside the call. */
export function reduceOnce<S, U>(reduce: (state: S, update: U) => S, type: ValueType, state: Json, update: Json): ReducedState {
  try {
    return readReduced(type, reduce(state as S, update as U));
  } catch {
    return { ok: false, fault: { code: 'schema', message: 'is not there: the reducer throws' } };
  }
}

/** What a reducer gave. Never throws. */
export function readReduced(type: ValueType, given: unknown): ReducedState {
  if (given instanceof Promise) {
    // What it comes to is nobody's to hear, least of all the process's.
    given.catch(() => undefined);
    return { ok: false, fault: { code: 'schema', message: 'is a promise; the function gives its value at once' } };
  }
  const text = textOf(given);
  if (text === undefined) return { ok: false, fault: { code: 'schema', message: 'is no JSON' } };
  const read = readStrictJson(text);
  if (!read.ok) return { ok: false, fault: { code: 'schema', message: `may not be in a state: ${read.fault.message}` } };
  const fault = type.fault(read.value);
  if (fault !== undefined) return { ok: false, fault };
  return { ok: true, value: frozen(read.value), text };
}

/** Canonical text; `undefined` for what has none. */
export function textOf(given: unknown): string | undefined {
  try {
    return canonical(given as Json);
  } catch {
    return undefined;
  }
}
