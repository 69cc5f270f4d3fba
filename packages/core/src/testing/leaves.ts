/**
 * The accepted operations of a play, leaf by leaf, as T5 and T6 look at them.
 */
import type { Json, JsonObject } from '../json.ts';
import { escapeToken } from '../json.ts';
import type { Play } from './histories.ts';
import type { Leaf } from './leaf.ts';
import { kindOf } from './samples/registry.ts';
import type { FieldSpec } from './spec.ts';

/** Per round after the genesis, in canonical order, what its accepted proposals did to which leaf. */
export function leavesByRound(played: Play): readonly (readonly Leaf[])[] {
  const reads = new Map<string, number>();
  return played.rounds.slice(1).map((round, i) => {
    const leaves: Leaf[] = [];
    for (const { admitted, verdict } of round.sealed.decided) {
      const { proposal } = admitted;
      const read = Math.max(proposal.base.revision, reads.get(proposal.agent) ?? 0);
      reads.set(proposal.agent, read);
      if (verdict.kind !== 'committed') continue;
      const outcomes = verdict.outcomes ?? {};
      for (const [name, intent] of Object.entries(proposal.patch)) {
        const spec = played.state.specs[name] as FieldSpec;
        leavesOf(spec, [name], intent as JsonObject, { proposal, outcomes, revision: i + 1, read }, leaves);
      }
    }
    return leaves;
  });
}

/** True for the path itself and all below it. */
export function isBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`);
}

/** What stands at these tokens; `undefined` when nothing does. */
export function at(json: Json, tokens: readonly string[]): Json | undefined {
  let value: Json | undefined = json;
  for (const token of tokens) value = typeof value === 'object' && value !== null ? (value as JsonObject)[token] : undefined;
  return value;
}

type Whose = Pick<Leaf, 'proposal' | 'outcomes' | 'revision' | 'read'>;

function leavesOf(spec: Leaf['spec'], tokens: readonly string[], intent: JsonObject, whose: Whose, into: Leaf[]): void {
  const parts = spec === 'drop' ? undefined : kindOf(spec).parts?.(spec, intent, whose.proposal);
  if (parts === undefined) into.push({ spec, tokens, path: `/${tokens.map(escapeToken).join('/')}`, intent, ...whose });
  else for (const part of parts) leavesOf(part.spec, [...tokens, ...part.tokens], part.verbs, whose, into);
}
