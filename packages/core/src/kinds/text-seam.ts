/**
 * Seams: places where two texts meet that the gate has looked at one by one only.
 *
 * A seam may not make what the gate keeps out: a reserved token of chat templates, a private key, or a character in two parts
 * that normal form C writes as one. The characters that join the one before them are listed here, because the tables of
 * platforms differ and verdicts must not; of characters that are younger than the list, and of the order of several marks on
 * one letter, nothing is said. SPEC: TXT9.
 *
 * Source: Unicode 17 and UAX #15, NFC_Quick_Check=Maybe, with the blocks of combining marks whole.
 */
import { markupFault } from '../strict-json.ts';

/** No reserved token, and no header of a key, is longer: what stands further off has no part in a seam. */
export const NEAR_CHARS = 64;

/** What is wrong where a text meets what stands before and after it, in words; `undefined` when nothing is. O(length). */
export function seamFault(before: string, put: string, after: string): string | undefined {
  const markup = markupFault(before.slice(-NEAR_CHARS) + put + after.slice(0, NEAR_CHARS));
  if (markup !== undefined) return markup.message;
  const isJoined = (before !== '' && joins(put === '' ? after : put)) || (put !== '' && joins(after));
  return isJoined ? 'a character that joins the one before it' : undefined;
}

/** True when the first character may become one with a character before it. */
export function joins(text: string): boolean {
  const code = text.codePointAt(0) ?? 0;
  return code >= 0x300 && JOINING.some(([from, to]) => code >= from && code <= to);
}

/** Code points, both ends included. */
const JOINING: readonly (readonly [from: number, to: number])[] = [
  [0x0300, 0x036f],
  [0x0653, 0x0655],
  [0x093c, 0x093c],
  [0x09be, 0x09be],
  [0x09d7, 0x09d7],
  [0x0b3e, 0x0b3e],
  [0x0b56, 0x0b57],
  [0x0bbe, 0x0bbe],
  [0x0bd7, 0x0bd7],
  [0x0c56, 0x0c56],
  [0x0cc2, 0x0cc2],
  [0x0cd5, 0x0cd6],
  [0x0d3e, 0x0d3e],
  [0x0d57, 0x0d57],
  [0x0dca, 0x0dca],
  [0x0dcf, 0x0dcf],
  [0x0ddf, 0x0ddf],
  [0x102e, 0x102e],
  [0x1161, 0x1175],
  [0x11a8, 0x11c2],
  [0x1ab0, 0x1aff],
  [0x1b35, 0x1b35],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0x3099, 0x309a],
  [0xfe20, 0xfe2f],
  [0x110ba, 0x110ba],
  [0x11127, 0x11127],
  [0x1133e, 0x1133e],
  [0x11357, 0x11357],
  [0x113b8, 0x113b8],
  [0x113bb, 0x113bb],
  [0x113c2, 0x113c2],
  [0x113c9, 0x113c9],
  [0x114b0, 0x114b0],
  [0x114ba, 0x114ba],
  [0x114bd, 0x114bd],
  [0x115af, 0x115af],
  [0x11930, 0x11930],
  [0x1611e, 0x16120],
  [0x16129, 0x16129],
  [0x16d67, 0x16d67],
];
