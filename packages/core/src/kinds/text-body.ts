/**
 * What a text is made of: chunks of pieces, each with who put it in and who took it out.
 *
 * A piece that was taken out stays, dead, while somebody's view may still show it; so the text of any remembered view is what
 * is left when the pieces that the view had not seen are passed over. Pieces that everybody has seen stand as plain text.
 * Chunks hold about a thousand characters: an edit rewrites one of them and copies the list, and the digest of each stays
 * with it. Where the cuts between chunks are depends on the edits, so snapshots keep them. SPEC: TXT8, TXT10-TXT12.
 *
 * Source: Boehm, Atkinson and Plass 1995, "Ropes: an Alternative to Strings"; Merkle 1987 for the digests.
 */
import { leafDigest } from '../digest.ts';
import type { Mark } from '../dot.ts';
import { decodeMark, encodeMark } from '../dot.ts';
import type { Json, JsonObject, Sha256 } from '../json.ts';
import { canonical } from '../json.ts';
import type { Stamp } from '../stamp.ts';
import { decodeStamp, encodeStamp } from '../stamp.ts';

/** One accepted change: the `at`-th of its patch, which took out `cut` UTF-16 units. Only an append has a `stamp`. */
export type Edit = { readonly mark: Mark; readonly at: number; readonly cut: number; readonly stamp: Stamp | undefined };

/**
 * A run of characters with one history. `root` is the append that they stand in, also when they were put in its place later.
 * `code` is a memo of the canonical form.
 */
export type Piece = {
  readonly text: string;
  readonly born: Edit | undefined;
  readonly died: Edit | undefined;
  readonly root: Edit | undefined;
  code: string | undefined;
};

/**
 * `newest` is the revision of the newest edit in it, -1 without one. Memos: `text` of the live pieces, `digest`, and `block`, the
 * digest of the block that the chunk began when it was last digested.
 */
export type Chunk = {
  readonly pieces: readonly Piece[];
  readonly live: number;
  readonly dead: number;
  readonly traces: number;
  readonly weight: number;
  readonly newest: number;
  text: string | undefined;
  digest: string | undefined;
  block: { readonly chunks: readonly Chunk[]; readonly digest: string } | undefined;
};

/** `live` and `dead` count UTF-16 units, `traces` pieces that are not plain text. `text` is a memo. Never without a chunk. */
export type Body = {
  readonly chunks: readonly Chunk[];
  readonly live: number;
  readonly dead: number;
  readonly traces: number;
  text: string | undefined;
};

/** Plain text without history. */
export function bodyOf(text: string): Body {
  return bodyFrom(chunked([pieceOf(text)]));
}

export function pieceOf(text: string, edits: Partial<Pick<Piece, 'born' | 'died' | 'root'>> = {}): Piece {
  return { text, born: edits.born, died: edits.died, root: edits.root, code: undefined };
}

export function isSameEdit(a: Edit | undefined, b: Edit | undefined): boolean {
  return a === b || (a?.mark.n === b?.mark.n && a?.mark.agent === b?.mark.agent && a?.at === b?.at);
}

/** What stands now. O(n) once for a body. */
export function textOf(body: Body): string {
  body.text ??= body.chunks.map(textOfChunk).join('');
  return body.text;
}

/** What stands now of one chunk. */
export function textOfChunk(chunk: Chunk): string {
  chunk.text ??= liveText(chunk.pieces);
  return chunk.text;
}

/** What stands of these pieces. */
export function liveText(pieces: readonly Piece[]): string {
  return pieces.reduce((text, piece) => (piece.died === undefined ? text + piece.text : text), '');
}

/** At least `chars` of what stands before the chunk of that number, the nearest last; all when there is less. */
export function textBefore(body: Body, chunk: number, chars: number): string {
  let text = '';
  for (let i = chunk - 1; i >= 0 && text.length < chars; i -= 1) text = textOfChunk(body.chunks[i] as Chunk) + text;
  return text;
}

/** The same of what stands after it, the nearest first. */
export function textAfter(body: Body, chunk: number, chars: number): string {
  let text = '';
  for (let i = chunk + 1; i < body.chunks.length && text.length < chars; i += 1) text += textOfChunk(body.chunks[i] as Chunk);
  return text;
}

