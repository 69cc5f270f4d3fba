/**
 * `log`: appended entries, of which the last `keep` are kept.
 *
 * In `commit` order readers see a stable prefix; in `stamp` order a late entry is placed by its stamp, so the result does
 * not depend on the cut into rounds. Keep-last-k is a homomorphism in both: trimming once at the seal gives what trimming
 * after every append would. With `id`, an entry whose id is already there is skipped, so an echoed list does not double;
 * the appender is told when the entry that stands has other content. Entries stand in an ordered map, ids in a trie, so an
 * append costs O(log keep) with its digest. SPEC: KLG1-KLG9.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import { fault, fieldFrom } from '../fault.ts';
import type { Attempt, Field, FieldKind, Grade } from '../field-kind.ts';
import { COUNT, typeWith } from '../field-options.ts';
import { readList, readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen, sameJson } from '../json.ts';
import type { Ordered } from '../ordered.ts';
import { orderedDigest, orderedEntries, orderedFirst, orderedOf, orderedSize, orderedWith, orderedWithout } from '../ordered.ts';
import { malformed, outOfBounds, superseded } from '../refusal.ts';
import { integerSortKey, stampSortKey } from '../sort-key.ts';
import type { Stamp } from '../stamp.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieWith, trieWithout } from '../trie.ts';
import { samplesOfType } from '../value-samples.ts';

/**
 * `keep` newest entries stay. `id` names the property (or `"self"` for the whole value) by which entries are known.
 * `overflow` says what happens when more come: the oldest fall off (the default), the append is refused, or the oldest move to
 * an artefact, which whoever leads stores by its digest.
 */
export type LogOptions = {
  readonly keep: number;
  readonly order?: 'commit' | 'stamp';
  readonly id?: string;
  readonly overflow?: 'keep-last' | 'reject' | 'spill';
};

/**
 * `dropped` counts the entries that fell off the old end. `spilled` is the digest of the newest artefact of a log that spills:
 * canonical JSON `{ before, entries }`, where `before` is the digest of the artefact before it, or null.
 */
export type LogView<T> = { readonly entries: readonly T[]; readonly dropped: number; readonly spilled: string | null };

export type LogIntent<T> = { readonly append: readonly T[] };

/** Appended entries. An `id` that is not `self` names a required property of the entries. */
export function log<T extends Json>(of: z.ZodType<T>, options: LogOptions): Field<LogView<T>, LogIntent<T>> {
  return fieldFrom(() => logOf(of, options));
}

const OPTIONS = z.object({
  keep: COUNT,
  order: z.enum(['commit', 'stamp']).optional(),
  id: z.string().optional(),
  overflow: z.enum(['keep-last', 'reject', 'spill']).optional(),
});

