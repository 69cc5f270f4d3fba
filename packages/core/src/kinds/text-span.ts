/**
 * Spans of a text: found in the text as a proposer saw it, and taken to the text as it stands now.
 *
 * What a proposer saw is every piece that was put in by somebody it had seen and not taken out by somebody it had seen. A span
 * is free when all of it still stands and nothing unseen stands inside it. SPEC: TXT2-TXT6.
 */
import type { Mark } from '../dot.ts';
import type { Attempt } from '../field-kind.ts';
import type { Body, Chunk, Edit, Piece } from './text-body.ts';
import { isSameEdit, liveText, pieceOf, spliced, textOf, textOfChunk } from './text-body.ts';

/** Half-open, in UTF-16 units of the text that the proposer saw. */
export type Span = { readonly from: number; readonly to: number };

/** A span among the pieces: `inside` all between its first and its last character, `before` and `after` the rest of its chunks. */
export type Place = {
  readonly first: number;
  readonly last: number;
  readonly before: readonly Piece[];
  readonly inside: readonly Piece[];
  readonly after: readonly Piece[];
};

/** The text as the proposer saw it. O(chunks) when it saw all of it, else also O(edits that it had not seen). */
export function seenText(body: Body, attempt: Attempt): string {
  const { chunks } = body;
  if (chunks.every((chunk) => chunk.newest <= attempt.base)) return textOf(body);
  return chunks.map((chunk) => seenOf(chunk, attempt)).join('');
}

/** How often a text stands in another, overlaps counted, and where first; counts no further than `most`. O(length of both). */
export function occurrences(text: string, find: string, most: number): { readonly at: number; readonly count: number } {
  const next = find.length > FIND_PLAIN_MAX ? searchLong(text, find) : (from: number): number => text.indexOf(find, from);
  const at = next(0);
  let count = 0;
  for (let found = at; found >= 0 && count < most; found = next(found + 1)) count += 1;
  return { at, count };
}

/** Where a span of what the proposer saw stands now. The span is not empty and lies within that text. */
export function placeOf(body: Body, span: Span, attempt: Attempt): Place {
  const { chunks } = body;
  let [first, start] = [0, 0];
  let width = seenOf(chunks[0] as Chunk, attempt).length;
  while (start + width <= span.from) {
    start += width;
    first += 1;
    width = seenOf(chunks[first] as Chunk, attempt).length;
  }
  let [last, end] = [first, start + width];
  while (end < span.to) {
    last += 1;
    end += seenOf(chunks[last] as Chunk, attempt).length;
  }
  const parts: [Piece[], Piece[], Piece[]] = [[], [], []];
  let at = start;
  for (const piece of chunks.slice(first, last + 1).flatMap((chunk) => chunk.pieces)) {
    if (!isSeen(piece, attempt)) {
      parts[at <= span.from ? 0 : at < span.to ? 1 : 2].push(piece);
      continue;
    }
    const cuts = [0, span.from - at, span.to - at, piece.text.length].map((cut) => Math.min(Math.max(cut, 0), piece.text.length));
    for (const [i, part] of parts.entries()) {
      const text = piece.text.slice(cuts[i], cuts[i + 1]);
      if (text !== '') part.push(text === piece.text ? piece : pieceOf(text, piece));
    }
    at += piece.text.length;
  }
  return { first, last, before: parts[0], inside: parts[1], after: parts[2] };
}

/** The newest change that stands in the way of taking the span out: one that took out or put in what the proposer had not seen. */
export function blockOf(place: Place, attempt: Attempt): Mark | undefined {
  let block: Mark | undefined;
  for (const piece of place.inside) {
    const edit = isSeen(piece, attempt) ? piece.died : piece.died === undefined ? piece.born : undefined;
    if (edit !== undefined && (block === undefined || edit.mark.revision >= block.revision)) block = edit.mark;
  }
  return block;
}

/** What stands now where the proposer saw the span: what is left of it, and what was put in its place. */
export function standing(body: Body, place: Place): string {
  const edits = place.inside.flatMap(({ died }) => (died === undefined ? [] : [died]));
  const pieces = [...place.inside];
  for (const piece of following(body, place)) {
    if (!edits.some((edit) => isSameEdit(edit, piece.born))) break;
    pieces.push(piece);
    if (piece.died !== undefined) edits.push(piece.died);
  }
  return liveText(pieces);
}

/** True when one change that the proposer had not seen took out exactly this span, and put in this text, which stands whole. */
export function isAgreed(body: Body, place: Place, text: string, attempt: Attempt): boolean {
  const seen = place.inside.filter((piece) => isSeen(piece, attempt));
  const edit = seen[0]?.died;
  const cut = seen.reduce((sum, piece) => sum + piece.text.length, 0);
  if (edit === undefined || edit.cut !== cut || !seen.every(({ died }) => isSameEdit(died, edit))) return false;
  const put: Piece[] = [];
  for (const piece of following(body, place)) {
    if (!isSameEdit(piece.born, edit)) break;
    put.push(piece);
  }
  return put.every(({ died }) => died === undefined) && liveText(put) === text;
}

/** The body with the span taken out and the text put in its place, right behind its last character. */
export function replaced(body: Body, place: Place, text: string, edit: Edit): Body {
  const root = place.inside[0]?.root;
  const inside = place.inside.map((piece) => (piece.died === undefined ? pieceOf(piece.text, { ...piece, died: edit }) : piece));
  const put = text === '' ? [] : [pieceOf(text, { born: edit, root })];
  return spliced(body, place.first, place.last, [...place.before, ...inside, ...put, ...place.after]);
}

/** Longest text that is looked for by the platform, whose search is quick on usual texts and quadratic on some long ones. */
const FIND_PLAIN_MAX = 200;

/** Knuth, Morris and Pratt 1977: gives the first place at or after `from`; calls must not go back. */
function searchLong(text: string, find: string): (from: number) => number {
  const borders = new Int32Array(find.length + 1);
  borders[0] = -1;
  for (let i = 0, border = -1; i < find.length; i += 1) {
    while (border >= 0 && find.charCodeAt(i) !== find.charCodeAt(border)) border = borders[border] as number;
    border += 1;
    borders[i + 1] = border;
  }
  let [at, matched] = [0, 0];
  return () => {
    while (at < text.length) {
      while (matched >= 0 && text.charCodeAt(at) !== find.charCodeAt(matched)) matched = borders[matched] as number;
      at += 1;
      matched += 1;
      if (matched < find.length) continue;
      matched = borders[matched] as number;
      return at - find.length;
    }
    return -1;
  };
}

function isSeen({ born, died }: Piece, attempt: Attempt): boolean {
  return attempt.sees(born?.mark) && (died === undefined || !attempt.sees(died.mark));
}

function seenOf(chunk: Chunk, attempt: Attempt): string {
  if (chunk.newest <= attempt.base) return textOfChunk(chunk);
  return chunk.pieces.reduce((text, piece) => (isSeen(piece, attempt) ? text + piece.text : text), '');
}

function* following(body: Body, place: Place): Generator<Piece> {
  yield* place.after;
  for (const chunk of body.chunks.slice(place.last + 1)) yield* chunk.pieces;
}
