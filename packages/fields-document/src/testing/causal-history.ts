/**
 * Random causal histories of merges, without rounds; and the many ways in which one log may hold the same history.
 */
import type { Attempt, JsonObject, Mark, Outcome, Refusal, Stamp } from '@oplus/core';
import { stampOf } from '@oplus/core';
import { numbersFrom } from '@oplus/core/testing';
import fc from 'fast-check';

/**
 * One merge. `viewed` holds the indexes of all merges in its view, and of its agent's earlier ones; `past` also what those
 * may have seen: an older view does not make an agent forget.
 */
export type Merge = {
  readonly agent: string;
  readonly n: number;
  readonly viewed: ReadonlySet<number>;
  readonly past: ReadonlySet<number>;
  readonly stamp: Stamp;
  readonly patch: JsonObject;
};

/** Merges in one causally valid order. */
export type CausalHistory = readonly Merge[];

/** One merge as it comes to be folded: when, and what its proposer may say of its past. */
export type Turn = { readonly index: number; readonly attempt: Attempt; readonly told: Told };

/** What was refused and noted. */
export type Told = { readonly refusals: [string, Refusal][]; readonly notes: { [path: string]: Outcome } };

/** Merge patches of few keys and few values, nested to depth 3. */
export function patches(): fc.Arbitrary<JsonObject> {
  const { patch } = fc.letrec<{ patch: JsonObject; value: JsonObject[string] }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 3 },
      fc.constantFrom<JsonObject[string]>(1, null, 2, null, 'x', [1], {}),
      tie('patch'),
    ),
    patch: fc.dictionary(fc.constantFrom('a', 'b', 'a/c'), tie('value'), { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
  }));
  return patch;
}

/** Histories of up to `most` merges by three agents who see as much of one another as it happens. */
export function causalHistories(most: number): fc.Arbitrary<CausalHistory> {
  const step = fc.record({ who: fc.nat(2), sees: fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)), patch: patches() });
  return fc.array(step, { minLength: 1, maxLength: most }).map((steps) => {
    const made: Merge[] = [];
    for (const { who, sees, patch } of steps) {
      const agent = NAMES[who] as string;
      const own = made.flatMap((merge, index) => (merge.agent === agent ? [index] : []));
      // A view lacks the newest few merges of each agent, and what had seen them.
      const lacks = NAMES.flatMap((name, other) => {
        const indexes = made.flatMap((merge, index) => (merge.agent === name ? [index] : []));
        return indexes.slice(Math.max(0, indexes.length - (sees[other] ?? 0)));
      });
      const view = [...made.keys()].filter((index) => !lacks.some((one) => one === index || made[index]?.past.has(one)));
      const viewed = new Set([...view, ...own]);
      const past = new Set([...viewed, ...own.flatMap((index) => [...(made[index]?.past ?? [])])]);
      const depths = [...past].map((index) => made[index]?.stamp.depth ?? 0);
      const n = made.filter((merge) => merge.agent === agent).length + 1;
      made.push({ agent, n, viewed, past, stamp: stampOf({ revision: Math.max(0, ...depths), priority: 0, agent, n }), patch });
    }
    return made;
  });
}

/** One way to put the history into rounds, decided by the seed: an order that its pasts allow, and cuts. */
export function turnsOf(history: CausalHistory, seed: number): readonly Turn[] {
  const next = numbersFrom(seed);
  const revisions = new Map<number, number>();
  const order: number[] = [];
  let revision = 1;
  while (order.length < history.length) {
    const ready = history.flatMap(({ past }, index) =>
      revisions.has(index) || ![...past].every((one) => revisions.has(one)) ? [] : [index],
    );
    const index = ready[next() % ready.length] as number;
    const merge = history[index] as Merge;
    // What another agent has made can have been seen only when it was sealed.
    const isFirst = order.length === 0;
    const mustCut = [...merge.past].some((one) => revisions.get(one) === revision && history[one]?.agent !== merge.agent);
    if (!isFirst && (mustCut || next() % 3 === 0)) revision += 1;
    revisions.set(index, revision);
    order.push(index);
  }
  const bases = order.map((index) => baseOf(history[index] as Merge, revisions));
  return order.map((index, at) =>
    turnOf(history, index, revisions, { base: bases[at] as number, horizon: Math.min(...bases.slice(at)) }),
  );
}

const NAMES = ['ada', 'bob', 'cy'];

/** The newest revision up to which the merge has viewed everything. */
function baseOf(merge: Merge, revisions: ReadonlyMap<number, number>): number {
  const unseen = [...revisions].filter(([index]) => !merge.viewed.has(index)).map(([, revision]) => revision);
  return Math.min(...unseen) - 1;
}

function turnOf(
  history: CausalHistory,
  index: number,
  revisions: ReadonlyMap<number, number>,
  { base, horizon }: { readonly base: number; readonly horizon: number },
): Turn {
  const { agent, n, viewed, stamp } = history[index] as Merge;
  const told: Told = { refusals: [], notes: {} };
  const hasSeen = (mark: Mark | undefined): boolean =>
    mark === undefined || [...viewed].some((one) => history[one]?.agent === mark.agent && history[one]?.n === mark.n);
  const attempt: Attempt = {
    agent,
    role: 'agent',
    mark: { agent, n, revision: revisions.get(index) as number },
    stamp,
    turn: index,
    base,
    horizon,
    sees: hasSeen,
    sawAll: hasSeen,
    mayWrite: () => true,
    touch: () => undefined,
    refuse: (path, refusal) => told.refusals.push([path, refusal]),
    note: (path, outcome) => {
      told.notes[path] = outcome;
    },
  };
  return { index, attempt, told };
}
