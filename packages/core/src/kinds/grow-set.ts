/**
 * `grow-set`: values are added and stay. The union; only the cap can make order matter. SPEC: GST1-GST5.
 */
import type { z } from 'zod';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Attempt, Field, FieldKind } from '../field-kind.ts';
import { cappedType } from '../field-options.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen } from '../json.ts';
import { outOfBounds } from '../refusal.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieSorted, trieWith } from '../trie.ts';
import { cardinalityOf } from '../value-samples.ts';
import { setView } from './collection-view.ts';
import type { SetView } from './collection-view.ts';
import type { SetOptions } from './set.ts';
import type { ValueLists } from './value-lists.ts';
import { assignedLists, listedAims, valueLists } from './value-lists.ts';

export type GrowSetIntent<T> = { readonly add: readonly T[] };

/** A set of values from which nothing is removed. Grade A when the cap has room for every value of the type. */
export function growSet<T extends Json>(of: z.ZodType<T>, options: SetOptions): Field<SetView<T>, GrowSetIntent<T>> {
  return fieldFrom(() => growSetOf(of, options));
}

function growSetOf(of: z.ZodType<Json>, options: SetOptions): FieldKind<GrownSet, ValueLists> {
  const type = cappedType(of, 'grow-set', 'Use growSet(type, { cap: 64 }).', options);
  const { cap } = options;
  const kind: FieldKind<GrownSet, ValueLists> = {
    name: 'grow-set',
    ...valueLists('grow-set', type, VERBS, cap),
    grade:
      cardinalityOf(type.jsonSchema) <= cap
        ? { letter: 'A', why: 'a union, and there is room for every value' }
        : { letter: 'B', why: 'a union (A); when the cap is reached the first adds in the log get the room' },
    bytesMax: 2 + cap * (type.bytesMax + 1),
    summary: `at most ${cap} different values; they stay`,
    empty: (born) => ({ live: emptyTrie(), mark: born }),
    aims: (cell, op, path) => listedAims(op, path, (text) => trieAt(cell.live, text) !== undefined),
    fold: (cell, op, path, attempt) => fold(cap, cell, op, path, attempt),
    withoutEcho: (cell, op) => {
      const add = op.add.filter((value) => trieAt(cell.live, canonical(value)) === undefined);
      return add.length === 0 ? undefined : { ...op, add };
    },
    newest: (cell) => cell.mark,
    view: (cell) => setView(cell.live, (value) => value),
    json: valuesOf,
    encode: (cell) => `{"items":${canonical(valuesOf(cell))},"mark":${encodeMark(cell.mark)}}`,
    decode: (stored) => {
      const cell = stored as JsonObject;
      let live = emptyTrie<Json>();
      for (const value of cell['items'] as readonly Json[]) live = trieWith(live, canonical(value), frozen(value));
      return { live, mark: decodeMark(cell['mark']) };
    },
    digest: (cell, sha256) => leafDigest(`["${trieDigest(cell.live, canonical, sha256)}",${encodeMark(cell.mark)}]`, sha256),
    assign: (cell, change, path, complain) => assignedLists('grow-set', VERBS, valuesOf(cell), change, path, complain),
    declaration: () => ({ kind: 'grow-set', cap, of: type.jsonSchema }),
  };
  return kind;
}

/** `live` holds each value by its text. */
type GrownSet = { readonly live: Trie<Json>; readonly mark: Mark | undefined };

const VERBS = ['add'] as const;

function fold(cap: number, cell: GrownSet, op: ValueLists, path: string, attempt: Attempt): GrownSet {
  let { live } = cell;
  for (const [at, value] of op.add.entries()) {
    const key = canonical(value);
    if (trieAt(live, key) === undefined) live = trieWith(live, key, value);
    else attempt.note(`${path}/add/${at}`, { kind: 'unchanged' });
  }
  if (live.size > cap && live !== cell.live) {
    attempt.refuse(
      path,
      outOfBounds('grow-set', cell.live.size, { add: op.add.length }, `At most ${cap} values, and they stay.`),
    );
    return cell;
  }
  return live === cell.live ? cell : { live, mark: affirmed(cell.mark, attempt.mark) };
}

function valuesOf(cell: GrownSet): readonly Json[] {
  return trieSorted(cell.live).map(([, value]) => value);
}
