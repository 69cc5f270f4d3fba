/**
 * Announcements: a record of the log with its index, sent to everybody after the append. `<index> <body>`.
 */

/** A record and where it stands. */
export type Announced = { readonly index: number; readonly body: string };

export function encodeAnnouncement(index: number, body: string): string {
  return `${index} ${body}`;
}

/** Reads an announcement; `undefined` for anything else. Nothing rests on it: a follower reads the log instead. */
export function readAnnouncement(text: string): Announced | undefined {
  const space = text.indexOf(' ');
  const index = Number(text.slice(0, space));
  if (space < 1 || space > 16 || !Number.isSafeInteger(index) || index < 1) return undefined;
  return { index, body: text.slice(space + 1) };
}
