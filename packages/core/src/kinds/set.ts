/**
 * `set`: add-wins (observed-remove) set.
 *
 * An element carries the marks of the adds that nobody has removed; a remove deletes only the marks it has seen, so an add
 * that it did not know survives it. No tombstones: a remove can only have seen sealed marks, and a late duplicate add is
 * stopped by its dot. Source: Shapiro et al. 2011, "A comprehensive study of CRDTs", §3.3.5. SPEC: SET1-SET5.
 */
import type { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { decodeMark, encodeMark, summed } from '../dot.ts';
import { OplusError } from '../error.ts';
import type { Attempt, Field, FieldKind } from '../field-kind.ts';
import { isOnceEach, readList, readVerbs, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen } from '../json.ts';
import { malformed, outOfBounds, superseded } from '../refusal.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieSorted, trieWith, trieWithout } from '../trie.ts';
import { samplesOf } from '../value-samples.ts';
import { valueType } from '../value-type.ts';
import { setView } from './collection-view.ts';
import type { SetView } from './collection-view.ts';

/** `cap` is the largest number of elements; what would exceed it is refused. */
export type SetOptions = { readonly cap: number };

export type SetIntent<T> = { readonly add?: readonly T[]; readonly remove?: readonly T[] };

/** An add-wins set of values. Elements are equal when their canonical JSON is. */
export function set<T extends Json>(of: z.ZodType<T>, options: SetOptions): Field<SetView<T>, SetIntent<T>> {
  const type = valueType(of, 'set');
  const { cap } = options;
  checkCap('set', cap);
  const kind: FieldKind<ElementSet, SetOp> = {
    name: 'set',
    grade: { letter: 'B', why: 'adds and removes commute (A); when the cap is reached the first adds in the log get the room' },
    bytesMax: 2 + cap * (type.bytesMax + 1),
    verbs: VERBS,
    summary: `at most ${cap} different values; a remove deletes what it saw`,
    empty: (born) => ({ live: emptyTrie(), mark: born }),
    read: (intent, path, complain) => {
      const verbs = readVerbs(intent, 'set', VERBS, path, complain);
      if (verbs === undefined) return undefined;
      const add = readList(type, verbs['add'], 'set', `${path}/add`, complain);
      const remove = readList(type, verbs['remove'], 'set', `${path}/remove`, complain);
      if (add === undefined || remove === undefined) return undefined;
      return isOnceEach([...add, ...remove].map(canonical), 'set', path, complain) ? { add, remove } : undefined;
    },
    weigh: (op) => op.add.length + op.remove.length,
    erases: (op) => op.remove.length,
    fold: (cell, op, path, attempt) => fold(cap, cell, op, path, attempt),
    withoutEcho: (_, op) => (op.add.length + op.remove.length === 0 ? undefined : op),
    write: (op) => ({
      ...(op.add.length === 0 ? {} : { add: op.add }),
      ...(op.remove.length === 0 ? {} : { remove: op.remove }),
    }),
    newest: (cell) => cell.mark,
    view: (cell) => setView(cell.live, (element) => element.value),
    json: (cell) => trieSorted(cell.live).map(([, element]) => element.value),
    encode: (cell) =>
      `{"items":[${trieSorted(cell.live)
        .map(([, element]) => encodeElement(element))
        .join()}],"mark":${encodeMark(cell.mark)}}`,
    decode,
    digest: (cell, sha256) => leafDigest(`["${trieDigest(cell.live, encodeElement, sha256)}",${encodeMark(cell.mark)}]`, sha256),
    valueSchema: () => ({ type: 'array', items: type.jsonSchema, maxItems: cap }),
    assign: (cell, change, path, complain) => {
      const now = trieSorted(cell.live).map(([, element]) => element.value);
      const wanted = changed(now, change) ?? [];
      if (!Array.isArray(wanted)) {
        complain(path, malformed('set', 'A set takes a list of values.', wanted));
        return undefined;
      }
      return setAssigned(now, wanted as readonly Json[]);
    },
    samples: () => {
      const values = samplesOf(type.jsonSchema, 2);
      return [...values.map((value) => ({ add: [value] })), { remove: values.slice(0, 1) }];
    },
    modelSchema: () => {
      const list = { type: 'array', items: type.jsonSchema };
      return strictObject({ add: list, remove: list });
    },
    fromModel: withoutNulls,
    declaration: () => ({ kind: 'set', cap, of: type.jsonSchema }),
  };
  return kind;
}

/** Throws `SCHEMA_INVALID` unless the cap is a whole number of at least 1. */
export function checkCap(kind: string, cap: number): void {
  if (!Number.isSafeInteger(cap) || cap < 1) {
    throw new OplusError('SCHEMA_INVALID', `${kind} has no cap`, { hint: 'Give the largest count: { cap: 64 }.' });
  }
}

/** The adds and removes that lead from one list of values to another; `undefined` when none do. */
export function setAssigned(now: readonly Json[], wanted: readonly Json[]): Json | undefined {
  const [have, want] = [now, wanted].map((values) => new Map(values.map((value) => [canonical(value), value])));
  const add = [...(want as Map<string, Json>)].filter(([key]) => have?.has(key) !== true).map(([, value]) => value);
  const remove = [...(have as Map<string, Json>)].filter(([key]) => want?.has(key) !== true).map(([, value]) => value);
  if (add.length + remove.length === 0) return undefined;
  return { ...(add.length === 0 ? {} : { add }), ...(remove.length === 0 ? {} : { remove }) };
}

type Element = { readonly value: Json; readonly marks: readonly Mark[] };
type ElementSet = { readonly live: Trie<Element>; readonly mark: Mark | undefined };
type SetOp = { readonly add: readonly Json[]; readonly remove: readonly Json[] };

const VERBS = ['add', 'remove'];

function fold(cap: number, cell: ElementSet, op: SetOp, path: string, attempt: Attempt): ElementSet {
  let live = cell.live;
  for (const [at, value] of op.remove.entries()) live = removed(live, value, `${path}/remove/${at}`, attempt);
  for (const [at, value] of op.add.entries()) {
    const key = canonical(value);
    const element = trieAt(live, key);
    if (element !== undefined) attempt.note(`${path}/add/${at}`, { kind: 'unchanged' });
    const unseen = element?.marks.filter((mark) => !attempt.sees(mark)) ?? [];
    live = trieWith(live, key, { value, marks: [...unseen, attempt.mark] });
  }
  if (live.size > cap && live.size > cell.live.size) {
    attempt.refuse(
      path,
      outOfBounds('set', cell.live.size, { add: op.add.length }, `At most ${cap} elements; remove some first.`),
    );
    return cell;
  }
  return live === cell.live ? cell : { live, mark: summed(cell.mark, attempt.mark) };
}

function removed(live: Trie<Element>, value: Json, path: string, attempt: Attempt): Trie<Element> {
  const key = canonical(value);
  const element = trieAt(live, key);
  if (element === undefined) {
    attempt.note(path, { kind: 'unchanged' });
    return live;
  }
  const unseen = element.marks.filter((mark) => !attempt.sees(mark));
  if (unseen.length === 0) return trieWithout(live, key);
  attempt.note(path, superseded(unseen[0]?.agent ?? '', value));
  return unseen.length === element.marks.length ? live : trieWith(live, key, { value, marks: unseen });
}

function encodeElement(element: Element): string {
  return `[${canonical(element.value)},[${element.marks.map(encodeMark).join()}]]`;
}

function decode(stored: Json): ElementSet {
  const cell = stored as JsonObject;
  let live = emptyTrie<Element>();
  for (const item of cell['items'] as readonly (readonly [Json, readonly Json[]])[]) {
    const [value, marks] = item;
    live = trieWith(live, canonical(value), { value: frozen(value), marks: marks.flatMap((mark) => decodeMark(mark) ?? []) });
  }
  return { live, mark: decodeMark(cell['mark']) };
}
