/**
 * Changes in the words of patch formats that know no verbs: this value, nothing, or changes below.
 *
 * RFC 7396, the keyed part of RFC 6902 and the paper's merge patch are read into changes; each field kind says what a change
 * means in its own verbs.
 */
import type { Complain } from './field-kind.ts';
import type { Json, JsonObject } from './json.ts';
import { isJsonObject } from './json.ts';
import { malformed } from './refusal.ts';

export type Change =
  | { readonly kind: 'set'; readonly value: Json }
  | { readonly kind: 'remove' }
  | { readonly kind: 'append'; readonly values: readonly Json[] }
  | { readonly kind: 'within'; readonly changes: ReadonlyMap<string, Change> };

/**
 * The value after the change; `undefined` when it is removed. Changes below something that is no object make one, and an append
 * to something that is no list makes one.
 */
export function changed(current: Json | undefined, change: Change): Json | undefined {
  if (change.kind === 'set') return change.value;
  if (change.kind === 'remove') return undefined;
  if (change.kind === 'append') return [...(Array.isArray(current) ? (current as readonly Json[]) : []), ...change.values];
  const before: JsonObject = isJsonObject(current ?? null) ? (current as JsonObject) : {};
  const after = new Map(Object.entries(before));
  for (const [key, below] of change.changes) {
    const value = changed(after.get(key), below);
    if (value === undefined) after.delete(key);
    else after.set(key, value);
  }
  return Object.fromEntries(after);
}

/** A change of a keyed collection, key by key: a whole value also removes the keys that it does not have. */
export function keyedChanges(
  change: Change,
  live: readonly (readonly [string, unknown])[],
  rule: string,
  path: string,
  complain: Complain,
): ReadonlyMap<string, Change> | undefined {
  if (change.kind === 'within') return change.changes;
  const absent = live.map(([key]): readonly [string, Change] => [key, { kind: 'remove' }]);
  if (change.kind === 'remove') return new Map(absent);
  if (change.kind === 'append' || !isJsonObject(change.value)) {
    const value = change.kind === 'append' ? change.values : change.value;
    complain(path, malformed(rule, 'This takes an object of keys.', value));
    return undefined;
  }
  const given = Object.entries(change.value).map(([key, value]): readonly [string, Change] => [key, { kind: 'set', value }]);
  return new Map([...absent, ...given]);
}
