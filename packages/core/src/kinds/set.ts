/**
 * `set`: add-wins (observed-remove) set.
 *
 * An element carries the marks of the adds that nobody has removed; a remove deletes only the marks it has seen, so an add
 * that it did not know survives it. No tombstones: a remove can only have seen sealed marks, and a late duplicate add is
 * stopped by its dot. Source: Shapiro et al. 2011, "A comprehensive study of CRDTs", §3.3.5. SPEC: SET1-SET6.
 */
import type { z } from 'zod';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Attempt, Field, FieldKind } from '../field-kind.ts';
import { cappedType } from '../field-options.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical } from '../json.ts';
import { outOfBounds, superseded } from '../refusal.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieWith, trieWithout } from '../trie.ts';
import { cardinalityOf } from '../value-samples.ts';
import { setView } from './collection-view.ts';
import type { SetView } from './collection-view.ts';
import type { Element } from './element.ts';
import {
  decodeElements,
  ELEMENT,
  elementAt,
  elementValues,
  encodeElement,
  encodeElements,
  unseenOf,
  withAdd,
} from './element.ts';
import type { ValueLists } from './value-lists.ts';
import { assignedLists, listedAims, valueLists } from './value-lists.ts';

/** `cap` is the largest number of elements; what would exceed it is refused. */
export type SetOptions = { readonly cap: number };

export type SetIntent<T> = { readonly add?: readonly T[]; readonly remove?: readonly T[] };

/** An add-wins set of values. Elements are equal when their canonical JSON is. */
export function set<T extends Json>(of: z.ZodType<T>, options: SetOptions): Field<SetView<T>, SetIntent<T>> {
  return fieldFrom(() => setOf(of, options));
}

function setOf(of: z.ZodType<Json>, options: SetOptions): FieldKind<ElementSet, ValueLists> {
  const type = cappedType(of, 'set', 'Use set(type, { cap: 64 }).', options);
  const { cap } = options;
  const kind: FieldKind<ElementSet, ValueLists> = {
    name: 'set',
    ...valueLists('set', type, VERBS, cap),
    grade:
      cardinalityOf(type.jsonSchema) <= cap
        ? { letter: 'A', why: 'adds and removes commute, and there is room for every value' }
        : { letter: 'B', why: 'adds and removes commute (A); when the cap is reached the first adds in the log get the room' },
    bytesMax: 2 + cap * (type.bytesMax + 1),
    summary: `at most ${cap} different values; a remove deletes what it saw`,
    empty: (born) => ({ live: emptyTrie(), mark: born }),
    aims: (cell, op, path) => listedAims(op, path, (text) => trieAt(cell.live, text) !== undefined),
    fold: (cell, op, path, attempt) => fold(cap, cell, op, path, attempt),
    withoutEcho: (_, op) => (op.add.length + op.remove.length === 0 ? undefined : op),
    newest: (cell) => cell.mark,
    child: (cell, token) => {
      const element = elementAt(cell.live, token);
      return element === undefined ? undefined : { kind: ELEMENT, cell: element };
    },
    view: (cell) => setView(cell.live, (element) => element.value),
    json: (cell) => elementValues(cell.live),
    encode: (cell) => `{"items":${encodeElements(cell.live)},"mark":${encodeMark(cell.mark)}}`,
    decode: (stored) => {
      const { items, mark } = stored as JsonObject;
      return { live: decodeElements(items), mark: decodeMark(mark) };
    },
    digest: (cell, sha256) => leafDigest(`["${trieDigest(cell.live, encodeElement, sha256)}",${encodeMark(cell.mark)}]`, sha256),
    assign: (cell, change, path, complain) => assignedLists('set', VERBS, elementValues(cell.live), change, path, complain),
    declaration: () => ({ kind: 'set', cap, of: type.jsonSchema }),
  };
  return kind;
}

type ElementSet = { readonly live: Trie<Element>; readonly mark: Mark | undefined };

const VERBS = ['add', 'remove'] as const;

function fold(cap: number, cell: ElementSet, op: ValueLists, path: string, attempt: Attempt): ElementSet {
  let live = cell.live;
  for (const [at, value] of op.remove.entries()) live = removed(live, value, `${path}/remove/${at}`, attempt);
  for (const [at, value] of op.add.entries()) {
    const key = canonical(value);
    const element = trieAt(live, key);
    if (element !== undefined) attempt.note(`${path}/add/${at}`, { kind: 'unchanged' });
    live = trieWith(live, key, withAdd(element, value, attempt));
  }
  if (live.size > cap && live.size > cell.live.size) {
    attempt.refuse(
      path,
      outOfBounds('set', cell.live.size, { add: op.add.length }, `At most ${cap} elements; remove some first.`),
    );
    return cell;
  }
  return live === cell.live ? cell : { live, mark: affirmed(cell.mark, attempt.mark) };
}

function removed(live: Trie<Element>, value: Json, path: string, attempt: Attempt): Trie<Element> {
  const key = canonical(value);
  const element = trieAt(live, key);
  if (element === undefined) {
    attempt.note(path, { kind: 'unchanged' });
    return live;
  }
  const unseen = unseenOf(element.marks, attempt);
  if (unseen.length === 0) return trieWithout(live, key);
  attempt.note(path, superseded(unseen[0]?.agent ?? '', value));
  return unseen.length === element.marks.length ? live : trieWith(live, key, { value, marks: unseen });
}
