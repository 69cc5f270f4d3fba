/**
 * What random intents are made of: few keys and few values, so that agents collide; some of them wrong.
 */
import type { Json, JsonObject } from '../json.ts';
import type { Choice } from './choice.ts';
import type { ValueSpec } from './spec.ts';

/** Keys and ids that agents fight over. Two look like integers, one needs escapes, one is what `add` would issue. */
export const KEYS: readonly [string, ...string[]] = ['k', '10', '9', 'a/b~c'];
export const IDS: readonly [string, ...string[]] = ['r', '7', 'ada-2-0'];

/** A value of the type, now and then one that the type refuses. */
export function valueFrom(type: ValueSpec, choice: Choice): Json {
  switch (type) {
    case 'text':
      return choice.of(['a', 'b', 'c', 'long']);
    case 'digit':
      return choice.of([0, 1, 2, 10]);
    case 'pair':
      return { id: choice.upTo(3), note: choice.of(['a', 'b']) };
    case 'text or null':
      return choice.of(['a', null, 'b']);
  }
}

/** An intent for one or two of the keys. */
export function keyed(keys: readonly [string, ...string[]], intent: () => Json, choice: Choice): JsonObject {
  const first = choice.of(keys);
  const second = choice.upTo(4) === 3 ? choice.of(keys) : first;
  return { [first]: intent(), ...(second === first ? {} : { [second]: intent() }) };
}

/** Lists of values under one or both of two verbs, the first more often. */
export function listsFrom(verbs: readonly [string, string], value: () => Json, choice: Choice): JsonObject {
  switch (choice.upTo(6)) {
    case 0:
    case 1:
    case 2:
      return { [verbs[0]]: [value()] };
    case 3:
      return { [verbs[0]]: [value()], [verbs[1]]: [value()] };
    case 4:
      return { [verbs[0]]: [value(), value()] };
    default:
      return { [verbs[1]]: [value()] };
  }
}
