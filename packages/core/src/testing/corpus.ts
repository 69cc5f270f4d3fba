/**
 * Stored counterexamples of histories: every one that was ever found is replayed first.
 *
 * Numbers of sample states up to 47 stay what they are. A history on a later one is stored with the specs of its state in
 * the number's place, as those numbers move with every new kind.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { History } from './histories.ts';

/** `promise` names the rule that it once broke; `seed` decides orders and batches, as in the property. */
export type StoredHistory = { readonly note: string; readonly promise: string; readonly history: History; readonly seed: number };

/** Every `*.json` of a folder that holds a history, by name. */
export function storedHistories(folder: URL): readonly (StoredHistory & { readonly name: string })[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith('core-') && name.endsWith('.json'))
    .sort()
    .map((name) => ({ name, ...(JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as StoredHistory) }));
}