/** The body with these pieces in place of the chunks from `first` to `last`. O(chunks). */
export function spliced(body: Body, first: number, last: number, pieces: readonly Piece[]): Body {
  const { chunks } = body;
  let [from, to, whole] = [first, last, pieces];
  if (weightOf(whole) < CHUNK_WEIGHT_MIN) {
    const after = chunks[to + 1];
    const before = chunks[from - 1];
    if (after !== undefined) [to, whole] = [to + 1, [...whole, ...after.pieces]];
    else if (before !== undefined) [from, whole] = [from - 1, [...before.pieces, ...whole]];
  }
  return bodyFrom([...chunks.slice(0, from), ...chunked(whole), ...chunks.slice(to + 1)]);
}

/** The body without the history up to and with a revision: every view from then on shows the same text as before. O(n). */
export function forgotten(body: Body, revision: number): Body {
  const isPast = (edit: Edit | undefined): boolean => edit !== undefined && edit.mark.revision <= revision;
  const kept = (edit: Edit | undefined): Edit | undefined => (isPast(edit) ? undefined : edit);
  const chunks = body.chunks.map((chunk) => {
    if (!chunk.pieces.some(({ born, died, root }) => isPast(born) || isPast(died) || isPast(root))) return chunk;
    const pieces = chunk.pieces.flatMap((piece) => {
      if (isPast(piece.died)) return [];
      const [born, root] = [kept(piece.born), kept(piece.root)];
      return born === piece.born && root === piece.root ? [piece] : [pieceOf(piece.text, { born, died: piece.died, root })];
    });
    return chunkOf(joined(pieces));
  });
  const filled: Chunk[] = [];
  for (const chunk of chunks) {
    const before = filled.at(-1);
    if (before === undefined || before.weight + chunk.weight > CHUNK_WEIGHT_USUAL) filled.push(chunk);
    else filled[filled.length - 1] = chunkOf(joined([...before.pieces, ...chunk.pieces]));
  }
  return bodyFrom(filled);
}

/** Revision of the newest edit of each piece that is not plain text, and how much dead text it is. */
export function tracesOf(body: Body): readonly { readonly revision: number; readonly dead: number }[] {
  return body.chunks.flatMap(({ pieces }) =>
    pieces
      .filter(isTrace)
      .map((piece) => ({ revision: newestOf(piece), dead: piece.died === undefined ? 0 : piece.text.length })),
  );
}

/** Canonical JSON: the chunks, each a list of plain texts and of `[text, born, died, root]`. */
export function encodeBody(body: Body): string {
  return `[${body.chunks.map(encodeChunk).join()}]`;
}

/** Inverse of `encodeBody`. */
export function decodeBody(stored: Json | undefined): Body {
  return bodyFrom((stored as readonly (readonly Json[])[]).map((pieces) => chunkOf(pieces.map(decodePiece))));
}

/** Digest of all that `encodeBody` writes, as JSON: of blocks of chunks. Cost: that of what changed, and O(chunks). */
export function bodyDigest(body: Body, sha256: Sha256): string {
  const digests: string[] = [];
  for (let at = 0; at < body.chunks.length; at += BLOCK_CHUNKS) {
    digests.push(blockDigest(body.chunks.slice(at, at + BLOCK_CHUNKS), sha256));
  }
  return `[${digests.join()}]`;
}

/** Chunks whose digests are hashed together. */
const BLOCK_CHUNKS = 16;

/** Weights count UTF-16 units, and the history of a piece as so many more. */
const TRACE_WEIGHT = 64;
const CHUNK_WEIGHT_MIN = 256;
const CHUNK_WEIGHT_USUAL = 1024;
const CHUNK_WEIGHT_MAX = 1536;

function bodyFrom(chunks: readonly Chunk[]): Body {
  let [live, dead, traces] = [0, 0, 0];
  for (const chunk of chunks) {
    live += chunk.live;
    dead += chunk.dead;
    traces += chunk.traces;
  }
  return { chunks, live, dead, traces, text: undefined };
}

function chunkOf(pieces: readonly Piece[]): Chunk {
  let [live, dead, traces, newest] = [0, 0, 0, -1];
  for (const piece of pieces) {
    if (piece.died === undefined) live += piece.text.length;
    else dead += piece.text.length;
    if (isTrace(piece)) traces += 1;
    newest = Math.max(newest, newestOf(piece));
  }
  const weight = live + dead + traces * TRACE_WEIGHT;
  return { pieces, live, dead, traces, weight, newest, text: undefined, digest: undefined, block: undefined };
}

