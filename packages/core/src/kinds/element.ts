/**
 * Elements of sets: a value, and the marks of the adds that keep it there.
 */
import type { Mark } from '../dot.ts';
import { decodeMark, encodeMark, leastTrust, trustedTo } from '../dot.ts';
import type { Attempt, Traversable } from '../field-kind.ts';
import type { Json } from '../json.ts';
import { canonical, frozen } from '../json.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieSorted, trieWith } from '../trie.ts';

/** `marks` are of adds of which none saw another. */
export type Element = { readonly value: Json; readonly marks: readonly Mark[] };

/**
 * The element with one more add, which takes the place of those that it has seen. It is trusted no more than they were: to
 * repeat a value is no new evidence for it.
 */
export function withAdd(element: Element | undefined, value: Json, attempt: Attempt): Element {
  const marks = element?.marks ?? [];
  return { value, marks: [...unseenOf(marks, attempt), trustedTo(attempt.mark, leastTrust(marks))] };
}

/** The element that a token of a path names: a text by itself, any value by its canonical text. */
export function elementAt(live: Trie<Element>, token: string): Element | undefined {
  return trieAt(live, canonical(token)) ?? trieAt(live, token);
}

/** An element as a place on a path: its newest change is its newest add. */
export const ELEMENT: Traversable<Element> = { newest: (element) => element.marks.at(-1) };

/** The marks that are not in the proposer's past. */
export function unseenOf(marks: readonly Mark[], attempt: Attempt): readonly Mark[] {
  return marks.filter((mark) => !attempt.sees(mark));
}

/** The values in the order of their texts. */
export function elementValues(live: Trie<Element>): readonly Json[] {
  return trieSorted(live).map(([, element]) => element.value);
}

export function encodeElement(element: Element): string {
  return `[${canonical(element.value)},[${element.marks.map(encodeMark).join()}]]`;
}

/** Canonical JSON. O(n log n). */
export function encodeElements(live: Trie<Element>): string {
  const texts = trieSorted(live).map(([, element]) => encodeElement(element));
  return `[${texts.join()}]`;
}

/** Inverse of `encodeElements`. */
export function decodeElements(stored: Json | undefined): Trie<Element> {
  let live = emptyTrie<Element>();
  for (const [value, marks] of stored as readonly (readonly [Json, readonly Json[]])[])
    live = trieWith(live, canonical(value), { value: frozen(value), marks: marks.flatMap((mark) => decodeMark(mark) ?? []) });
  return live;
}
