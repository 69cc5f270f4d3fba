/**
 * The outer shape of a state definition, for authors who write plain JavaScript: what TypeScript says at compile time is
 * checked again here, so that a slip is a clear error and never a crash somewhere inside. SPEC: SCH14.
 */
import { z } from 'zod';
import type { Fault } from './error.ts';
import { pointer } from './json.ts';
import { sentence } from './type-words.ts';

/** The parts of a definition that have another shape. */
export function shapeFaults(definition: unknown): readonly Fault[] {
  const parsed = shape.safeParse(definition);
  return (parsed.error?.issues ?? []).map((issue) => {
    const path = issue.path.map(String);
    const hint = path[0] === undefined ? undefined : HINTS[path[0]];
    return {
      path: pointer(...path),
      rule: hint === undefined ? 'a state definition is an object' : sentence(issue),
      hint: hint ?? 'Use defineState({ name, version, fields }).',
    };
  });
}

const RULE = 'A rule is { reads: [...], check: (context) => true | "what is wrong" }.';

const HINTS: { readonly [part: string]: string } = {
  name: 'Give the state a name of 1 to 64 characters.',
  version: 'Give a whole number of at least 1.',
  horizon: 'Give a whole number of at least 1.',
  agentsMax: 'Give a whole number of at least 1.',
  fields: 'Name at least one field: { fields: { done: counter() } }.',
  roles: 'Roles are { worker: { priority: 0 } }; leave them out for one role called agent.',
  invariants: RULE,
  transitions: RULE,
  protections: RULE.replace('rule', 'protection'),
};

const count = z.int().min(1);
const record = z.record(z.string(), z.unknown());
const isFilled = (record: object): boolean => Object.keys(record).length > 0;

const shape = z.looseObject({
  name: z.string().min(1).max(64),
  version: count,
  fields: record.refine(isFilled, 'a state without fields'),
  roles: record.refine(isFilled, 'no roles: nobody could join').optional(),
  invariants: record.optional(),
  transitions: record.optional(),
  protections: record.optional(),
  horizon: count.optional(),
  agentsMax: count.optional(),
});
