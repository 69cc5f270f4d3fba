/**
 * `document`: working notes without a schema, under a byte cap.
 *
 * The one verb is a merge patch (RFC 7396), judged on the view that its proposer had. Values that met unseen stand side by
 * side as `contested` until a merge that saw them goes there; what was set stays beside an erasure that had not seen it. What
 * stands is what no change that saw it has touched, in any order; the cap alone depends on the log. SPEC: DOC1-DOC18.
 */
import {
  canonical,
  changed,
  fault,
  fieldFrom,
  isJsonObject,
  ISSUES_MAX,
  leafDigest,
  leastTrust,
  malformed,
  outOfBounds,
  pointer,
  readOneVerb,
  readStrictJson,
  sameJson,
  stale,
  strictObject,
  summed,
  superseded,
  trustedTo,
  utf8Bytes,
  withoutNulls,
} from '@oplus/core';
import type { Aim, Attempt, Change, Complain, Field, FieldKind, Json, JsonObject, Traversable } from '@oplus/core';
import { decodeCell, emptyCell, encodeCell, newestAt, pastOf } from './document-cell.ts';
import type { DocumentCell, HistoryLimits } from './document-cell.ts';
import { History, isCurrent } from './history.ts';
import { difference, erasuresOf, isSound, patchBetween, writesOf } from './merge-patch.ts';
import type { Writes } from './merge-patch.ts';
import { isBelow, shownAt, sightOf, standing, viewOf } from './registers.ts';
import type { DocumentView, Registers } from './registers.ts';
import type { AutomergeModule } from './replica.ts';

/** `bytesMax` caps the canonical JSON of the value and what is contested, in UTF-8 bytes: 64 to 1,048,576. */
export type DocumentOptions = { readonly bytesMax: number };

/** A merge patch: objects merge, null erases, all else is put in place whole. */
export type DocumentIntent = { readonly merge: JsonObject };

/** Makes a document field. One with a cap outside its range does not load. */
export type DocumentKind = (options: DocumentOptions) => Field<DocumentView, DocumentIntent>;

/** History is cut above 256 changes, or above 16 KiB and four times the cap: to 64 changes and half of that at most. */
export function historyLimitsOf(bytesMax: number): HistoryLimits {
  return { changesMax: 256, keep: 64, bytesMax: 16_384 + 4 * bytesMax };
}

/** The kind on a loaded engine. `limitsOf` is there for tests of history. */
export function documentKind(
  automerge: AutomergeModule,
  limitsOf: (bytesMax: number) => HistoryLimits = historyLimitsOf,
): DocumentKind {
  const history = new History(automerge);
  return (options) =>
    fieldFrom(() => {
      const bytesMax: unknown = options?.bytesMax;
      if (typeof bytesMax === 'number' && Number.isSafeInteger(bytesMax) && bytesMax >= BYTES_LEAST && bytesMax <= BYTES_MOST)
        return kindOf(history, limitsOf(bytesMax), bytesMax);
      throw fault('document has no cap', `Give the largest size: { bytesMax: 16384 }, from ${BYTES_LEAST} to ${BYTES_MOST}.`);
    });
}

type DocumentOp = { readonly merge: JsonObject };

const VERBS = ['merge'];
const BYTES_LEAST = 64;
const BYTES_MOST = 1_048_576;

/** How much larger the places and texts of what stands may be, written out, than the document. */
const SPREAD_MAX = 8;

