/**
 * The naive model: a second implementation of every kind over plain JavaScript values, slow and obvious, used as oracle.
 *
 * It shares nothing with the core but the hash inside a stamp. Causality is a set of dots, cells are mutable objects that
 * list every dot that ever changed them, a proposal works on a deep copy of everything. What a kind does stands in its file
 * under `samples/`.
 */
import type { SystemEvent } from '../entry.ts';
import type { JsonObject } from '../json.ts';
import type { Proposal } from '../proposal.ts';
import { spin } from '../stamp.ts';
import type { Play } from './histories.ts';
import { admitOrder, NaiveTrial } from './naive-cell.ts';
import type { NaiveCell, NaiveStamp } from './naive-cell.ts';
import { emptyCell, placeOf } from './sample-kind.ts';
import type { Place } from './sample-kind.ts';
import type { SampleState } from './sample-state.ts';
import { gaugeIsInRange, gaugeStepsAreSmall } from './sample-state.ts';
import { kindOf } from './samples/registry.ts';
import type { FieldSpec } from './spec.ts';

/** What the model says of one proposal. `outcomes` are kinds by path; `over` and `id` are left out. */
export type NaiveVerdict = {
  readonly agent: string;
  readonly n: number;
  readonly kind: 'committed' | 'rejected';
  readonly outcomes: { readonly [path: string]: string };
};

/** What the model says of one round: its verdicts in canonical order, and the state after it. */
export type NaiveRound = { readonly verdicts: readonly NaiveVerdict[]; readonly json: JsonObject };

/** Runs the model over the rounds of a play, its genesis left out. */
export function naivePlay(played: Play): readonly NaiveRound[] {
  const { state } = played;
  let cells = Object.fromEntries(Object.entries(state.specs).map(([name, spec]) => [name, emptyCell(kindOf(spec), spec, [])]));
  /** Dot to the revision at which it took effect. */
  const sealed = new Map<string, number>();
  const depths = new Map<string, number>();
  for (const event of played.rounds[0]?.sealed.events ?? []) if (event.kind === 'join') depths.set(event.agent, 1);
  const rounds: NaiveRound[] = [];
  for (const [revision, round] of played.rounds.entries()) {
    if (revision === 0) continue;
    // The oldest view that anybody may still hold: views only grow newer.
    const horizon = Math.min(revision, ...depths.values()) - 1;
    for (const event of round.events) if (event.kind === 'join') depths.set(event.agent, revision + 1);
    expireAll(state, cells, round.events, { revision, sealed });
    const members = round.proposals.map(({ proposal }) => ({ proposal, stamp: stampFor(proposal, depths, revision) }));
    members.sort((a, b) => admitOrder(a.stamp, b.stamp));
    const verdicts: NaiveVerdict[] = [];
    const evicted = new Map<string, string[]>();
    for (const { proposal, stamp } of members) {
      const dot = `${proposal.agent} ${proposal.n}`;
      const past = new Set<string>();
      for (const [other, at] of sealed) if (at <= proposal.base.revision || isEarlierOwn(other, proposal)) past.add(other);
      const trial = new NaiveTrial(stamp, roleOf(proposal.agent), past, [revision, verdicts.length]);
      const copy = structuredClone(cells);
      const isStale = proposal.base.revision < Math.min(horizon, stamp.depth - 1);
      const accepted = !isStale && judge(state, copy, proposal, trial);
      if (accepted) cells = copy;
      sealed.set(dot, revision);
      verdicts.push({
        agent: proposal.agent,
        n: proposal.n,
        kind: accepted ? 'committed' : 'rejected',
        outcomes: accepted ? trial.outcomes : {},
      });
    }
    for (const [name, cell] of Object.entries(cells)) {
      const spec = state.specs[name] as FieldSpec;
      kindOf(spec).settle?.(spec, cell, `/${name}`, (path, dot) => evicted.set(dot, [...(evicted.get(dot) ?? []), path]));
    }
    for (const verdict of verdicts) {
      for (const path of evicted.get(`${verdict.agent} ${verdict.n}`) ?? [])
        (verdict.outcomes as { [path: string]: string })[path] = 'evicted';
    }
    rounds.push({ verdicts, json: jsonOfAll(state, cells) });
  }
  return rounds;
}

/** Folds the expiries of a round in, in the order of their paths. What has not seen one is concurrent with it. */
function expireAll(
  state: SampleState,
  cells: { [name: string]: NaiveCell },
  events: readonly SystemEvent[],
  { revision, sealed }: { revision: number; sealed: Map<string, number> },
): void {
  const dot = `expiry@${revision}`;
  sealed.set(dot, revision);
  for (const event of events.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))) {
    if (event.kind !== 'expire') continue;
    const [name, ...tokens] = tokensOf(event.path);
    const spec = state.specs[name] as FieldSpec;
    const { token, cause } = event;
    const revisionOf = (one: string): number | undefined => sealed.get(one);
    kindOf(spec).expire?.(spec, cells[name] as NaiveCell, tokens, { token, cause, dot, revisionOf });
  }
}

function isEarlierOwn(dot: string, proposal: Proposal): boolean {
  const [agent, n] = dot.split(' ');
  return agent === proposal.agent && Number(n) < proposal.n;
}

function stampFor(proposal: Proposal, depths: Map<string, number>, revision: number): NaiveStamp {
  const { agent, n, base } = proposal;
  const depth = Math.max(Math.min(base.revision + 1, revision), depths.get(agent) ?? 0);
  depths.set(agent, depth);
  return { depth, priority: roleOf(agent) === 'lead' ? 1 : 0, spin: spin(depth, agent), agent, n };
}

function roleOf(agent: string): string {
  return agent === 'ada' ? 'lead' : 'worker';
}

function judge(state: SampleState, cells: { [name: string]: NaiveCell }, proposal: Proposal, trial: NaiveTrial): boolean {
  const isGauged = state.hasGauge && 'gauge' in proposal.patch;
  const before = isGauged ? jsonOfAll(state, cells) : {};
  for (const path of proposal.premises ?? []) if (!premiseHolds(state, cells, path, trial)) return false;
  for (const [name, intent] of Object.entries(proposal.patch)) {
    if (name === state.guarded && trial.role !== 'lead') return false;
    const spec = state.specs[name] as FieldSpec;
    kindOf(spec).fold(trial, spec, cells[name] as NaiveCell, intent as JsonObject, `/${name}`);
  }
  if (trial.isRefused) return false;
  const after = isGauged ? jsonOfAll(state, cells) : {};
  return !isGauged || (gaugeIsInRange(after) && gaugeStepsAreSmall(before, after));
}

function premiseHolds(state: SampleState, cells: { [name: string]: NaiveCell }, path: string, trial: NaiveTrial): boolean {
  const [name, ...tokens] = tokensOf(path);
  const spec = state.specs[name] as FieldSpec;
  let place: Place = placeOf(kindOf(spec), spec, cells[name] as NaiveCell);
  for (const token of tokens) {
    const below = place.below(token);
    if (below === undefined) break;
    place = below;
  }
  return trial.sawAll(place.dots);
}

function tokensOf(path: string): [string, ...string[]] {
  const tokens = path.slice(1).split('/');
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) as [string, ...string[]];
}

function jsonOfAll(state: SampleState, cells: { [name: string]: NaiveCell }): JsonObject {
  return Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => {
      const spec = state.specs[name] as FieldSpec;
      return [name, kindOf(spec).json(spec, cell)];
    }),
  );
}