/** The pieces as one chunk, or as several of the usual weight when one would be too heavy. */
function chunked(given: readonly Piece[]): readonly Chunk[] {
  const pieces = joined(given);
  if (weightOf(pieces) <= CHUNK_WEIGHT_MAX) return [chunkOf(pieces)];
  const chunks: Piece[][] = [[]];
  let weight = 0;
  for (const piece of pieces.flatMap(cutUp)) {
    const more = weightOf([piece]);
    if (weight >= CHUNK_WEIGHT_USUAL || (weight > 0 && weight + more > CHUNK_WEIGHT_MAX)) {
      chunks.push([]);
      weight = 0;
    }
    chunks.at(-1)?.push(piece);
    weight += more;
  }
  const last = chunks.at(-1) ?? [];
  if (weight < CHUNK_WEIGHT_MIN) chunks.splice(-2, 2, [...(chunks.at(-2) ?? []), ...last]);
  return chunks.map((one) => chunkOf(joined(one)));
}

/** Neighbours that are plain text, as one piece. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const whole: Piece[] = [];
  for (const piece of pieces) {
    const before = whole.at(-1);
    if (piece.text === '') continue;
    if (before === undefined || isTrace(before) || isTrace(piece)) whole.push(piece);
    else whole[whole.length - 1] = pieceOf(before.text + piece.text);
  }
  return whole;
}

/** A long piece in parts of the usual length. No part ends inside a character. */
function cutUp(piece: Piece): readonly Piece[] {
  if (piece.text.length <= CHUNK_WEIGHT_USUAL) return [piece];
  const parts: Piece[] = [];
  for (let from = 0; from < piece.text.length;) {
    const end = from + CHUNK_WEIGHT_USUAL;
    const to = (piece.text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end + 1 : end;
    parts.push(pieceOf(piece.text.slice(from, to), piece));
    from = to;
  }
  return parts;
}

function isTrace({ born, died, root }: Piece): boolean {
  return born !== undefined || died !== undefined || root !== undefined;
}

function newestOf({ born, died }: Piece): number {
  return Math.max(born?.mark.revision ?? -1, died?.mark.revision ?? -1);
}

function weightOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.text.length + (isTrace(piece) ? TRACE_WEIGHT : 0), 0);
}

function blockDigest(chunks: readonly Chunk[], sha256: Sha256): string {
  const [first] = chunks as [Chunk];
  const known = first.block;
  if (known?.chunks.length === chunks.length && known.chunks.every((chunk, i) => chunk === chunks[i])) return known.digest;
  const digests = chunks.map((chunk) => {
    chunk.digest ??= leafDigest(encodeChunk(chunk), sha256);
    return chunk.digest;
  });
  const digest = leafDigest(`[${digests.join()}]`, sha256);
  first.block = { chunks, digest };
  return digest;
}

function encodeChunk({ pieces }: Chunk): string {
  return `[${pieces.map(encodePiece).join()}]`;
}

function encodePiece(piece: Piece): string {
  const { text, born, died, root } = piece;
  piece.code ??= isTrace(piece)
    ? `[${canonical(text)},${encodeEdit(born)},${encodeEdit(died)},${isSameEdit(born, root) ? 1 : encodeEdit(root)}]`
    : canonical(text);
  return piece.code;
}

function decodePiece(stored: Json): Piece {
  if (typeof stored === 'string') return pieceOf(stored);
  const [text, bornStored, diedStored, rootStored] = stored as readonly [string, Json, Json, Json];
  const born = decodeEdit(bornStored);
  return pieceOf(text, { born, died: decodeEdit(diedStored), root: rootStored === 1 ? born : decodeEdit(rootStored) });
}

function encodeEdit(edit: Edit | undefined): string {
  if (edit === undefined) return 'null';
  const stamp = edit.stamp === undefined ? '' : `,"stamp":${encodeStamp(edit.stamp)}`;
  return `{"at":${edit.at},"cut":${edit.cut},"mark":${encodeMark(edit.mark)}${stamp}}`;
}

function decodeEdit(stored: Json): Edit | undefined {
  if (stored === null) return undefined;
  const edit = stored as JsonObject;
  const mark = decodeMark(edit['mark']) as Mark;
  return { mark, at: edit['at'] as number, cut: edit['cut'] as number, stamp: decodeStamp(edit['stamp']) };
}
