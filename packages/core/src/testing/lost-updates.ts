/**
 * T5, no lost update, as a check of a play: every accepted operation is visible in the state that its round led to, or was
 * replaced by one that saw it or was judged from its result, or was reported `superseded`, `evicted` or `over`.
 *
 * It looks at patches, verdicts and values alone: no marks, no vectors of the core.
 */
import type { Json, JsonObject } from '../json.ts';
import { canonical, escapeToken } from '../json.ts';
import type { Outcomes } from '../issue.ts';
import type { Proposal } from '../proposal.ts';
import { stateJson } from '../space.ts';
import type { Space } from '../space.ts';
import type { Play } from './histories.ts';
import type { FieldSpec } from './spec.ts';

/** One accepted operation on one leaf, or the drop of a key or row. `tokens` lead to it in the state's JSON. */
type Leaf = {
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

/** What is lost in a play, in words; `undefined` when nothing is. */
export function lostUpdate(played: Play): string | undefined {
  /** The newest writer of each register, and of each element of a set. */
  const writers = new Map<string, Leaf>();
  const reads = new Map<string, number>();
  for (const [revision, round] of played.rounds.entries()) {
    if (revision === 0) continue;
    const leaves: Leaf[] = [];
    for (const { admitted, verdict } of round.sealed.decided) {
      const { proposal } = admitted;
      const read = Math.max(proposal.base.revision, reads.get(proposal.agent) ?? 0);
      reads.set(proposal.agent, read);
      if (verdict.kind !== 'committed') continue;
      const outcomes = verdict.outcomes ?? {};
      for (const [name, intent] of Object.entries(proposal.patch)) {
        leavesOf(
          played.state.specs[name] as FieldSpec,
          [name],
          intent as JsonObject,
          { proposal, outcomes, revision, read },
          leaves,
        );
      }
    }
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

type Whose = Pick<Leaf, 'proposal' | 'outcomes' | 'revision' | 'read'>;

function leavesOf(spec: FieldSpec, tokens: readonly string[], intent: JsonObject, whose: Whose, into: Leaf[]): void {
  const leaf = (leafSpec: FieldSpec | 'drop', at: readonly string[], verbs: JsonObject): void => {
    into.push({ spec: leafSpec, tokens: at, path: `/${at.map(escapeToken).join('/')}`, intent: verbs, ...whose });
  };
  if (spec.kind !== 'map' && spec.kind !== 'records') return leaf(spec, tokens, intent);
  for (const key of (intent['drop'] ?? []) as readonly string[]) leaf('drop', [...tokens, key], {});
  const rows = (intent['add'] ?? []) as readonly JsonObject[];
  const children: (readonly [string, JsonObject])[] = rows.map((row, at) => [
    `${whose.proposal.agent}-${whose.proposal.n}-${at}`,
    row,
  ]);
  for (const verb of ['at', 'put', 'patch'])
    children.push(...(Object.entries((intent[verb] ?? {}) as JsonObject) as [string, JsonObject][]));
  for (const [key, change] of children) {
    if (spec.kind === 'map') leavesOf(spec.of, [...tokens, key], change, whose, into);
    else
      for (const [name, verbs] of Object.entries(change))
        leavesOf(spec.cells[name] as FieldSpec, [...tokens, key, name], verbs as JsonObject, whose, into);
  }
}

/** Whether the operation put aside one that it had not seen, without a word. */
function replacedUnseen(leaf: Leaf, writers: Map<string, Leaf>): string | undefined {
  const outcome = leaf.outcomes[leaf.path];
  if (leaf.spec === 'drop') {
    if (outcome !== undefined) return undefined;
    for (const [key, writer] of writers) {
      if (!isBelow(key, leaf.path)) continue;
      if (!saw(leaf, writer)) return `drops what ${writer.proposal.agent} ${writer.proposal.n} wrote unseen`;
      writers.delete(key);
    }
    return undefined;
  }
  const { kind } = leaf.spec;
  if (kind === 'cas' || kind === 'lww') {
    if (outcome?.kind === 'superseded') return kind === 'cas' ? 'cas never supersedes' : undefined;
    if (outcome?.kind === 'unchanged') return undefined;
    const writer = writers.get(leaf.path);
    writers.set(leaf.path, leaf);
    if (writer === undefined || saw(leaf, writer)) return undefined;
    const over = outcome?.kind === 'merged' ? outcome.over : undefined;
    return over?.agent === writer.proposal.agent && over.n === writer.proposal.n
      ? undefined
      : `replaces ${writer.proposal.agent} ${writer.proposal.n} unseen and untold`;
  }
  if (kind === 'set') {
    for (const value of (leaf.intent['add'] ?? []) as readonly Json[])
      writers.set(`${leaf.path}/${canonical(value)}/${leaf.proposal.agent}`, leaf);
    for (const [at, value] of ((leaf.intent['remove'] ?? []) as readonly Json[]).entries()) {
      const isTold = leaf.outcomes[`${leaf.path}/remove/${at}`] !== undefined;
      for (const [key, writer] of writers) {
        if (!key.startsWith(`${leaf.path}/${canonical(value)}/`)) continue;
        if (saw(leaf, writer)) writers.delete(key);
        else if (!isTold) return `removes what ${writer.proposal.agent} ${writer.proposal.n} added unseen`;
      }
    }
  }
  return undefined;
}

/** Whether the operation can be seen in the state after its round, or something in that round rightly took its place. */
function invisible(leaf: Leaf, later: readonly Leaf[], after: JsonObject): string | undefined {
  const { outcomes, path, intent, spec, proposal } = leaf;
  const kindOf = (at: string): string | undefined => outcomes[at]?.kind;
  if (spec === 'drop' || kindOf(path) === 'superseded' || kindOf(path) === 'unchanged') return undefined;
  if (isQuiet(leaf)) return undefined;
  const above = later.filter(
    (other) => other.spec === 'drop' && other.outcomes[other.path] === undefined && isBelow(path, other.path),
  );
  if (above.length > 0)
    return above.every((drop) => saw(drop, leaf)) ? undefined : 'dropped in its own round by one that did not see it';
  const json = at(after, leaf.tokens);
  const rivals = later.filter((other) => other.path === path);
  switch (spec.kind) {
    case 'cas':
    case 'lww':
      return rivals.length > 0 || canonical(json ?? null) === canonical(intent['set'] ?? null) ? undefined : 'is not there';
    case 'max':
      return (json as number) >= (intent['raise'] as number) ? undefined : 'is not there';
    case 'min':
      return (json as number) <= (intent['lower'] as number) ? undefined : 'is not there';
    case 'machine':
      return rivals.length > 0 || json === intent['to'] ? undefined : 'is not there';
    case 'claim': {
      const wanted =
        intent['claim'] === true
          ? proposal.agent
          : intent['handoff'] === undefined
            ? null
            : ((intent['handoff'] as JsonObject)['to'] as Json);
      return rivals.length > 0 || (json as JsonObject)['holder'] === wanted ? undefined : 'is not there';
    }
    case 'set': {
      const isThere = (value: Json): boolean =>
        ((json ?? []) as readonly Json[]).some((item) => canonical(item) === canonical(value));
      const isUndone = (verb: string, value: Json): boolean =>
        rivals.some((rival) =>
          ((rival.intent[verb] ?? []) as readonly Json[]).some((item) => canonical(item) === canonical(value)),
        );
      for (const value of (intent['add'] ?? []) as readonly Json[])
        if (!isThere(value) && !isUndone('remove', value)) return 'an added value is not there';
      for (const [i, value] of ((intent['remove'] ?? []) as readonly Json[]).entries()) {
        if (isThere(value) && kindOf(`${path}/remove/${i}`) === undefined && !isUndone('add', value))
          return 'a removed value is there';
      }
      return undefined;
    }
    case 'log':
      for (const [i, value] of ((intent['append'] ?? []) as readonly Json[]).entries()) {
        if (kindOf(`${path}/append/${i}`) !== undefined) continue;
        if (!((json ?? []) as readonly Json[]).some((entry) => canonical(entry) === canonical(value)))
          return 'an entry is not there, and nobody was told';
      }
      return undefined;
    default:
      return undefined;
  }
}

/** Whether the counters that a round touched moved by the sum of what was accepted. */
function miscount(leaves: readonly Leaf[], before: JsonObject, after: JsonObject): string | undefined {
  const sums = new Map<string, number>();
  for (const leaf of leaves) {
    if (leaf.spec === 'drop') {
      if (leaf.outcomes[leaf.path] === undefined) for (const path of sums.keys()) if (isBelow(path, leaf.path)) sums.delete(path);
      continue;
    }
    if (leaf.spec.kind !== 'counter' && leaf.spec.kind !== 'quota') continue;
    const isDropped = leaves.some((other) => other.spec === 'drop' && isBelow(leaf.path, other.path));
    const known =
      sums.get(leaf.path) ?? (isDropped ? undefined : (at(before, leaf.tokens) as number | undefined)) ?? leaf.spec.start;
    sums.set(leaf.path, known + (leaf.intent['inc'] as number));
  }
  for (const [path, sum] of sums) {
    const leaf = leaves.find((one) => one.path === path) as Leaf;
    if (leaves.some((other) => other.spec === 'drop' && isBelow(path, other.path))) continue;
    const now = at(after, leaf.tokens) ?? (leaf.spec as { readonly start: number }).start;
    if (now !== sum) return `${path} is ${String(now)}, the accepted increments make ${sum}`;
  }
  return undefined;
}

function saw(later: Leaf, earlier: Leaf): boolean {
  const { agent, n } = later.proposal;
  return earlier.revision <= later.read || (earlier.proposal.agent === agent && earlier.proposal.n < n);
}

/** True when the verdict says of each part of the operation that it did nothing, or lost. */
function isQuiet({ intent, outcomes, path, spec }: Leaf): boolean {
  if (spec === 'drop' || (spec.kind !== 'set' && spec.kind !== 'log')) return false;
  const isTold = (verb: string): boolean =>
    ((intent[verb] ?? []) as readonly Json[]).every((_, i) => outcomes[`${path}/${verb}/${i}`] !== undefined);
  return spec.kind === 'log' ? isTold('append') : intent['add'] === undefined && isTold('remove');
}

/** True for the path itself and all below it. */
function isBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`);
}

function at(json: Json, tokens: readonly string[]): Json | undefined {
  let value: Json | undefined = json;
  for (const token of tokens) value = typeof value === 'object' && value !== null ? (value as JsonObject)[token] : undefined;
  return value;
}