function logOf(of: z.ZodType<Json>, options: LogOptions): FieldKind<LogCell, LogOp> {
  const type = typeWith(of, 'log', 'Use log(type, { keep: 100 }), with order, id and overflow if needed.', OPTIONS, options);
  const { keep, id, order = 'commit', overflow = 'keep-last' } = options;
  const required = type.jsonSchema['required'];
  if (id !== undefined && id !== 'self' && !(Array.isArray(required) && required.includes(id)))
    throw fault(`log: entries need not have a property ${id}`, 'id names a required property of the entries, or is "self".');
  const kind: FieldKind<LogCell, LogOp> = {
    name: 'log',
    grade: gradeOf({ order, overflow, hasId: id !== undefined }),
    bytesMax: 2 + keep * (type.bytesMax + 1),
    verbs: ['append'],
    ...(overflow === 'spill' ? { spills: true } : {}),
    summary: overflow === 'reject' ? `at most ${keep} appended entries, then no more` : `the last ${keep} appended entries`,
    empty: (born) => cellOf(undefined, emptyTrie(), { dropped: 0, spilled: null, mark: born }),
    read: (intent, path, complain) => {
      const read = readOneVerb(intent, 'log', ['append'], path, complain);
      const append = read === undefined ? undefined : readList(type, read.value, 'log', `${path}/append`, complain);
      return append === undefined ? undefined : { append };
    },
    weigh: (op) => op.append.length,
    erases: () => 0,
    aims: (cell, _, path) => [[path, valuesOf(cell).slice(-AIMED)]],
    fold,
    withoutEcho: (_, op) => (op.append.length === 0 ? undefined : op),
    write: (op) => ({ append: op.append }),
    settle: (cell, path, settling) => {
      let { entries, ids } = cell;
      const surplus: Json[] = [];
      for (let first = orderedFirst(entries); first !== undefined && orderedSize(entries) > keep; first = orderedFirst(entries)) {
        const [key, { value, stamp, at }] = first;
        settling.evict(`${path}/append/${at}`, stamp);
        entries = orderedWithout(entries, key);
        ids = trieWithout(ids, idText(value));
        surplus.push(value);
      }
      if (surplus.length === 0) return cell;
      const artefact = canonical({ before: cell.spilled, entries: surplus });
      const spilled = overflow === 'spill' ? settling.spill(path, artefact) : null;
      return cellOf(entries, ids, { dropped: cell.dropped + surplus.length, spilled, mark: cell.mark });
    },
    newest: (cell) => cell.mark,
    view: (cell) => ({
      get entries() {
        return valuesOf(cell);
      },
      dropped: cell.dropped,
      spilled: cell.spilled,
    }),
    json: valuesOf,
    encode,
    decode,
    digest: (cell, sha256) => leafDigest(`["${orderedDigest(cell.entries, encodeEntry, sha256)}",${restOf(cell)}]`, sha256),
    valueSchema: () => ({ type: 'array', items: type.jsonSchema, maxItems: keep }),
    assign: (cell, change, path, complain) => {
      const now = valuesOf(cell);
      const wanted = changed(now, change);
      const isLonger = Array.isArray(wanted) && now.every((value, i) => sameJson(value, (wanted as readonly Json[])[i]));
      if (!isLonger) {
        complain(path, malformed('log', 'A log is only appended to: give the entries that stand, then the new ones.', wanted));
        return undefined;
      }
      const append = (wanted as readonly Json[]).slice(now.length);
      return append.length === 0 ? undefined : { append };
    },
    samples: () => samplesOfType(type, 3).map((value) => ({ append: [value] })),
    modelSchema: () => strictObject({ append: { type: 'array', items: type.jsonSchema } }),
    fromModel: withoutNulls,
    declaration: () => ({
      kind: 'log',
      keep,
      order,
      ...(id === undefined ? {} : { id }),
      ...(overflow === 'keep-last' ? {} : { overflow }),
      of: type.jsonSchema,
    }),
  };
  return kind;

  function fold(cell: LogCell, op: LogOp, path: string, attempt: Attempt): LogCell {
    let { entries, ids } = cell;
    for (const [at, value] of op.append.entries()) {
      const known = trieAt(ids, idText(value));
      if (known !== undefined) {
        attempt.note(
          `${path}/append/${at}`,
          sameJson(known.value, value) ? { kind: 'unchanged' } : superseded(known.stamp.agent, known.value),
        );
        continue;
      }
      const entry: Entry = { value, stamp: attempt.stamp, at, text: undefined };
      entries = orderedWith(entries, keyOf(entry, cell.dropped + orderedSize(entries)), entry);
      if (id !== undefined) ids = trieWith(ids, idText(value), entry);
    }
    if (overflow === 'reject' && orderedSize(entries) > keep) {
      const hint = `At most ${keep} entries; what is there stays.`;
      attempt.refuse(path, outOfBounds('log', orderedSize(cell.entries), { append: op.append.length }, hint));
      return cell;
    }
    return entries === cell.entries ? cell : cellOf(entries, ids, { ...cell, mark: affirmed(cell.mark, attempt.mark) });
  }

  function decode(stored: Json): LogCell {
    const cell = stored as JsonObject;
    const dropped = cell['dropped'] as number;
    const entries = (cell['entries'] as readonly StoredEntry[]).map(
      ([value, depth, priority, spin, agent, n, at], index): readonly [string, Entry] => {
        const entry = { value: frozen(value), stamp: { depth, priority, spin, agent, n }, at, text: undefined };
        return [keyOf(entry, dropped + index), entry];
      },
    );
    const known = id === undefined ? [] : entries;
    const ids = known.reduce((trie, [, entry]) => trieWith(trie, idText(entry.value), entry), emptyTrie<Entry>());
    const spilled = (cell['spilled'] ?? null) as string | null;
    return cellOf(orderedOf(entries), ids, { dropped, spilled, mark: decodeMark(cell['mark']) });
  }

  /** The key at which an entry stands: by its place since the first append of all, or by its stamp. */
  function keyOf(entry: Entry, place: number): string {
    return order === 'commit' ? integerSortKey(place) : `${stampSortKey(entry.stamp)}${integerSortKey(entry.at)}`;
  }

  /** By what an entry is known. Without `id` no entry is known by anything. */
  function idText(value: Json): string {
    if (id === undefined) return '';
    return canonical(id === 'self' ? value : ((value as JsonObject)[id] as Json));
  }
}

