/**
 * Stored histories: every one that ever broke a promise is replayed first, and one for each kind of grade B shows that its
 * value depends on the cut.
 *
 * Numbers of sample states up to 47 stay what they are. A history on a later one is stored with the specs of its state in
 * the number's place, as those numbers move with every new kind.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { CutCase } from './cut-freedom.ts';
import type { History } from './histories.ts';

/** `promise` names the rule that it once broke; `seed` decides orders and batches, as in the property. */
export type StoredHistory = { readonly note: string; readonly promise: string; readonly history: History; readonly seed: number };

/** A history of a kind of grade B that ends in two values. */
export type StoredCutCase = { readonly note: string; readonly case: CutCase };

/** Every `core-*.json` of a folder, which holds a history, by name. */
export function storedHistories(folder: URL): readonly (StoredHistory & { readonly name: string })[] {
  return stored<StoredHistory>(folder, 'core-');
}

/** Every `cuts-*.json` of a folder, by name. */
export function storedCutCases(folder: URL): readonly (StoredCutCase & { readonly name: string })[] {
  return stored<StoredCutCase>(folder, 'cuts-');
}

function stored<T>(folder: URL, prefix: string): readonly (T & { readonly name: string })[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .sort()
    .map((name) => ({ name, ...(JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as T) }));
}
