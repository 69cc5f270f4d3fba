/**
 * Announcements: a record of the log with its index, sent to everybody after the append. `<index> <body>`.
 *
 * They save followers a read and are never the last word: what does not fit is settled by reading the log.
 */

/** A record and where it stands. */
export type Announced = { readonly index: number; readonly body: string };

export function encodeAnnouncement(index: number, body: string): string {
  return `${index} ${body}`;
}

/** Reads an announcement; `undefined` for anything else. The index has one spelling: decimal digits without a leading zero. */
export function readAnnouncement(text: string): Announced | undefined {
  const space = text.indexOf(' ');
  if (space < 1 || space > INDEX_DIGITS_MAX) return undefined;
  const digits = text.slice(0, space);
  const index = Number(digits);
  if (!Number.isSafeInteger(index) || index < 1 || String(index) !== digits) return undefined;
  return { index, body: text.slice(space + 1) };
}

const INDEX_DIGITS_MAX = 16;