/** `text` is a memo of the canonical form. */
type Entry = { readonly value: Json; readonly stamp: Stamp; readonly at: number; text: string | undefined };
type StoredEntry = readonly [Json, number, number, number, string, number, number];
/** `ids` finds an entry by its id. `values` is a memo: the cell is never changed otherwise. */
type LogCell = {
  readonly entries: Ordered<Entry>;
  readonly ids: Trie<Entry>;
  readonly dropped: number;
  readonly spilled: string | null;
  readonly mark: Mark | undefined;
  values: readonly Json[] | undefined;
};
type LogOp = { readonly append: readonly Json[] };

function gradeOf(given: { order: 'commit' | 'stamp'; overflow: LogOptions['overflow']; hasId: boolean }): Grade {
  if (given.order === 'commit') return { letter: 'B', why: 'entries stand in the order of the log' };
  if (given.overflow === 'spill')
    return { letter: 'B', why: 'which entries leave together for an artefact is decided by the log' };
  if (given.overflow === 'reject') return { letter: 'B', why: 'the first appends in the log get the room' };
  if (given.hasId) return { letter: 'B', why: 'of two entries with one id the first in the log stays' };
  return { letter: 'A', why: 'the last entries by stamp are the same in any order' };
}

/** How many of its newest entries a log shows to an author whose view is too old. */
const AIMED = 3;

function cellOf(entries: Ordered<Entry>, ids: Trie<Entry>, rest: Pick<LogCell, 'dropped' | 'spilled' | 'mark'>): LogCell {
  const { dropped, spilled, mark } = rest;
  return { entries, ids, dropped, spilled, mark, values: undefined };
}

/** The values in order, made once for a cell and frozen: rules and programs are handed them without a copy. */
function valuesOf(cell: LogCell): readonly Json[] {
  cell.values ??= Object.freeze(Array.from(orderedEntries(cell.entries), ([, entry]) => entry.value));
  return cell.values;
}

function encode(cell: LogCell): string {
  const entries = Array.from(orderedEntries(cell.entries), ([, entry]) => encodeEntry(entry));
  const spilled = cell.spilled === null ? '' : `,"spilled":"${cell.spilled}"`;
  return `{"dropped":${cell.dropped},"entries":[${entries.join()}],"mark":${encodeMark(cell.mark)}${spilled}}`;
}

/** All but the entries, for the digest. */
function restOf({ dropped, spilled, mark }: LogCell): string {
  return `${dropped},${encodeMark(mark)}${spilled === null ? '' : `,"${spilled}"`}`;
}

function encodeEntry(entry: Entry): string {
  const { depth, priority, spin, agent, n } = entry.stamp;
  entry.text ??= `[${canonical(entry.value)},${depth},${priority},${spin},"${agent}",${n},${entry.at}]`;
  return entry.text;
}