function kindOf(history: History, limits: HistoryLimits, bytesMax: number): FieldKind<DocumentCell, DocumentOp> {
  const views = new WeakMap<DocumentCell, DocumentView>();
  const view = (cell: DocumentCell): DocumentView => {
    const known = views.get(cell) ?? viewOf(history.registers(cell));
    views.set(cell, known);
    return known;
  };
  return {
    name: 'document',
    grade: {
      letter: 'B',
      why: `merges give the same in any order (A); at ${bytesMax} bytes the first in the log get the room, and views that lag by more than ${limits.keep} changes may be refused`,
    },
    bytesMax,
    verbs: VERBS,
    summary: `notes as free JSON of at most ${bytesMax} bytes; a merge patch sets keys, null erases`,
    empty: emptyCell,
    read,
    weigh: () => 1,
    erases: (op) => erasuresOf(op.merge),
    aims,
    fold,
    withoutEcho: (cell, op) => {
      const merge = difference(op.merge, sightOf(history.registers(cell)));
      return merge === undefined ? undefined : { merge };
    },
    write: (op) => ({ merge: op.merge }),
    newest: (cell) => cell.mark,
    child: (cell, key) =>
      key === 'value' ? partOf({ view: view(cell), registers: history.registers(cell), cell }, '') : undefined,
    contested: (cell, path) => Object.keys(view(cell).contested).map((place) => `${path}/value${place}`),
    view,
    json: view,
    encode: encodeCell,
    decode: decodeCell,
    digest: (cell, sha256) => leafDigest(encodeCell(cell), sha256),
    valueSchema: () => ({
      type: 'object',
      properties: {
        value: { type: 'object' },
        contested: { type: 'object', additionalProperties: { type: 'array', items: {} } },
      },
      required: ['value', 'contested'],
      additionalProperties: false,
    }),
    assign: (cell, change, path, complain) => assign(view(cell), change, path, complain),
    samples: () => [{ merge: { a: 1 } }, { merge: { b: { c: 'x' } } }, { merge: { a: [1] } }, { merge: { a: null } }],
    modelSchema: () => strictObject({ merge: { type: 'string', description: 'A JSON merge patch (RFC 7396), as JSON text.' } }),
    fromModel,
    declaration: () => ({ kind: 'document', bytesMax }),
  };

  /** The topmost keys of the merge. */
  function aims(cell: DocumentCell, op: DocumentOp, path: string): readonly Aim[] {
    const { value } = view(cell);
    const keys = Object.keys(op.merge);
    if (keys.length === 0) return [[path, value]];
    return keys.map((key) => [path + pointer('value', key), Object.hasOwn(value, key) ? value[key] : undefined]);
  }

  function fold(given: DocumentCell, op: DocumentOp, path: string, attempt: Attempt): DocumentCell {
    const cell = history.compacted(given, limits, attempt);
    if (attempt.base < cell.floor.missed) {
      for (const [place, value] of aims(given, op, path)) attempt.refuse(place, stale('document', value));
      return given;
    }
    const past = pastOf(cell.changes, attempt);
    const before = history.registers(cell);
    const sight = isCurrent(cell, past) ? sightOf(before) : history.sight(cell, past);
    const merge = difference(op.merge, sight);
    if (merge === undefined) {
      attempt.note(path, { kind: 'unchanged' });
      return given;
    }
    const writes = writesOf(merge, sight);
    const after = history.with(cell, past, writes, summed(cell.mark, attempt.mark));
    const registers = history.registers(after);
    const shown = view(after);
    const want = utf8Bytes(canonical(shown));
    if (want > bytesMax || spreadOf(registers) > SPREAD_MAX * bytesMax) {
      const hint = `At most ${bytesMax} bytes, contested values included; erase or shorten something first.`;
      const have = utf8Bytes(canonical(view(given)));
      attempt.refuse(
        path,
        outOfBounds('document', have, want, want > bytesMax ? hint : `${hint} Its paths are too long for that.`),
      );
      history.forget(after);
      return given;
    }
    tell(merge, writes, registers, shown, path, attempt);
    return after;
  }
}

function read(intent: Json, path: string, complain: Complain): DocumentOp | undefined {
  const verb = readOneVerb(intent, 'document', VERBS, path, complain);
  if (verb === undefined) return undefined;
  if (!isJsonObject(verb.value)) {
    complain(
      `${path}/merge`,
      malformed('document', 'merge takes an object: what to set, and null for what to erase.', verb.value),
    );
    return undefined;
  }
  return isSound(verb.value, `${path}/merge`, complain) ? { merge: verb.value } : undefined;
}

