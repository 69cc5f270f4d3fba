/**
 * The JSON Schemas of everything that travels or is stored, made from the shapes that the code itself checks with.
 *
 * As a program it writes them: `npm run schemas`. A change there comes with a protocol version and a line in
 * packages/protocol/src/version.ts.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryShape, proposalShape, recordShape } from '@oplus/core';
import {
  helloShape,
  leaveShape,
  leftShape,
  passShape,
  PROTOCOL_VERSION,
  refusalShape,
  rehearsalShape,
  verdictMessageShape,
  verdictShape,
  welcomeShape,
} from '@oplus/protocol';
import { z } from 'zod';
import { ROOT } from './source.ts';

/** One schema file: its name in `schemas/` and its text. */
export type SchemaFile = { readonly name: string; readonly text: string };

/** Every schema file, in the order of the messages' way. */
export function schemaFiles(): readonly SchemaFile[] {
  return SHAPES.map(({ name, says, shape }) => {
    const { $schema, ...rest } = z.toJSONSchema(shape, { target: 'draft-2020-12', io: 'input' });
    const schema = { $schema, $id: schemaId(name), title: `oplus ${name}`, description: says, ...rest };
    return { name: `${name}.schema.json`, text: `${JSON.stringify(schema, null, 2)}\n` };
  });
}

/** The `$id` of a schema: a name, not an address. */
export function schemaId(name: string): string {
  return `urn:oplus:${PROTOCOL_VERSION}:${name}`;
}

const SHAPES: readonly { readonly name: string; readonly says: string; readonly shape: z.ZodType }[] = [
  { name: 'hello', says: 'Worker to coordinator: asks for an identity in a space.', shape: helloShape },
  { name: 'welcome', says: 'Coordinator to worker: an identity, and the verdict of its newest proposal.', shape: welcomeShape },
  { name: 'proposal', says: 'Worker to coordinator: a patch on a view, with its dot.', shape: proposalShape },
  { name: 'pass', says: 'Worker to coordinator: nothing to propose on this revision.', shape: passShape },
  { name: 'verdict', says: 'Coordinator to worker: the answer to one dot.', shape: verdictMessageShape },
  {
    name: 'rehearsal',
    says: 'Coordinator to worker: the verdict that a proposal would get, which leaves no trace.',
    shape: rehearsalShape,
  },
  {
    name: 'refusal',
    says: 'Coordinator to worker: a message that was turned away before it became anything.',
    shape: refusalShape,
  },
  { name: 'leave', says: 'Worker to coordinator: the session ends.', shape: leaveShape },
  { name: 'left', says: 'Coordinator to worker: the session has ended.', shape: leftShape },
  { name: 'decision', says: 'A verdict as it stands in a verdict message and in an entry.', shape: verdictShape },
  { name: 'entry', says: 'One sealed round of one space: what a record of the log holds.', shape: entryShape },
  {
    name: 'record',
    says: 'What one append to the log stores: the entries of every space that had proposals waiting.',
    shape: recordShape,
  },
];

if (import.meta.main) {
  const folder = join(ROOT, 'schemas');
  for (const name of readdirSync(folder)) if (name.endsWith('.schema.json')) rmSync(join(folder, name));
  for (const { name, text } of schemaFiles()) writeFileSync(join(folder, name), text);
}
