/**
 * The outer shape of a state definition, for authors who write plain JavaScript: what TypeScript says at compile time is
 * checked again here, so that a slip is a clear error and never a crash somewhere inside. SPEC: SCH14.
 */
import { z } from 'zod';
import { OplusError } from './error.ts';
import { pointer } from './json.ts';

const HINTS: { readonly [part: string]: string } = {
  name: 'Give the state a name of 1 to 64 characters.',
  version: 'Give a whole number of at least 1.',
  fields: 'Name at least one field: { fields: { done: counter() } }.',
  roles: 'Roles are { worker: { priority: 0 } }; leave them out for one role called agent.',
  invariants: 'A rule is { reads: [...], check: (context) => true | "what is wrong" }.',
  transitions: 'A rule is { reads: [...], check: (context) => true | "what is wrong" }.',
  protections: 'A protection is { reads: [...], check: (context) => true | "what is wrong" }.',
};

const object = z.record(z.string(), z.looseObject({}));
const shape = z.looseObject({
  name: z.string().min(1).max(64),
  version: z.number(),
  fields: z.record(z.string(), z.unknown()),
  roles: object.refine((roles) => Object.keys(roles).length > 0, 'no roles: nobody could join').optional(),
  invariants: object.optional(),
  transitions: object.optional(),
  protections: object.optional(),
});

/** Throws `SCHEMA_INVALID` at the part that has another shape. */
export function checkShape(definition: unknown): void {
  const parsed = shape.safeParse(definition);
  if (parsed.success) return;
  const path = (parsed.error.issues[0]?.path ?? []).map(String);
  const part = path[0];
  throw new OplusError(
    'SCHEMA_INVALID',
    part === undefined ? 'a state definition is an object' : `${path.join('.')} of the definition has another shape`,
    {
      path: pointer(...path),
      hint: (part === undefined ? undefined : HINTS[part]) ?? 'Use defineState({ name, version, fields }).',
    },
  );
}