/** Tells the proposer where its values contend, and what it could not erase. */
function tell(
  merge: JsonObject,
  writes: Writes,
  registers: Registers,
  shown: DocumentView,
  path: string,
  attempt: Attempt,
): void {
  const contested = [...writes]
    .filter(([place, text]) => text !== undefined && standing(registers.get(place) ?? []).length > 1)
    .map(([place]) => place);
  for (const place of contested.slice(0, ISSUES_MAX)) attempt.note(`${path}/value${place}`, { kind: 'contested' });
  if (contested.length > ISSUES_MAX) attempt.note(path, { kind: 'contested' });
  const kept = erasedPlaces(merge, '').filter((place) => registers.has(place));
  for (const place of kept.slice(0, ISSUES_MAX)) {
    const by = standing(registers.get(place) ?? [])[0]?.author.mark.agent ?? '';
    attempt.note(`${path}/value${place}`, superseded(by, shownAt(shown, place)));
  }
}

function erasedPlaces(merge: JsonObject, above: string): readonly string[] {
  return Object.entries(merge).flatMap(([key, value]) => {
    const place = above + pointer(key);
    return value === null ? [place] : isJsonObject(value) ? erasedPlaces(value, place) : [];
  });
}

/** All that is kept of what stands, in characters. */
function spreadOf(registers: Registers): number {
  let chars = 0;
  for (const [place, writes] of registers) for (const { text } of writes) chars += place.length + text.length;
  return chars;
}

/** What stands in a cell, in the three forms that a place in it is looked up in. */
type Ground = { readonly view: DocumentView; readonly registers: Registers; readonly cell: DocumentCell };

/**
 * A place in a document, for premises and provenance; `undefined` when nothing is shown there. It is trusted as the least of what
 * stands at it and below.
 */
function partOf(ground: Ground, place: string): { kind: Traversable; cell: unknown } | undefined {
  const { view, registers, cell } = ground;
  if (place !== '' && shownAt(view, place) === null) return undefined;
  const isPart = (one: string): boolean => one === place || isBelow(one, place);
  const kind: Traversable = {
    newest: () => {
      const mark = newestAt(cell, isPart);
      const standingHere = [...registers].flatMap(([one, writes]) => (isPart(one) ? writes : []));
      return mark === undefined ? mark : trustedTo(mark, leastTrust(standingHere.map(({ author }) => author.mark)));
    },
    child: (_, key) => partOf(ground, place + pointer(key)),
  };
  return { kind, cell };
}

function assign(shown: DocumentView, change: Change, path: string, complain: Complain): Json | undefined {
  const wanted = changed(shown, change) ?? { ...shown, value: {} };
  const value = isJsonObject(wanted) ? wanted['value'] : undefined;
  const rest = isJsonObject(wanted) ? Object.entries(wanted).filter(([key]) => key !== 'value') : [];
  const isLeftAlone = rest.every(([key, part]) => key === 'contested' && (sameJson(part, shown.contested) || sameJson(part, {})));
  if (!isJsonObject(value ?? {}) || !isLeftAlone || !isJsonObject(wanted)) {
    complain(path, malformed('document', 'Of what it shows, value alone can be set, to an object: {merge: {...}}.', wanted));
    return undefined;
  }
  const merge = patchBetween(shown.value, (value ?? {}) as JsonObject);
  return merge === undefined ? undefined : { merge };
}

/** The patch as it stands in the text; a text that is no JSON is left for `read` to refuse. */
function fromModel(answer: Json): Json {
  const verbs = withoutNulls(answer);
  const merge = isJsonObject(verbs) ? verbs['merge'] : undefined;
  if (!isJsonObject(verbs) || typeof merge !== 'string') return verbs;
  const parsed = readStrictJson(merge);
  return parsed.ok ? { ...verbs, merge: parsed.value } : verbs;
}
