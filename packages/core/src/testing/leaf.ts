/**
 * Accepted operations as T5 looks at them: patches, verdicts and values alone, no marks and no vectors of the core.
 */
import type { Outcomes } from '../issue.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical } from '../json.ts';
import type { Proposal } from '../proposal.ts';
import type { FieldSpec } from './spec.ts';

/** One accepted operation on one leaf, or the drop of a key or row. `tokens` lead to it in the state's JSON. */
export type Leaf = {
  readonly spec: FieldSpec | 'drop';
  readonly tokens: readonly string[];
  readonly path: string;
  readonly intent: JsonObject;
  readonly proposal: Proposal;
  readonly outcomes: Outcomes;
  readonly revision: number;
  /** The newest revision that its agent had read by then: an older view does not make an agent forget. */
  readonly read: number;
};

/** Whether the agent of the later operation had seen the earlier one. */
export function saw(later: Leaf, earlier: Leaf): boolean {
  const { agent, n } = later.proposal;
  return earlier.revision <= later.read || (earlier.proposal.agent === agent && earlier.proposal.n < n);
}

/** What stands under a verb that takes a list; nothing when the verb is not used. */
export function listed({ intent }: Leaf, verb: string): readonly Json[] {
  return (intent[verb] ?? []) as readonly Json[];
}

/** True when the verdict has a word on each item under the verb. */
export function isToldOfAll(leaf: Leaf, verb: string): boolean {
  return listed(leaf, verb).every((_, i) => leaf.outcomes[`${leaf.path}/${verb}/${i}`] !== undefined);
}

/** True when an equal value is among the items. */
export function isAmong(items: Json | undefined, value: Json): boolean {
  return ((items ?? []) as readonly Json[]).some((item) => canonical(item) === canonical(value));
}
