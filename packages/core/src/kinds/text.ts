/**
 * `text`: prose that several agents edit at once.
 *
 * A change is found in the text as its proposer saw it and carried over to the text as it stands: changes of different places
 * merge, one of a place that somebody unseen has changed is refused. What can stand at the end stands: appends are never in
 * conflict, and stand in the order of their stamps. A replaced span is all that `find` says, with what in it stays the same:
 * an agent quotes what its change relies on. Positions are never sent: an agent cannot count characters.
 * SPEC: TXT1-TXT15.
 *
 * Source: Ellis and Gibbs 1989, "Concurrency Control in Groupware Systems", for transformed positions; here one log orders all
 * changes, so that pieces with their history are enough. Decision 0014.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { affirmed, decodeMark, encodeMark, summed } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { fault, fieldFrom } from '../fault.ts';
import type { Attempt, Complain, Field, FieldKind } from '../field-kind.ts';
import { checkOptions, COUNT } from '../field-options.ts';
import { isOfType, readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { isJsonObject } from '../json.ts';
import { conflict, malformed, outOfBounds } from '../refusal.ts';
import { compareAdmit } from '../stamp.ts';
import { stringFault } from '../strict-json.ts';
import type { ValueType } from '../value-type.ts';
import { startValue, valueType } from '../value-type.ts';
import type { Body, Edit } from './text-body.ts';
import {
  bodyDigest,
  bodyOf,
  decodeBody,
  encodeBody,
  forgotten,
  liveText,
  pieceOf,
  spliced,
  textAfter,
  textBefore,
  textOf,
  tracesOf,
} from './text-body.ts';
import { NEAR_CHARS, seamFault } from './text-seam.ts';
import { blockOf, isAgreed, occurrences, placeOf, replaced, seenText, standing } from './text-span.ts';
import type { Place, Span } from './text-span.ts';

/** `charsMax` is the greatest length in UTF-16 units; what would exceed it is refused. `start` is the text before any change. */
export type TextOptions = { readonly charsMax: number; readonly start?: string };

/** `find` stands exactly once in the text that the proposer saw; an empty `with` deletes it. */
export type TextReplace = { readonly find: string; readonly with: string };

/** Replaces of one patch are all found in the text before the patch, and do not overlap. */
export type TextIntent =
  | { readonly append: string }
  | { readonly replace: TextReplace | readonly TextReplace[] }
  | { readonly rewrite: string };

/** A text. A start is no longer than a change may make it, and is one that a patch could bring. */
export function text(options: TextOptions): Field<string, TextIntent> {
  return fieldFrom(() => textKind(options));
}

const OPTIONS = z.object({ charsMax: COUNT, start: z.string().optional() });

