/**
 * Digests of cells, as JSON: a short text stands for itself, a longer one for its SHA-256.
 *
 * Most cells are one value with its mark. Hashing each by itself costs more than hashing all of them together in the text of
 * the state's digest, where a short text is as good as its digest and cannot be taken for one: it is an object or a list.
 */
import type { Sha256 } from './json.ts';

/** Longest text that stands for itself, in UTF-16 units. */
const SHORT_CHARS_MAX = 128;

/** `text` is the canonical JSON of an object or a list. */
export function leafDigest(text: string, sha256: Sha256): string {
  return text.length <= SHORT_CHARS_MAX ? text : `"${sha256(text)}"`;
}
