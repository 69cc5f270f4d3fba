/**
 * T5, no lost update, as a check of a play: every accepted operation is visible in the state that its round led to, or was
 * replaced by one that saw it or was judged from its result, or was reported `superseded`, `evicted` or `over`.
 *
 * It looks at patches, verdicts and values alone: no marks, no vectors of the core. What this means for one kind is said by
 * the hooks of its sample (sample-kind.ts).
 */
import type { JsonObject } from '../json.ts';
import { stateJson } from '../space.ts';
import type { Space } from '../space.ts';
import type { Play } from './histories.ts';
import { saw } from './leaf.ts';
import type { Leaf } from './leaf.ts';
import { at, isBelow, leavesByRound } from './leaves.ts';
import type { Count } from './sample-kind.ts';
import { kindOf } from './samples/registry.ts';
import type { FieldSpec } from './spec.ts';

/** What is lost in a play, in words; `undefined` when nothing is. */
export function lostUpdate(played: Play): string | undefined {
  /** What a later write must have seen before it replaces it, by path: the newest writer of a register, say. */
  const writers = new Map<string, Leaf>();
  for (const [round, leaves] of leavesByRound(played).entries()) {
    const revision = round + 1;
    const before = stateJson(played.spaces[revision - 1] as Space);
    const after = stateJson(played.spaces[revision] as Space);
    for (const [i, leaf] of leaves.entries()) {
      const lost = replacedUnseen(leaf, writers) ?? invisible(leaf, leaves.slice(i + 1), after);
      if (lost !== undefined) return `round ${revision}, ${leaf.proposal.agent} ${leaf.proposal.n}, ${leaf.path}: ${lost}`;
    }
    const miscounted = miscount(leaves, before, after);
    if (miscounted !== undefined) return `round ${revision}: ${miscounted}`;
  }
  return undefined;
}

/** Whether the operation put aside one that it had not seen, without a word. */
function replacedUnseen(leaf: Leaf, writers: Map<string, Leaf>): string | undefined {
  if (leaf.spec !== 'drop') return kindOf(leaf.spec).replacedUnseen?.(leaf.spec, leaf, writers);
  if (leaf.outcomes[leaf.path] !== undefined) return undefined;
  for (const [key, writer] of writers) {
    if (!isBelow(key, leaf.path)) continue;
    if (!saw(leaf, writer)) return `drops what ${writer.proposal.agent} ${writer.proposal.n} wrote unseen`;
    writers.delete(key);
  }
  return undefined;
}

/** Whether the operation can be seen in the state after its round, or something in that round rightly took its place. */
function invisible(leaf: Leaf, later: readonly Leaf[], after: JsonObject): string | undefined {
  const { outcomes, path, spec } = leaf;
  const kind = outcomes[path]?.kind;
  if (spec === 'drop' || kind === 'superseded' || kind === 'unchanged') return undefined;
  const sample = kindOf(spec);
  if (sample.isQuiet?.(spec, leaf) === true) return undefined;
  const above = later.filter(
    (other) => other.spec === 'drop' && other.outcomes[other.path] === undefined && isBelow(path, other.path),
  );
  if (above.length > 0)
    return above.every((drop) => saw(drop, leaf)) ? undefined : 'dropped in its own round by one that did not see it';
  const rivals = later.filter((other) => other.path === path);
  return sample.invisible?.(spec, leaf, rivals, at(after, leaf.tokens));
}

/** Whether the counters that a round touched moved by the sum of what was accepted. */
function miscount(leaves: readonly Leaf[], before: JsonObject, after: JsonObject): string | undefined {
  const sums = new Map<string, number>();
  for (const leaf of leaves) {
    if (leaf.spec === 'drop') {
      if (leaf.outcomes[leaf.path] === undefined) for (const path of sums.keys()) if (isBelow(path, leaf.path)) sums.delete(path);
      continue;
    }
    const count = kindOf(leaf.spec).count?.(leaf.spec, leaf.intent);
    if (count === undefined) continue;
    const isDropped = leaves.some((other) => other.spec === 'drop' && isBelow(leaf.path, other.path));
    const known = sums.get(leaf.path) ?? (isDropped ? undefined : countAt(before, leaf, count)) ?? count.start;
    sums.set(leaf.path, known + count.by);
  }
  for (const [path, sum] of sums) {
    const leaf = leaves.find((one) => one.path === path) as Leaf & { readonly spec: FieldSpec };
    if (leaves.some((other) => other.spec === 'drop' && isBelow(path, other.path))) continue;
    const count = kindOf(leaf.spec).count?.(leaf.spec, leaf.intent);
    const now = countAt(after, leaf, count) ?? count?.start;
    if (now !== sum) return `${path} is ${String(now)}, the accepted increments make ${sum}`;
  }
  return undefined;
}

function countAt(json: JsonObject, { tokens }: Leaf, count: Count | undefined): number | undefined {
  return at(json, count?.within === undefined ? tokens : [...tokens, count.within]) as number | undefined;
}
