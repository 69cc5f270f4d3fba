/**
 * `derived`: a value computed from other fields after every fold; nobody writes it.
 *
 * The function is pure and total over the views of the fields that it names. A patch after which it throws, or gives what is
 * not of the declared type, is refused: the state never holds a value that its sources do not explain. It stands at the top
 * of a state and reads no other derived field, so there is no order to get wrong. Its mark is that of the change after which it
 * was another value. SPEC: DRV1-DRV6.
 */
import { z } from 'zod';
import { leafDigest } from '../digest.ts';
import { decodeMark, encodeMark } from '../dot.ts';
import type { Mark } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Field, FieldKind, ViewOf } from '../field-kind.ts';
import { typeWith } from '../field-options.ts';
import { nullable } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen } from '../json.ts';
import type { Refusal } from '../field-kind.ts';
import type { ValueType } from '../value-type.ts';

type Sources = { readonly [name: string]: Field };

/** `from` names the fields that are read, under their names in the state. */
export type DerivedOptions<S extends Sources, T> = {
  readonly from: S;
  readonly compute: (views: { readonly [K in keyof S]: ViewOf<S[K]> }) => T;
};

/** A computed value. Its digest covers type and sources; the function itself is covered by the definition's `version`. */
export function derived<T extends Json, S extends Sources>(type: z.ZodType<T>, options: DerivedOptions<S, T>): Field<T, never> {
  return fieldFrom(() => derivedOf(type, options as DerivedOptions<Sources, Json>) as unknown as Field<T, never>);
}

const OPTIONS = z.object({
  from: z.record(z.string(), z.unknown()),
  compute: z.custom((value) => typeof value === 'function', 'must be a function'),
});
const USAGE = 'Use derived(type, { from: { stock }, compute: ({ stock }) => stock > 0 }).';

function derivedOf(type: z.ZodType<Json>, options: DerivedOptions<Sources, Json>): FieldKind<Derived, never> {
  const of = typeWith(type, 'derived', USAGE, OPTIONS, options);
  const reads = Object.keys(options.from).sort();
  const kind: FieldKind<Derived, never> = {
    name: 'derived',
    grade: { letter: 'A', why: `computed from ${reads.join(', ')} after the fold; as free of order as they are` },
    bytesMax: of.bytesMax,
    verbs: [],
    summary: `computed from ${reads.join(', ')}; not written`,
    computed: { reads, type: of, compute: options.compute as Computed['compute'] },
    empty: () => ({ value: null, mark: undefined }),
    read: (_, path, complain) => {
      complain(path, notWritten(reads));
      return undefined;
    },
    weigh: () => 0,
    erases: () => 0,
    fold: (cell) => cell,
    withoutEcho: () => undefined,
    write: () => ({}),
    newest: (cell) => cell.mark,
    view: (cell) => cell.value,
    json: (cell) => cell.value,
    encode,
    decode: (stored) => {
      const cell = stored as JsonObject;
      return { value: frozen(cell['value'] as Json), mark: decodeMark(cell['mark']) };
    },
    digest: (cell, sha256) => leafDigest(encode(cell), sha256),
    valueSchema: () => of.jsonSchema,
    assign: (_, __, path, complain) => {
      complain(path, notWritten(reads));
      return undefined;
    },
    samples: () => [],
    modelSchema: () => nullable({ type: 'object', properties: {}, required: [], additionalProperties: false }),
    fromModel: (answer) => answer,
    declaration: () => ({ kind: 'derived', from: reads, type: of.jsonSchema }),
  };
  return kind;
}

/** How a field is computed. */
export type Computed = {
  readonly reads: readonly string[];
  readonly type: ValueType;
  compute(views: { readonly [name: string]: unknown }): Json;
};

/** The cell that holds this value. `mark` is that of what made it so; `undefined` at the start. */
export function derivedCell(value: Json, mark: Mark | undefined): unknown {
  return { value, mark };
}

type Derived = { readonly value: Json; readonly mark: Mark | undefined };

function encode(cell: Derived): string {
  return `{"mark":${encodeMark(cell.mark)},"value":${canonical(cell.value)}}`;
}

function notWritten(reads: readonly string[]): Refusal {
  return {
    code: 'derived',
    rule: 'derived',
    recovery: 'change',
    hint: `This is computed; change what it is computed from: ${reads.join(', ')}.`,
  };
}
