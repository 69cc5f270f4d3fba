/**
 * `top-k`: of all added values the k greatest, by a whole number that each of them has.
 *
 * Rank first, then canonical text: a total order on values that never change, so which k are the greatest is the same in any
 * order, and what fell out can never be wanted back: topk(A ∪ B) = topk(topk(A) ∪ topk(B)). So the cell never holds more than
 * k values, and only the telling waits for the seal, when it is known what fell out. SPEC: TOP1-TOP6.
 */
import { z } from 'zod';
import type { Dot, Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import { fault, fieldFrom } from '../fault.ts';
import type { Attempt, Settling, Field, FieldKind } from '../field-kind.ts';
import { COUNT, typeWith } from '../field-options.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen, isJsonObject } from '../json.ts';
import type { Ordered } from '../ordered.ts';
import {
  orderedAt,
  orderedDigest,
  orderedEntries,
  orderedFirst,
  orderedOf,
  orderedSize,
  orderedWith,
  orderedWithout,
} from '../ordered.ts';
import { integerSortKey } from '../sort-key.ts';
import type { JsonSchema } from '../value-type.ts';
import type { ValueLists } from './value-lists.ts';
import { assignedLists, valueLists } from './value-lists.ts';

/** `k` values stay. `by` names the property, a required whole number, of which a greater one is better. */
export type TopKOptions = { readonly k: number; readonly by: string };

export type TopKIntent<T> = { readonly add: readonly T[] };

/** The k greatest values, greatest first. `by` names a required whole number of the values. */
export function topK<T extends Json>(of: z.ZodType<T>, options: TopKOptions): Field<readonly T[], TopKIntent<T>> {
  return fieldFrom(() => topKOf(of, options));
}

function topKOf(of: z.ZodType<Json>, options: TopKOptions): FieldKind<TopCell, ValueLists> {
  const type = typeWith(of, 'top-k', "Use topK(type, { k: 10, by: 'score' }).", OPTIONS, options);
  const { k, by } = options;
  if (!isRequiredInteger(type.jsonSchema, by))
    throw fault(
      `top-k: the values need not have a whole number ${by}`,
      'by names a required property of the values: z.strictObject({ score: z.int().min(0).max(100), ... }).',
    );
  const keyOf = (value: Json): string => `${integerSortKey((value as JsonObject)[by] as number)}${canonical(value)}`;
  const kind: FieldKind<TopCell, ValueLists> = {
    name: 'top-k',
    ...valueLists('top-k', type, VERBS, k),
    grade: { letter: 'A', why: 'the greatest values are the same in any order' },
    bytesMax: 2 + k * (type.bytesMax + 1),
    summary: `the ${k} values of greatest ${by}`,
    empty: (born) => cellOf(undefined, born, undefined),
    fold,
    withoutEcho: (cell, op) => {
      const add = op.add.filter((value) => orderedAt(cell.entries, keyOf(value)) === undefined);
      return add.length === 0 ? undefined : { ...op, add };
    },
    settle,
    newest: (cell) => cell.mark,
    view: valuesOf,
    json: valuesOf,
    encode: (cell) => `{"items":${canonical(valuesOf(cell))},"mark":${encodeMark(cell.mark)}}`,
    decode: (stored) => {
      const cell = stored as JsonObject;
      const items = (cell['items'] as readonly Json[]).toReversed();
      return cellOf(orderedOf(items.map((value) => [keyOf(value), frozen(value)])), decodeMark(cell['mark']), undefined);
    },
    digest: (cell, sha256) =>
      leafDigest(`["${orderedDigest(cell.entries, keySaysAll, sha256)}",${encodeMark(cell.mark)}]`, sha256),
    assign: (cell, change, path, complain) => assignedLists('top-k', VERBS, valuesOf(cell), change, path, complain),
    declaration: () => ({ kind: 'top-k', k, by, of: type.jsonSchema }),
  };
  return kind;

  function fold(cell: TopCell, op: ValueLists, path: string, attempt: Attempt): TopCell {
    let { entries, asked } = cell;
    for (const [at, value] of op.add.entries()) {
      const key = keyOf(value);
      if (orderedAt(entries, key) === undefined) entries = withGreater(entries, key, value);
      else attempt.note(`${path}/add/${at}`, { kind: 'unchanged' });
      asked = { key, at, dot: attempt.mark, before: asked };
    }
    if (asked === cell.asked) return cell;
    return cellOf(entries, entries === cell.entries ? cell.mark : affirmed(cell.mark, attempt.mark), asked);
  }

  function settle(cell: TopCell, path: string, settling: Settling): TopCell {
    if (cell.asked === undefined) return cell;
    for (let one: Asked | undefined = cell.asked; one !== undefined; one = one.before)
      if (orderedAt(cell.entries, one.key) === undefined) settling.evict(`${path}/add/${one.at}`, one.dot);
    return { ...cell, asked: undefined };
  }

  /** With a value that is not there yet, if it is among the k greatest; then without the one that is not any more. */
  function withGreater(entries: Ordered<Json>, key: string, value: Json): Ordered<Json> {
    const least = orderedFirst(entries);
    if (least === undefined || orderedSize(entries) < k) return orderedWith(entries, key, value);
    return key < least[0] ? entries : orderedWith(orderedWithout(entries, least[0]), key, value);
  }
}

/** Who added what since the last seal, the latest first: who is to be told when it falls out. */
type Asked = { readonly key: string; readonly at: number; readonly dot: Dot; readonly before: Asked | undefined };

/** `asked` is empty in every sealed state. `values` is a memo: the cell is never changed otherwise. */
type TopCell = {
  readonly entries: Ordered<Json>;
  readonly mark: Mark | undefined;
  readonly asked: Asked | undefined;
  values: readonly Json[] | undefined;
};

const VERBS = ['add'] as const;
const OPTIONS = z.object({ k: COUNT, by: z.string() });

function cellOf(entries: Ordered<Json>, mark: Mark | undefined, asked: Asked | undefined): TopCell {
  return { entries, mark, asked, values: undefined };
}

/** The values, greatest first, made once for a cell and frozen: rules and programs are handed them without a copy. */
function valuesOf(cell: TopCell): readonly Json[] {
  cell.values ??= Object.freeze(Array.from(orderedEntries(cell.entries), ([, value]) => value).reverse());
  return cell.values;
}

/** A key holds the whole value, so a digest needs nothing beside it. */
function keySaysAll(): string {
  return 'null';
}

function isRequiredInteger(schema: JsonSchema, name: string): boolean {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !required.includes(name) || !isJsonObject(properties)) return false;
  const property = properties[name];
  return isJsonObject(property) && property['type'] === 'integer';
}