function textKind(options: TextOptions): FieldKind<TextCell, TextOp> {
  checkOptions('text', 'Use text({ charsMax: 10_000 }), with start if needed.', OPTIONS, options);
  const { charsMax } = options;
  const type = valueType(z.string().max(charsMax), 'text');
  const start = startValue(type, options.start, 'text') ?? '';
  const odd = stringFault(start);
  if (odd !== undefined) throw fault(`text starts with ${odd.message}`, 'Give a start that a patch could bring.');
  const kind: FieldKind<TextCell, TextOp> = {
    name: 'text',
    grade: {
      letter: 'B',
      why: 'appends and changes of different places commute (A); where they meet, and when there is not room for all, the first in the log stands',
    },
    bytesMax: type.bytesMax,
    verbs: VERBS,
    summary: `a text of at most ${charsMax} characters; replace quotes what it changes, which must stand there once`,
    empty: (born) => ({ body: bodyOf(start), mark: born, floor: undefined }),
    read: (intent, path, complain) => readText(type, intent, path, complain),
    weigh: (op) => (op.verb === 'replace' ? op.replaces.length : 1),
    erases: erasesOf,
    fold,
    withoutEcho: (cell, op) => (isEcho(textOf(cell.body), op) ? undefined : op),
    write: (op) => {
      if (op.verb !== 'replace') return { [op.verb]: op.text };
      return { replace: op.replaces.length === 1 ? (op.replaces[0] as TextReplace) : op.replaces };
    },
    newest: (cell) => cell.mark,
    view: (cell) => textOf(cell.body),
    json: (cell) => textOf(cell.body),
    encode: (cell) => `{"body":${encodeBody(cell.body)},"floor":${encodeMark(cell.floor)},"mark":${encodeMark(cell.mark)}}`,
    decode: (stored) => {
      const cell = stored as JsonObject;
      return { body: decodeBody(cell['body']), mark: decodeMark(cell['mark']), floor: decodeMark(cell['floor']) };
    },
    digest: (cell, sha256) =>
      leafDigest(`[${bodyDigest(cell.body, sha256)},${encodeMark(cell.floor)},${encodeMark(cell.mark)}]`, sha256),
    valueSchema: () => type.jsonSchema,
    assign: (cell, change, path, complain) => {
      const now = textOf(cell.body);
      const wanted = changed(now, change) ?? '';
      if (wanted === now || !isOfType(type, wanted, 'text', path, complain)) return undefined;
      const longer = wanted as string;
      return longer.startsWith(now) ? { append: longer.slice(now.length) } : { rewrite: longer };
    },
    samples: () => [
      { append: 'a' },
      { append: 'b' },
      { replace: { find: String.fromCodePoint(start.codePointAt(0) ?? 0x61), with: '' } },
      { rewrite: 'c' },
    ],
    modelSchema: () => {
      const replace = {
        type: 'object',
        properties: { find: type.jsonSchema, with: type.jsonSchema },
        required: ['find', 'with'],
        additionalProperties: false,
      };
      return strictObject({ append: type.jsonSchema, replace: { type: 'array', items: replace }, rewrite: type.jsonSchema });
    },
    fromModel: withoutNulls,
    declaration: () => ({ kind: 'text', charsMax, ...(start === '' ? {} : { start }) }),
  };
  return kind;

  function fold(cell: TextCell, op: TextOp, path: string, attempt: Attempt): TextCell {
    if (op.verb === 'rewrite') return rewritten(cell, op.text, path, attempt);
    const body = op.verb === 'append' ? appended(cell, op.text, path, attempt) : edited(cell, op.replaces, path, attempt);
    if (body === cell.body) return cell;
    if (body.live > charsMax) {
      const room = charsMax - cell.body.live;
      attempt.refuse(
        path,
        outOfBounds('text', cell.body.live, body.live, `At most ${charsMax} characters; there is room for ${room} more.`),
      );
      return cell;
    }
    return bounded({ body, mark: affirmed(cell.mark, attempt.mark), floor: cell.floor }, cell, charsMax, attempt);
  }
}

/**
 * `floor` is what a view must have seen for places in it to be known: the newest of what was forgotten, and of what was
 * rewritten whole. The body holds all changes since.
 */
type TextCell = { readonly body: Body; readonly mark: Mark | undefined; readonly floor: Mark | undefined };
type TextOp =
  | { readonly verb: 'append'; readonly text: string }
  | { readonly verb: 'rewrite'; readonly text: string }
  | { readonly verb: 'replace'; readonly replaces: readonly TextReplace[] };

const VERBS = ['append', 'replace', 'rewrite'];

/** History is looked through whenever this many pieces of it have come. */
const SWEEP_TRACES = 128;

/** Most pieces with history. When more come, half of them are forgotten, the oldest first. */
const TRACES_MAX = 2048;

/** Most characters of removed text: this many, or as many as the text may have. */
const DEAD_CHARS_MIN = 65_536;

/** Most occurrences of a text that are counted. */
const COUNT_MAX = 10;

