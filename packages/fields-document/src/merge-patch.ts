/**
 * Merge patches: what one says, what of it changes a sight, and what it writes.
 *
 * On its own view a patch does what RFC 7396 says: objects merge, every other value is put in place whole, null erases. What
 * it erases are the places that its proposer saw. SPEC: DOC1, DOC4, DOC12, DOC15, DOC16.
 */
import { canonical, isJsonObject, isReservedKey, KEY_CHARS_MAX, pointer, sameJson } from '@oplus/core';
import type { Complain, IssueCode, Json, JsonObject } from '@oplus/core';
import { OBJECT_TEXT, standing } from './registers.ts';
import type { Sight } from './registers.ts';

/** By place, the canonical text that is written there, or `undefined` where what stands is erased. */
export type Writes = ReadonlyMap<string, string | undefined>;

/** Deepest nesting of objects and arrays in a document; `{}` has depth 1. */
export const DEPTH_MAX = 16;

/** Complains about the first key that the gate would not let in, or about nesting; false when there is one. */
export function isSound(value: Json, path: string, complain: Complain): boolean {
  return isSoundAt(value, 1, path, complain);
}

/** How many nulls stand for something to erase. */
export function erasuresOf(patch: JsonObject): number {
  let count = 0;
  for (const value of Object.values(patch)) count += value === null ? 1 : isJsonObject(value) ? erasuresOf(value) : 0;
  return count;
}

/** The patch without what repeats the sight; what settles a contest is no repetition. `undefined` when nothing is left. */
export function difference(patch: JsonObject, sight: Sight, above: string = ''): JsonObject | undefined {
  const kept: [string, Json][] = [];
  for (const key of Object.keys(patch)) {
    const rest = differenceAt(patch[key] as Json, sight, above + pointer(key));
    if (rest !== undefined) kept.push([key, rest]);
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** What a patch without repetitions writes. Every object that it goes through is written anew. */
export function writesOf(patch: JsonObject, sight: Sight): Writes {
  const writes = new Map<string, string | undefined>();
  write(writes, patch, sight, '');
  return writes;
}

/** The patch that turns one object into another; `undefined` when they are equal. Nulls inside objects count as absent. */
export function patchBetween(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: [string, Json][] = Object.keys(before)
    .filter((key) => !Object.hasOwn(after, key) || after[key] === null)
    .map((key) => [key, null]);
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (value === null || sameJson(old, value)) continue;
    const isMerged = isJsonObject(old) && isJsonObject(value);
    const part = isMerged ? patchBetween(old, value) : value;
    if (part !== undefined) patch.push([key, part]);
  }
  return patch.length === 0 ? undefined : Object.fromEntries(patch);
}

function isSoundAt(value: Json, depth: number, path: string, complain: Complain): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > DEPTH_MAX) {
    refuse('depth', path, complain, `At most ${DEPTH_MAX} objects and arrays inside one another.`);
    return false;
  }
  if (!isJsonObject(value)) return value.every((item) => isSoundAt(item, depth + 1, path, complain));
  return Object.keys(value).every((key) => {
    if (key === '' || key.length > KEY_CHARS_MAX || isReservedKey(key)) {
      refuse(
        'key',
        path,
        complain,
        `A key has 1 to ${KEY_CHARS_MAX} characters and is none of __proto__, constructor, prototype.`,
      );
      return false;
    }
    return isSoundAt(value[key] as Json, depth + 1, path + pointer(key), complain);
  });
}

function refuse(code: IssueCode, path: string, complain: Complain, hint: string): void {
  complain(path, { code, rule: 'document', recovery: 'change', hint });
}

function differenceAt(value: Json, sight: Sight, place: string): Json | undefined {
  const [shown, ...rivals] = standing(sight.at(place));
  if (value === null) return shown === undefined ? undefined : null;
  if (isJsonObject(value) && shown?.text === OBJECT_TEXT) {
    return difference(value, sight, place) ?? (rivals.length === 0 ? undefined : {});
  }
  const isRepeated = rivals.length === 0 && shown !== undefined && !isJsonObject(value) && shown.text === canonical(value);
  return isRepeated ? undefined : value;
}

function write(writes: Map<string, string | undefined>, patch: JsonObject, sight: Sight, above: string): void {
  for (const [key, value] of Object.entries(patch)) {
    const place = above + pointer(key);
    const isObject = isJsonObject(value);
    const [shown] = standing(sight.at(place));
    // What does not stay an object is erased with all below it, values that contend with it included.
    if (shown !== undefined && !(isObject && shown.text === OBJECT_TEXT)) {
      for (const erased of [place, ...sight.below(place)]) writes.set(erased, undefined);
    }
    if (value === null) continue;
    writes.set(place, isObject ? OBJECT_TEXT : canonical(value));
    if (isObject) write(writes, value, sight, place);
  }
}
