/**
 * The cell of a document: what is kept of its history, as plain data.
 *
 * `floor` holds the writes that still stood at its revision, by change; `changes` all after it, in the order of the log, each
 * with what its author had seen. No state of the engine is stored, and none of its hashes: it is rebuilt from this, so what a
 * snapshot or a digest covers outlives any version of it. SPEC: DOC7, DOC9, DOC10.
 */
import { canonical, decodeMark, encodeMark, isJsonObject, OplusError, summed } from '@oplus/core';
import type { Attempt, Json, JsonObject, Mark } from '@oplus/core';
import type { Writes } from './merge-patch.ts';
import { authorOf, idOf } from './registers.ts';
import type { Author, Registers } from './registers.ts';

/**
 * What the author of a change had seen: everything up to the revision `saw`, its own earlier changes, and of later ones those
 * that `beyond` names (drafts with a vector of their own). Whatever a seen change had seen is seen too.
 */
export type Past = { readonly author: Author; readonly saw: number; readonly beyond: readonly string[] };

/** `text` is its canonical JSON. */
export type Change = Past & { readonly writes: Writes; readonly text: string };

/** What is left of a change below the floor: the texts that stood at the floor, by place. */
export type Remnant = { readonly author: Author; readonly writes: ReadonlyMap<string, string> };

/**
 * `missed` is the newest floor that was laid while a base could still predate it, 0 when there was none: a view older than
 * that cannot be judged. `text` is the canonical JSON.
 */
export type Floor = {
  readonly revision: number;
  readonly missed: number;
  readonly remnants: readonly Remnant[];
  readonly text: string;
};

/** `memo` keeps what can be computed from the rest. */
export type DocumentCell = {
  readonly floor: Floor;
  readonly changes: readonly Change[];
  readonly mark: Mark | undefined;
  readonly memo: { registers?: Registers };
};

/** When history is compacted: above `changesMax` changes or `bytesMax` bytes; and down to `keep` changes and half the bytes. */
export type HistoryLimits = { readonly changesMax: number; readonly keep: number; readonly bytesMax: number };

/** A document before any merge. */
export function emptyCell(born: Mark | undefined): DocumentCell {
  return { floor: floorOf(0, 0, []), changes: [], mark: born, memo: { registers: new Map() } };
}

export function floorOf(revision: number, missed: number, remnants: readonly Remnant[]): Floor {
  const stored = remnants.map(({ author, writes }) => `{"at":${encodeAuthor(author)},"set":${encodeTexts(writes)}}`);
  return { revision, missed, remnants, text: `{"missed":${missed},"remnants":[${stored.join()}],"revision":${revision}}` };
}

export function changeOf(past: Past, writes: Writes): Change {
  const { author, saw, beyond } = past;
  const erased = [...writes].flatMap(([place, text]) => (text === undefined ? [place] : [])).sort();
  const text = `{"at":${encodeAuthor(author)},"beyond":${canonical(beyond)},"erased":${canonical(erased)},"saw":${saw},"set":${encodeTexts(writes)}}`;
  return { author, saw, beyond, writes, text };
}

/** True when the change is in that past. */
export function hasSeen(past: Past, { mark }: Author): boolean {
  if (mark.revision <= past.saw) return true;
  const { agent, n } = past.author.mark;
  return mark.agent === agent ? mark.n < n : past.beyond.length > 0 && past.beyond.includes(`${mark.agent} ${mark.n}`);
}

/** What the proposer had seen of these changes. */
export function pastOf(changes: readonly Change[], attempt: Attempt): Past {
  const { mark, stamp } = attempt;
  let saw = attempt.base;
  // Changes after the base that were seen all the same, the newest first. What one of them saw is older than itself.
  const later: Change[] = [];
  for (const change of changes.toReversed()) {
    if (change.author.mark.revision <= saw) continue;
    if (!attempt.sees(change.author.mark) && !later.some((one) => hasSeen(one, change.author))) continue;
    later.push(change);
    saw = Math.max(saw, change.saw);
  }
  const beyond = later.filter(({ author }) => author.mark.agent !== mark.agent && author.mark.revision > saw);
  return {
    author: authorOf(mark, stamp.depth, stamp.priority),
    saw,
    beyond: beyond.map(({ author }) => idOf(author)).toReversed(),
  };
}

