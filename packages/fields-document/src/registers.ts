/**
 * What stands in a document: one register for each place, with several values where merges met that had not seen each other.
 *
 * A place is a JSON Pointer. An object stands as the text `{}` at its own place, its members at theirs; so objects that are
 * made concurrently are one object, and a scalar beside an object is a contest like any other. Everything else, arrays too,
 * is one value. Every write inside an object writes the object anew: a member has its objects above it as long as it stands.
 */
import { compareWin, frozen, pointerTokens, stampOf } from '@oplus/core';
import type { Json, JsonObject, Mark, Stamp } from '@oplus/core';

/** `contested` lists, by place in `value`, all values that stand there; the first of them is the one shown. */
export type DocumentView = {
  readonly value: JsonObject;
  readonly contested: { readonly [place: string]: readonly Json[] };
};

/** Who wrote, and with what stamp. */
export type Author = { readonly mark: Mark; readonly stamp: Stamp };

/** `text` is the canonical JSON of `value`. */
export type Write = { readonly author: Author; readonly text: string; readonly value: Json };

/** By place, the writes that nobody who has seen them replaced or erased. No list is empty. */
export type Registers = ReadonlyMap<string, readonly Write[]>;

/** What a merge looks at: the registers as its proposer saw them. */
export interface Sight {
  at(place: string): readonly Write[];
  /** The places strictly below. */
  below(place: string): readonly string[];
}

/** How an object stands in a register. */
export const OBJECT_TEXT = '{}';

/** The author of a change with this mark, made at this depth by a role of this priority. */
export function authorOf(mark: Mark, depth: number, priority: number): Author {
  return { mark, stamp: stampOf({ revision: depth - 1, priority, agent: mark.agent, n: mark.n }) };
}

/** The dot as a text. */
export function idOf(author: Author): string {
  return `${author.mark.agent} ${author.mark.n}`;
}

/** One write for each different value, the greatest stamp first. */
export function standing(writes: readonly Write[]): readonly Write[] {
  if (writes.length < 2) return writes;
  const newest = new Map<string, Write>();
  for (const write of writes) {
    const other = newest.get(write.text);
    if (other === undefined || compareWin(write.author.stamp, other.author.stamp) > 0) newest.set(write.text, write);
  }
  return [...newest.values()].sort((a, b) => compareWin(b.author.stamp, a.author.stamp));
}

/** The registers as a sight. `below` costs O(places). */
export function sightOf(registers: Registers): Sight {
  return {
    at: (place) => registers.get(place) ?? [],
    below: (place) => [...registers.keys()].filter((one) => isBelow(one, place)),
  };
}

/** True for places strictly below another. */
export function isBelow(place: string, above: string): boolean {
  return place.length > above.length && place.startsWith(above) && place.charAt(above.length) === '/';
}

/** What the registers show, frozen, with keys in ascending order. Contests inside an object that is not shown are not listed. O(n log n). */
export function viewOf(registers: Registers): DocumentView {
  const members = new Map<string, string[]>();
  for (const place of [...registers.keys()].sort()) {
    const above = place.slice(0, place.lastIndexOf('/'));
    const known = members.get(above);
    if (known === undefined) members.set(above, [place]);
    else known.push(place);
  }
  const contested: [string, readonly Json[]][] = [];
  const objectAt = (place: string, isShown: boolean): JsonObject =>
    Object.fromEntries((members.get(place) ?? []).map((member) => [lastToken(member), valueAt(member, isShown)]));
  const valueAt = (place: string, isShown: boolean): Json => {
    const values = standing(registers.get(place) ?? []).map((write, i) =>
      write.text === OBJECT_TEXT ? objectAt(place, isShown && i === 0) : write.value,
    );
    if (isShown && values.length > 1) contested.push([place, values]);
    return values[0] as Json;
  };
  const value = objectAt('', true);
  return frozen({ value, contested: Object.fromEntries(contested.sort(([a], [b]) => (a < b ? -1 : 1))) });
}

/** The value at a place of a view, `null` when nothing is shown there. */
export function shownAt(view: DocumentView, place: string): Json {
  let value: Json | undefined = view.value;
  for (const token of pointerTokens(place) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return null;
    value = (value as JsonObject)[token];
  }
  return value ?? null;
}

function lastToken(place: string): string {
  return pointerTokens(place.slice(place.lastIndexOf('/')))?.[0] ?? '';
}
