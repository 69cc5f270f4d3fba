/**
 * The tasks that are shipped with the command.
 */
import { nearestWord } from '@oplus/agent';
import type { TaskSetup } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import type { StateDefinition } from '@oplus/core';
import { warehouse, warehouseState } from '@oplus/skill-warehouse';

/** A task by name: how it is set up, and the definition of its state. */
export type CatalogueEntry = { readonly name: string; readonly setup: TaskSetup; readonly definition: StateDefinition };

const CATALOGUE: readonly CatalogueEntry[] = [
  { name: 'warehouse', setup: warehouse, definition: warehouseState as unknown as StateDefinition },
];

/** The task of that name. Throws `SKILL_UNKNOWN` with the nearest one. */
export function taskOf(name: string): CatalogueEntry {
  const entry = CATALOGUE.find((one) => one.name === name);
  if (entry !== undefined) return entry;
  const names = CATALOGUE.map((one) => one.name);
  const close = nearestWord(name, names);
  throw new OplusError('SKILL_UNKNOWN', `no skill is called ${name.slice(0, 64)}`, {
    hint: close === undefined ? `The skills are: ${names.join(', ')}.` : `Did you mean ${close}?`,
  });
}
