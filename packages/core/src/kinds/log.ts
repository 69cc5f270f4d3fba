/**
 * `log`: appended entries, of which the last `keep` are kept.
 *
 * In `commit` order readers see a stable prefix; in `stamp` order a late entry is placed by its stamp, so the result does
 * not depend on the cut into rounds. Keep-last-k is a homomorphism in both: trimming once at the seal gives what trimming
 * after every append would. With `id`, an entry whose id is already there is skipped, so an echoed list does not double;
 * the appender is told when the entry that stands has other content.
 * SPEC: KLG1-KLG6.
 */
import type { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { decodeMark, encodeMark, summed } from '../dot.ts';
import { OplusError } from '../error.ts';
import type { Attempt, Field, FieldKind } from '../field-kind.ts';
import { readList, readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen, isJsonObject, sameJson } from '../json.ts';
import { malformed, superseded } from '../refusal.ts';
import type { Stamp } from '../stamp.ts';
import { compareWin } from '../stamp.ts';
import { samplesOf } from '../value-samples.ts';
import { valueType } from '../value-type.ts';
import { checkCap } from './set.ts';

/** `keep` newest entries stay. `id` names the property (or `"self"` for the whole value) by which entries are known. */
export type LogOptions = { readonly keep: number; readonly order?: 'commit' | 'stamp'; readonly id?: string };

/** `dropped` counts the entries that fell off the old end. */
export type LogView<T> = { readonly entries: readonly T[]; readonly dropped: number };

export type LogIntent<T> = { readonly append: readonly T[] };

/** Throws `SCHEMA_INVALID` when `id` names no property of the entries. */
export function log<T extends Json>(of: z.ZodType<T>, options: LogOptions): Field<LogView<T>, LogIntent<T>> {
  const type = valueType(of, 'log');
  const { keep, id } = options;
  const order = options.order ?? 'commit';
  checkCap('log', keep);
  const required = type.jsonSchema['required'];
  if (id !== undefined && id !== 'self' && !(Array.isArray(required) && required.includes(id))) {
    throw new OplusError('SCHEMA_INVALID', `log: entries need not have a property ${id}`, {
      hint: 'id names a required property of the entries, or is "self".',
    });
  }
  const kind: FieldKind<LogCell, LogOp> = {
    name: 'log',
    grade:
      order === 'stamp' && id === undefined
        ? { letter: 'A', why: 'the last entries by stamp are the same in any order' }
        : {
            letter: 'B',
            why:
              order === 'commit'
                ? 'entries stand in the order of the log'
                : 'of two entries with one id the first in the log stays',
          },
    bytesMax: 2 + keep * (type.bytesMax + 1),
    verbs: ['append'],
    summary: `the last ${keep} appended entries`,
    empty: (born) => ({ entries: [], dropped: 0, mark: born }),
    read: (intent, path, complain) => {
      const read = readOneVerb(intent, 'log', ['append'], path, complain);
      const append = read === undefined ? undefined : readList(type, read.value, 'log', `${path}/append`, complain);
      return append === undefined ? undefined : { append };
    },
    weigh: (op) => op.append.length,
    erases: () => 0,
    fold: (cell, op, path, attempt) => fold(order, id, cell, op, path, attempt),
    withoutEcho: (_, op) => (op.append.length === 0 ? undefined : op),
    write: (op) => ({ append: op.append }),
    settle: (cell, path, evict) => {
      const surplus = cell.entries.length - keep;
      if (surplus <= 0) return cell;
      for (const { stamp, at } of cell.entries.slice(0, surplus)) evict(`${path}/append/${at}`, stamp);
      return { entries: cell.entries.slice(surplus), dropped: cell.dropped + surplus, mark: cell.mark };
    },
    newest: (cell) => cell.mark,
    view: (cell) => ({ entries: cell.entries.map((entry) => entry.value), dropped: cell.dropped }),
    json: (cell) => cell.entries.map((entry) => entry.value),
    encode,
    decode,
    digest: (cell, sha256) => leafDigest(encode(cell), sha256),
    valueSchema: () => ({ type: 'array', items: type.jsonSchema, maxItems: keep }),
    assign: (cell, change, path, complain) => {
      const now = cell.entries.map((entry) => entry.value);
      const wanted = changed(now, change);
      const isLonger = Array.isArray(wanted) && now.every((value, i) => sameJson(value, (wanted as readonly Json[])[i]));
      if (!isLonger) {
        complain(path, malformed('log', 'A log is only appended to: give the entries that stand, then the new ones.', wanted));
        return undefined;
      }
      const append = (wanted as readonly Json[]).slice(now.length);
      return append.length === 0 ? undefined : { append };
    },
    samples: () => samplesOf(type.jsonSchema, 3).map((value) => ({ append: [value] })),
    modelSchema: () => strictObject({ append: { type: 'array', items: type.jsonSchema } }),
    fromModel: withoutNulls,
    declaration: () => ({ kind: 'log', keep, order, ...(id === undefined ? {} : { id }), of: type.jsonSchema }),
  };
  return kind;
}

/** `text` is a memo of the canonical form. */
type Entry = { readonly value: Json; readonly stamp: Stamp; readonly at: number; text: string | undefined };
type LogCell = { readonly entries: readonly Entry[]; readonly dropped: number; readonly mark: Mark | undefined };
type LogOp = { readonly append: readonly Json[] };

function fold(
  order: 'commit' | 'stamp',
  id: string | undefined,
  cell: LogCell,
  op: LogOp,
  path: string,
  attempt: Attempt,
): LogCell {
  const entries = cell.entries.slice();
  for (const [at, value] of op.append.entries()) {
    const known = id === undefined ? undefined : entries.find((entry) => sameJson(idOf(entry.value, id), idOf(value, id)));
    if (known !== undefined) {
      attempt.note(
        `${path}/append/${at}`,
        sameJson(known.value, value) ? { kind: 'unchanged' } : superseded(known.stamp.agent, known.value),
      );
      continue;
    }
    const entry: Entry = { value, stamp: attempt.stamp, at, text: undefined };
    let place = entries.length;
    if (order === 'stamp') while (place > 0 && compareEntries(entries[place - 1] as Entry, entry) > 0) place -= 1;
    entries.splice(place, 0, entry);
  }
  return entries.length === cell.entries.length
    ? cell
    : { entries, dropped: cell.dropped, mark: summed(cell.mark, attempt.mark) };
}

function compareEntries(a: Entry, b: Entry): number {
  return compareWin(a.stamp, b.stamp) || a.at - b.at;
}

function idOf(value: Json, id: string): Json | undefined {
  return id === 'self' ? value : isJsonObject(value) ? value[id] : undefined;
}

function encode(cell: LogCell): string {
  return `{"dropped":${cell.dropped},"entries":[${cell.entries.map(encodeEntry).join()}],"mark":${encodeMark(cell.mark)}}`;
}

function encodeEntry(entry: Entry): string {
  const { depth, priority, spin, agent, n } = entry.stamp;
  entry.text ??= `[${canonical(entry.value)},${depth},${priority},${spin},"${agent}",${n},${entry.at}]`;
  return entry.text;
}

function decode(stored: Json): LogCell {
  const cell = stored as JsonObject;
  const entries = (cell['entries'] as readonly (readonly [Json, number, number, number, string, number, number])[]).map(
    ([value, depth, priority, spin, agent, n, at]): Entry => ({
      value: frozen(value),
      stamp: { depth, priority, spin, agent, n },
      at,
      text: undefined,
    }),
  );
  return { entries, dropped: cell['dropped'] as number, mark: decodeMark(cell['mark']) };
}