/** The seen changes of which no other seen one had seen them, by id; of those below the floor only the ones that `stands` names. */
export function headsOf(
  cell: DocumentCell,
  isSeen: (author: Author) => boolean,
  stands: (id: string) => boolean,
): readonly string[] {
  const heads: Change[] = [];
  for (const change of cell.changes.toReversed()) {
    if (isSeen(change.author) && !heads.some((head) => hasSeen(head, change.author))) heads.push(change);
  }
  const below = cell.floor.remnants.filter(
    ({ author }) => stands(idOf(author)) && isSeen(author) && !heads.some((head) => hasSeen(head, author)),
  );
  return [...below, ...heads].map(({ author }) => idOf(author));
}

/** The newest change at or below a place; what is below the floor counts as made there when a base could have missed it. */
export function newestAt(cell: DocumentCell, isAt: (place: string) => boolean): Mark | undefined {
  const { missed, remnants } = cell.floor;
  let mark: Mark | undefined;
  for (const { author, writes } of remnants) if ([...writes.keys()].some(isAt)) mark = summed(mark, author.mark);
  if (missed > 0) mark = { agent: '', n: 0, ...mark, revision: missed, foreign: { agent: '', revision: missed } };
  for (const { author, writes } of cell.changes) if ([...writes.keys()].some(isAt)) mark = summed(mark, author.mark);
  return mark;
}

export function encodeCell(cell: DocumentCell): string {
  return `{"changes":[${cell.changes.map((change) => change.text).join()}],"floor":${cell.floor.text},"mark":${encodeMark(cell.mark)}}`;
}

/** Inverse of `encodeCell`. Throws `LOG_DAMAGED` for anything else. */
export function decodeCell(stored: Json): DocumentCell {
  const { changes, floor, mark } = objectOf(stored);
  const { missed, remnants, revision } = objectOf(floor);
  return {
    floor: floorOf(
      numberOf(revision),
      numberOf(missed),
      listOf(remnants).map((one) => {
        const { at, set } = objectOf(one);
        return { author: decodeAuthor(at), writes: textsOf(set) };
      }),
    ),
    changes: listOf(changes).map((one) => {
      const { at, beyond, erased, saw, set } = objectOf(one);
      const writes = new Map<string, string | undefined>(textsOf(set));
      for (const place of listOf(erased)) writes.set(textOf(place), undefined);
      return changeOf({ author: decodeAuthor(at), saw: numberOf(saw), beyond: listOf(beyond).map(textOf) }, writes);
    }),
    mark: decodeMark(mark),
    memo: {},
  };
}

/** `[depth,priority,mark]`. */
function encodeAuthor({ mark, stamp }: Author): string {
  return `[${stamp.depth},${stamp.priority},${encodeMark(mark)}]`;
}

/** An object of the values, which have their canonical texts already. */
function encodeTexts(writes: Writes): string {
  const set = [...writes].flatMap(([place, text]) => (text === undefined ? [] : [[place, text] as const]));
  set.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${set.map(([place, text]) => `${canonical(place)}:${text}`).join()}}`;
}

function decodeAuthor(stored: Json | undefined): Author {
  const [depth, priority, mark] = listOf(stored);
  return authorOf(decodeMark(mark) ?? damaged(), numberOf(depth), numberOf(priority));
}

function textsOf(stored: Json | undefined): ReadonlyMap<string, string> {
  return new Map(Object.entries(objectOf(stored)).map(([place, value]) => [place, canonical(value)]));
}

function objectOf(stored: Json | undefined): JsonObject {
  return isJsonObject(stored) ? stored : damaged();
}

function listOf(stored: Json | undefined): readonly Json[] {
  return Array.isArray(stored) ? (stored as readonly Json[]) : damaged();
}

function numberOf(stored: Json | undefined): number {
  return typeof stored === 'number' ? stored : damaged();
}

function textOf(stored: Json | undefined): string {
  return typeof stored === 'string' ? stored : damaged();
}

function damaged(): never {
  throw new OplusError('LOG_DAMAGED', 'a stored document is not one');
}
