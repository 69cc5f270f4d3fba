/**
 * Whose word a value is: the place that a path leads to, and who changed it last.
 *
 * SPEC: PRV1-PRV3.
 */
import { TRUST_MAX } from './dot.ts';
import type { FieldKind, Traversable } from './field-kind.ts';
import { pointerTokens } from './json.ts';
import type { Space } from './space.ts';
import type { StateSchema } from './state-schema.ts';

/**
 * Who changed a value last, by which of its proposals, at which revision, and how far it is trusted (0 to 100). `agent` is
 * empty for what the system did: a lease that ran out.
 */
export type Provenance = { readonly agent: string; readonly n: number; readonly revision: number; readonly trust: number };

/**
 * Whose word stands at a path: a field, a key, a row, a cell, an element of a set. `undefined` when nobody has changed it, or
 * nothing is there. O(log n) in what it passes.
 */
export function provenanceOf(space: Space, path: string): Provenance | undefined {
  const place = placeOf(space.schema, space.cells, path);
  const mark = place?.isWhole === true ? place.kind.newest(place.cell) : undefined;
  if (mark === undefined) return undefined;
  return { agent: mark.agent, n: mark.n, revision: mark.revision, trust: mark.trust ?? TRUST_MAX };
}

/**
 * What a path leads to; the nearest thing above where it leads on into something without parts (then it is not `isWhole`);
 * `undefined` when it names no field.
 */
export function placeOf(
  schema: StateSchema,
  cells: readonly unknown[],
  path: string,
): { readonly kind: Traversable; readonly cell: unknown; readonly isWhole: boolean } | undefined {
  const [name, ...tokens] = pointerTokens(path) ?? [];
  const index = name === undefined ? undefined : schema.indexOf.get(name);
  if (index === undefined) return undefined;
  let kind: Traversable = schema.kinds[index] as FieldKind;
  let cell: unknown = cells[index];
  for (const token of tokens) {
    const below = kind.child?.(cell, token);
    if (below === undefined) return { kind, cell, isWhole: false };
    ({ kind, cell } = below);
  }
  return { kind, cell, isWhole: true };
}
