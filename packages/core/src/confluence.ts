/**
 * Invariant confluence: can two patches, each fine on the same state, together break a declared invariant?
 *
 * An invariant for which they cannot is held without asking the others (Bailis et al. 2014, "Coordination Avoidance in
 * Database Systems"); one for which they can is what the seal is for: of two such patches the second is refused. States are
 * searched breadth-first through patches of the declared types, so the pair that is shown is among the smallest, and then at the
 * bounds that one patch reaches when it is sent again and again. A search, no proof: it says how far it looked. SPEC: CFL1-CFL4.
 */
import type { FieldKind } from './field-kind.ts';
import type { Json, JsonObject } from './json.ts';
import { canonical } from './json.ts';
import type { Sealed } from './seal.ts';
import type { Space } from './space.ts';
import { stateJson, valuesDigest } from './space.ts';
import { proposeAtOnce, stageOf } from './stage.ts';
import type { CompiledRule, StateSchema } from './state-schema.ts';

/**
 * `states` and `pairs` say how much was tried: `confluent` where no pair broke the invariant, `not measured` where no two patches
 * could be found that are fine on one state.
 */
export type Confluence = { readonly invariant: string; readonly states: number; readonly pairs: number } & (
  | { readonly verdict: 'confluent' }
  | { readonly verdict: 'not measured' }
  | { readonly verdict: 'not confluent'; readonly counterexample: Clash }
);

/** Two patches that are each fine on `state`, and what the second is told when both come at once. */
export type Clash = {
  readonly state: JsonObject;
  readonly one: JsonObject;
  readonly other: JsonObject;
  readonly hint: string;
};

/** Most states looked at for one invariant when no number is given. */
const STATES = 200;

/** Most patches tried in one state. */
const PATCHES = 64;

/** Tries every declared invariant on up to `states` states each. Cost: up to some two thousand seals a state. */
export function confluenceOf(schema: StateSchema, states: number = STATES): readonly Confluence[] {
  return schema.rules.filter((rule) => rule.sort === 'invariant').map((rule) => search(schema, rule, states));
}

/** How many patches are sent again and again, how often at most, and how many of the last states are looked at. */
const CHAINS = 16;
const CHAIN_STEPS = 1_024;
const EDGE = 3;

const AGENTS = ['ana', 'bo'] as const;

function search(schema: StateSchema, rule: CompiledRule, statesMax: number): Confluence {
  const patches = patchesOf(schema, rule);
  const seen = new Set<string>();
  const queue: Space[] = [born(schema)];
  const edges = patches.slice(0, CHAINS).flatMap((patch) => edgeOf(queue[0] as Space, patch));
  let states = 0;
  let pairs = 0;
  for (const space of chained(queue, edges)) {
    const fine = patches.flatMap((patch): readonly (readonly [JsonObject, Space])[] => {
      const sealed = propose(space, [patch]);
      return sealed.decided[0]?.verdict.kind === 'committed' ? [[patch, sealed.space]] : [];
    });
    states += 1;
    for (const [i, [one]] of fine.entries()) {
      for (const [other] of fine.slice(i)) {
        pairs += 1;
        const hint = refusalBy(rule, propose(space, [one, other]));
        if (hint === undefined) continue;
        const counterexample = { state: stateJson(space), one, other, hint };
        return { invariant: rule.name, states, pairs, verdict: 'not confluent', counterexample };
      }
    }
    for (const [, next] of fine) {
      const digest = canonical(stateJson(next));
      if (seen.has(digest) || queue.length >= statesMax) continue;
      seen.add(digest);
      queue.push(next);
    }
  }
  return { invariant: rule.name, states, pairs, verdict: pairs === 0 ? 'not measured' : 'confluent' };
}

/** The queue as it grows, then the edges: what is near is looked at first. */
function* chained(queue: readonly Space[], edges: readonly Space[]): Generator<Space> {
  yield* queue;
  yield* edges;
}

/** The last states before one patch, sent again and again, is refused or changes nothing: where bounds are. */
function edgeOf(start: Space, patch: JsonObject): readonly Space[] {
  const trail: Space[] = [start];
  for (let step = 0; step < CHAIN_STEPS; step += 1) {
    const space = trail.at(-1) as Space;
    const sealed = propose(space, [patch]);
    const isStuck = sealed.decided[0]?.verdict.kind !== 'committed' || valuesDigest(sealed.space) === valuesDigest(space);
    if (isStuck) return trail.slice(1).slice(-EDGE);
    trail.push(sealed.space);
  }
  return [];
}

/** What the invariant says to the one that came second, if it is what refused it. */
function refusalBy(rule: CompiledRule, { decided }: Sealed): string | undefined {
  for (const { verdict } of decided) {
    if (verdict.kind !== 'rejected') continue;
    const issue = verdict.issues.find((one) => one.code === 'invariant' && one.rule === rule.name);
    if (issue !== undefined) return issue.hint;
  }
  return undefined;
}

/**
 * Patches of one field, then of two: of those that the invariant reads or that what it reads is computed from, and of those
 * that other rules tie to them, as a patch of one alone may never pass.
 */
function patchesOf(schema: StateSchema, rule: CompiledRule): readonly JsonObject[] {
  const own = sourcesOf(schema, rule.reads);
  const tied = schema.rules.filter(({ reads }) => reads.some((read) => own.includes(read))).flatMap(({ reads }) => reads);
  const indexes = [...new Set([...own, ...sourcesOf(schema, tied)])];
  const single = indexes.flatMap((index) => {
    const kind = schema.kinds[index] as FieldKind;
    return kind.samples().map((intent): readonly [string, Json] => [schema.names[index] as string, intent]);
  });
  const double = single.flatMap(([name, intent], i) =>
    single.slice(i + 1).flatMap(([other, second]) => (other === name ? [] : [{ [name]: intent, [other]: second }])),
  );
  return [...single.map(([name, intent]) => ({ [name]: intent })), ...double].slice(0, PATCHES);
}

function sourcesOf(schema: StateSchema, reads: readonly number[]): readonly number[] {
  return reads.flatMap((read) => schema.computed.find(({ index }) => index === read)?.reads ?? [read]);
}

/** The round in which one or two agents propose. */
function propose(space: Space, patches: readonly JsonObject[]): Sealed {
  return proposeAtOnce(
    space,
    patches.map((patch, i) => [AGENTS[i] as string, patch]),
  );
}

/** The agents join in the first two roles: an invariant may ask who acts. */
function born(schema: StateSchema): Space {
  const roles = [...schema.roles.keys()];
  return stageOf(schema, { [AGENTS[0]]: roles[0] as string, [AGENTS[1]]: (roles[1] ?? roles[0]) as string });
}
