/**
 * Projections: the bounded view that one agent's model sees, made from state and never written back.
 *
 * No revision, dot, vector or fencing number ever appears in one: kinds show values only. SPEC: PRJ1-PRJ3.
 */
import { OplusError } from './error.ts';
import type { JsonObject } from './json.ts';
import { canonical } from './json.ts';
import type { Space } from './space.ts';
import { stateJson } from './space.ts';
import type { Fields, Views } from './state-schema.ts';
import type { StateOf } from './state-type.ts';
import { allFields, viewsOf } from './views.ts';

/** For whom a projection is made. `focus` is the observation of this step: what the slice should be about. */
export type Reader = { readonly agent: string; readonly role: string; readonly focus: string };

/** A pure function from the views of all fields to what one reader sees. */
export type Projection<F extends Fields = Fields> = (views: Views<F>, reader: Reader) => JsonObject;

/** The views of all fields, for programs that read a space: `viewsOfSpace<typeof todo.fields>(space)`. */
export function viewsOfSpace<F extends Fields = Fields>(space: Space): Views<F> {
  return viewsOf(space.schema, space.cells, allFields(space.schema)) as Views<F>;
}

/** The whole state as JSON, typed by the fields of its definition: `stateOf<typeof todo.fields>(space)`. O(size). */
export function stateOf<F extends Fields>(space: Space): StateOf<F> {
  return stateJson(space) as unknown as StateOf<F>;
}

/** The canonical text of a projection; without one, of the whole state. Throws `USAGE` above `charsMax` UTF-16 units. */
export function project(space: Space, reader: Reader, charsMax: number, projection?: Projection): string {
  const seen = projection === undefined ? stateJson(space) : projection(viewsOfSpace(space), reader);
  const text = canonical(seen);
  if (text.length <= charsMax) return text;
  throw new OplusError('USAGE', `the projection for ${reader.agent} has ${text.length} characters, ${charsMax} are allowed`, {
    hint: 'Project a slice of the state instead of all of it.',
  });
}
