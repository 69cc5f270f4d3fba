/**
 * What rules and programs read in the cells of a state: views of fields, and the fields that are computed from them.
 */
import type { FieldKind } from './field-kind.ts';
import { leastTrust, summed, trustedTo } from './dot.ts';
import type { Mark } from './dot.ts';
import type { Json } from './json.ts';
import { sameJson } from './json.ts';
import { derivedCell } from './kinds/derived.ts';
import type { Computed } from './kinds/derived.ts';
import { readReduced } from './laws/reduced-state.ts';
import type { StateSchema } from './state-schema.ts';

/** The views of some fields of a state, settled, as rules read them. `inherited` is what other names give. */
export function viewsOf(
  schema: StateSchema,
  cells: readonly unknown[],
  reads: readonly number[],
  inherited: object = Object.prototype,
): { readonly [name: string]: unknown } {
  const views = Object.create(inherited) as { [name: string]: unknown };
  for (const index of reads) {
    const kind = schema.kinds[index] as FieldKind;
    const cell = cells[index];
    views[schema.names[index] as string] = kind.view(
      kind.settle === undefined ? cell : kind.settle(cell, '', { evict: ignore, spill: (_, text) => schema.sha256(text) }),
    );
  }
  return views;
}

/** Cells of every field before any write. */
export function initialCells(schema: StateSchema): readonly unknown[] {
  const cells = schema.kinds.map((kind) => kind.empty(undefined));
  return computeAfter(schema, cells, allFields(schema)).cells;
}

/** Cells with what is computed from the changed fields brought up to date, and the indexes of the fields that this changed. */
export type Recomputed = {
  readonly cells: readonly unknown[];
  readonly changed: readonly number[];
  /** The first field that could not be computed, with what is wrong; its own words stay out of the log. */
  readonly fault?: { readonly index: number; readonly hint: string };
};

/**
 * Computes the derived fields that read one of `changed`. One that gets another value bears `mark`, trusted no more than what it
 * is computed from; without a mark it is as at the start.
 */
export function computeAfter(
  schema: StateSchema,
  cells: readonly unknown[],
  changed: readonly number[],
  mark?: Mark,
): Recomputed {
  let after: unknown[] | undefined;
  const recomputed: number[] = [];
  for (const { index, reads, computed } of schema.computed) {
    if (!reads.some((read) => changed.includes(read))) continue;
    const value = computedValue(computed, viewsOf(schema, cells, reads));
    if (typeof value === 'string') return { cells, changed: [], fault: { index, hint: value } };
    const kind = schema.kinds[index] as FieldKind;
    if (sameJson(kind.json(cells[index]), value.json)) continue;
    after ??= cells.slice();
    after[index] = derivedCell(value.json, mark === undefined ? mark : computedMark(schema, cells, { index, reads }, mark));
    recomputed.push(index);
  }
  return { cells: after ?? cells, changed: recomputed };
}

function computedMark(
  { kinds }: StateSchema,
  cells: readonly unknown[],
  { index, reads }: { readonly index: number; readonly reads: readonly number[] },
  mark: Mark,
): Mark {
  const newest = (at: number): Mark | undefined => (kinds[at] as FieldKind).newest(cells[at]);
  return trustedTo(summed(newest(index), mark), leastTrust(reads.map(newest)));
}

/** The value as JSON; a sentence when there is none that a state may hold. */
function computedValue(computed: Computed, views: { readonly [name: string]: unknown }): { readonly json: Json } | string {
  try {
    const read = readReduced(computed.type, computed.compute(views));
    return read.ok ? { json: read.value } : `The computed value ${read.fault.message}.`;
  } catch {
    return 'It cannot be computed: its function threw.';
  }
}

/** The indexes of all fields. */
export function allFields(schema: StateSchema): readonly number[] {
  return schema.names.map((_, i) => i);
}

function ignore(): void {}