function readText(type: ValueType, intent: Json, path: string, complain: Complain): TextOp | undefined {
  const read = readOneVerb(intent, 'text', VERBS, path, complain);
  if (read === undefined) return undefined;
  const { verb, value } = read;
  if (verb !== 'replace') {
    const isText = isOfType(type, value, 'text', path, complain);
    return isText ? { verb: verb === 'append' ? 'append' : 'rewrite', text: value as string } : undefined;
  }
  const items: readonly Json[] = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const replaces: TextReplace[] = [];
  for (const [at, item] of items.entries()) {
    const { find, with: by, ...rest } = isJsonObject(item) ? item : {};
    const place = placeName(path, items, at);
    if (find === undefined || by === undefined || Object.keys(rest).length > 0) {
      complain(place, malformed('text', 'replace takes { find, with }, or a list of them.', item));
      continue;
    }
    if (!isOfType(type, find, 'text', place, complain) || !isOfType(type, by, 'text', place, complain)) continue;
    if (find === '') complain(place, malformed('text', 'find quotes some text that stands there.'));
    else replaces.push({ find: find as string, with: by as string });
  }
  if (items.length === 0) complain(path, malformed('text', 'replace names at least one text.'));
  return replaces.length === items.length && items.length > 0 ? { verb: 'replace', replaces } : undefined;
}

/** Where one of several replaces is told of. */
function placeName(path: string, items: readonly unknown[], at: number): string {
  return items.length === 1 ? path : `${path}/replace/${at}`;
}

/** A rewrite counts as one thing however long it is: what it erases cannot be told from it. */
function erasesOf(op: TextOp): number {
  if (op.verb === 'replace') return op.replaces.filter((one) => one.with === '').length;
  return op.verb === 'rewrite' ? 1 : 0;
}

/** True when the change leaves the text as it is. A list of replaces may be refused as a whole, and is never passed over. */
function isEcho(now: string, op: TextOp): boolean {
  if (op.verb !== 'replace') return op.text === (op.verb === 'append' ? '' : now);
  const [one, ...others] = op.replaces;
  return others.length === 0 && one?.find === one?.with && occurrences(now, one?.find ?? '', 2).count === 1;
}

function rewritten(cell: TextCell, wanted: string, path: string, attempt: Attempt): TextCell {
  const now = textOf(cell.body);
  if (now === wanted) {
    attempt.note(path, { kind: 'unchanged' });
    return cell;
  }
  if (!attempt.sawAll(cell.mark)) attempt.refuse(path, conflict('text', now, wanted, cell.mark, attempt.agent));
  const mark = summed(cell.mark, attempt.mark);
  return { body: bodyOf(wanted), mark, floor: mark };
}

/** Appends stand behind all else, in admit order: a late one before those of newer views. */
function appended({ body }: TextCell, more: string, path: string, attempt: Attempt): Body {
  if (more === '') {
    attempt.note(path, { kind: 'unchanged' });
    return body;
  }
  const { stamp } = attempt;
  let last = body.chunks.length - 1;
  let pieces = body.chunks[last]?.pieces ?? [];
  let at = pieces.length;
  for (;;) {
    if (at === 0 && last > 0) {
      last -= 1;
      pieces = body.chunks[last]?.pieces ?? [];
      at = pieces.length;
    }
    const before = pieces[at - 1]?.root?.stamp;
    if (before === undefined || compareAdmit(before, stamp) <= 0) break;
    at -= 1;
  }
  const place: Place = { first: last, last, before: pieces.slice(0, at), inside: [], after: pieces.slice(at) };
  checkSeams(body, place, more, path, attempt);
  const edit: Edit = { mark: attempt.mark, at: 0, cut: 0, stamp };
  return spliced(body, last, last, [...place.before, pieceOf(more, { born: edit, root: edit }), ...place.after]);
}

