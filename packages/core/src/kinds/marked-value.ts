/**
 * The cell of kinds that hold one value and the mark of its newest change, and nothing else: numbers, states, what a function
 * made.
 */
import type { Mark } from '../dot.ts';
import { decodeMark, encodeMark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import type { FieldKind } from '../field-kind.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen } from '../json.ts';

export type MarkedValue<T extends Json> = { readonly value: T; readonly mark: Mark | undefined };

type Members = 'empty' | 'newest' | 'view' | 'json' | 'encode' | 'decode' | 'digest';

/** What every kind with such a cell has in common. */
export function markedValue<T extends Json>(start: T): Pick<FieldKind<MarkedValue<T>>, Members> {
  return {
    empty: (born) => ({ value: start, mark: born }),
    newest: (cell) => cell.mark,
    view: (cell) => cell.value,
    json: (cell) => cell.value,
    encode,
    decode: (stored) => {
      const { value, mark } = stored as JsonObject;
      return { value: frozen(value as T), mark: decodeMark(mark) };
    },
    digest: (cell, sha256) => leafDigest(encode(cell), sha256),
  };
}

function encode({ value, mark }: MarkedValue<Json>): string {
  return `{"mark":${encodeMark(mark)},"value":${canonical(value)}}`;
}