function edited({ body, floor }: TextCell, replaces: readonly TextReplace[], path: string, attempt: Attempt): Body {
  if (!attempt.sawAll(floor)) {
    attempt.refuse(path, conflict('text', textOf(body), replaces[0]?.with, floor, attempt.agent));
    return body;
  }
  const seen = seenText(body, attempt);
  const spans: (Span | undefined)[] = [];
  for (const [i, { find }] of replaces.entries()) {
    const { at, count } = occurrences(seen, find, COUNT_MAX);
    const span = { from: at, to: at + find.length };
    const isMet = spans.some((other) => other !== undefined && other.from < span.to && span.from < other.to);
    if (count === 1 && !isMet) spans.push(span);
    else {
      attempt.refuse(placeName(path, replaces, i), malformed('text', count === 1 ? OVERLAP : howOften(count), find));
      spans.push(undefined);
    }
  }
  let after = body;
  for (const [i, one] of replaces.entries()) {
    const span = spans[i];
    const place = placeName(path, replaces, i);
    if (span !== undefined) after = exchanged(after, span, one, { path: place, at: i }, attempt);
  }
  return after;
}

const OVERLAP = 'Two replaces of one patch overlap: make them one.';

function howOften(count: number): string {
  if (count === 0) return 'It did not stand in the text that you saw. Quote it as it stands there, sign by sign.';
  return `It stood ${count < COUNT_MAX ? count : `at least ${COUNT_MAX}`} times in the text that you saw. Quote more of what is around it.`;
}

function exchanged(
  body: Body,
  span: Span,
  one: TextReplace,
  where: { readonly path: string; readonly at: number },
  attempt: Attempt,
): Body {
  const { path, at } = where;
  const place = placeOf(body, span, attempt);
  const block = blockOf(place, attempt);
  if (block !== undefined && !isAgreed(body, place, one.with, attempt)) {
    attempt.refuse(path, conflict('text', standing(body, place), one.with, block, attempt.agent));
    return body;
  }
  if (block !== undefined || one.find === one.with) {
    attempt.note(path, { kind: 'unchanged' });
    return body;
  }
  checkSeams(body, place, one.with, path, attempt);
  return replaced(body, place, one.with, { mark: attempt.mark, at, cut: one.find.length, stamp: undefined });
}

/** Refuses what may not stand where the text that is put in meets its neighbours. */
function checkSeams(body: Body, { first, last, before, after }: Place, put: string, path: string, attempt: Attempt): void {
  const [left, right] = [liveText(before), liveText(after)];
  const fault = seamFault(
    textBefore(body, first, NEAR_CHARS - left.length) + left,
    put,
    right + textAfter(body, last, NEAR_CHARS - right.length),
  );
  if (fault === undefined) return;
  attempt.refuse(path, malformed('text', `Where the texts meet there would be ${fault}. Quote more around it.`));
}

/**
 * The cell with its history within its caps. What every view has seen is forgotten first, then the oldest half; views older
 * than that can append, and are refused where a place would have to be found. What the newest view needs stays, or one agent
 * could keep all others out by changes without end: beside its caps a cell holds the history of one round.
 */
function bounded(cell: TextCell, before: TextCell, charsMax: number, attempt: Attempt): TextCell {
  const deadMax = Math.max(charsMax, DEAD_CHARS_MIN);
  const isDue = Math.floor(cell.body.traces / SWEEP_TRACES) > Math.floor(before.body.traces / SWEEP_TRACES);
  if (!isDue && cell.body.dead <= deadMax) return cell;
  const newest = attempt.mark.revision - 1;
  if (cell.floor !== undefined && cell.floor.revision >= newest) return cell;
  const body = forgotten(cell.body, attempt.horizon);
  if (body.traces <= TRACES_MAX && body.dead <= deadMax) return { ...cell, body };
  let [traces, dead] = [0, 0];
  for (const trace of tracesOf(body).toSorted((a, b) => b.revision - a.revision)) {
    traces += 1;
    dead += trace.dead;
    if (traces <= TRACES_MAX / 2 && dead <= deadMax / 2) continue;
    const revision = Math.min(trace.revision, newest);
    return { body: forgotten(body, revision), mark: cell.mark, floor: { agent: '', n: 0, revision } };
  }
  return { ...cell, body };
}
