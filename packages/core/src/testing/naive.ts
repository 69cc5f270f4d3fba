/**
 * The naive model: a second implementation of every kind over plain JavaScript values, slow and obvious, used as oracle.
 *
 * It shares nothing with the core but the hash inside a stamp. Causality is a set of dots, cells are mutable objects that
 * list every dot that ever changed them, a proposal works on a deep copy of everything.
 */
import type { Json, JsonObject } from '../json.ts';
import type { Proposal } from '../proposal.ts';
import { spin } from '../stamp.ts';
import type { Play } from './histories.ts';
import { newCell, NaiveTrial } from './naive-cell.ts';
import type { NaiveCell } from './naive-cell.ts';
import type { SampleState } from './sample-state.ts';
import { gaugeIsInRange, gaugeStepsAreSmall } from './sample-state.ts';
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

type Stamp = { depth: number; priority: number; spin: number; agent: string; n: number };

/** Runs the model over the rounds of a play, its genesis left out. */
export function naivePlay(played: Play): readonly NaiveRound[] {
  const { state } = played;
  let cells = Object.fromEntries(Object.entries(state.specs).map(([name, spec]) => [name, newCell(spec, [])]));
  /** Dot to the revision at which it took effect. */
  const sealed = new Map<string, number>();
  const depths = new Map<string, number>();
  for (const event of played.rounds[0]?.sealed.events ?? []) if (event.kind === 'join') depths.set(event.agent, 1);
  const rounds: NaiveRound[] = [];
  for (const [revision, round] of played.rounds.entries()) {
    if (revision === 0) continue;
    for (const event of round.events) if (event.kind === 'join') depths.set(event.agent, revision + 1);
    const members = round.proposals.map(({ proposal }) => ({ proposal, stamp: stampFor(proposal, depths, revision) }));
    members.sort((a, b) => admitOrder(a.stamp, b.stamp));
    const verdicts: NaiveVerdict[] = [];
    const evicted = new Map<string, string[]>();
    for (const { proposal, stamp } of members) {
      const dot = `${proposal.agent} ${proposal.n}`;
      const past = new Set<string>();
      for (const [other, at] of sealed) if (at <= proposal.base.revision || isEarlierOwn(other, proposal)) past.add(other);
      const trial = new NaiveTrial(proposal.agent, proposal.n, past, stamp);
      const copy = structuredClone(cells);
      const accepted = judge(state, copy, proposal, trial);
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
      settle(state.specs[name] as FieldSpec, cell, `/${name}`, (path, dot) =>
        evicted.set(dot, [...(evicted.get(dot) ?? []), path]),
      );
    }
    for (const verdict of verdicts) {
      for (const path of evicted.get(`${verdict.agent} ${verdict.n}`) ?? [])
        (verdict.outcomes as { [path: string]: string })[path] = 'evicted';
    }
    rounds.push({ verdicts, json: jsonOfAll(state, cells) });
  }
  return rounds;
}

function isEarlierOwn(dot: string, proposal: Proposal): boolean {
  const [agent, n] = dot.split(' ');
  return agent === proposal.agent && Number(n) < proposal.n;
}

function stampFor(proposal: Proposal, depths: Map<string, number>, revision: number): Stamp {
  const { agent, n, base } = proposal;
  const depth = Math.max(Math.min(base.revision + 1, revision), depths.get(agent) ?? 0);
  depths.set(agent, depth);
  return { depth, priority: agent === 'ada' ? 1 : 0, spin: spin(depth, agent), agent, n };
}

function admitOrder(a: Stamp, b: Stamp): number {
  if (a.depth !== b.depth) return a.depth - b.depth;
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.spin !== b.spin) return a.spin - b.spin;
  if (a.agent !== b.agent) return a.agent < b.agent ? -1 : 1;
  return a.n - b.n;
}

function judge(state: SampleState, cells: { [name: string]: NaiveCell }, proposal: Proposal, trial: NaiveTrial): boolean {
  const isGauged = state.hasGauge && 'gauge' in proposal.patch;
  const before = isGauged ? jsonOfAll(state, cells) : {};
  for (const path of proposal.premises ?? []) if (!premiseHolds(state, cells, path, trial)) return false;
  for (const [name, intent] of Object.entries(proposal.patch)) {
    if (name === state.guarded && proposal.agent !== 'ada') return false;
    trial.fold(state.specs[name] as FieldSpec, cells[name] as NaiveCell, intent, `/${name}`);
  }
  if (trial.isRefused) return false;
  const after = isGauged ? jsonOfAll(state, cells) : {};
  return !isGauged || (gaugeIsInRange(after) && gaugeStepsAreSmall(before, after));
}

function premiseHolds(state: SampleState, cells: { [name: string]: NaiveCell }, path: string, trial: NaiveTrial): boolean {
  const [name, ...tokens] = path
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  let spec = state.specs[name as string] as FieldSpec;
  let cell = cells[name as string] as NaiveCell;
  for (const token of tokens) {
    if (spec.kind === 'map') {
      cell = cell.children[token] ?? newCell(spec.of, cell.drops[token] ?? cell.born);
      spec = spec.of;
    } else if (spec.kind === 'records') {
      const row = cell.children[token];
      if (row === undefined) return trial.sawAll(cell.drops[token] ?? cell.born);
      const at = tokens[tokens.indexOf(token) + 1];
      if (at === undefined || row.children[at] === undefined) return trial.sawAll(row.dots);
      const inner = row.children[at];
      return trial.sawAll(inner.dots.length === 0 ? row.birth : inner.dots);
    } else break;
  }
  return trial.sawAll(cell.dots);
}

function settle(spec: FieldSpec, cell: NaiveCell, path: string, evict: (path: string, dot: string) => void): void {
  if (spec.kind === 'log') {
    while (cell.entries.length > spec.keep) {
      const gone = cell.entries.shift();
      if (gone !== undefined) evict(`${path}/append/${gone.at}`, `${gone.stamp.agent} ${gone.stamp.n}`);
    }
  }
  for (const [key, child] of Object.entries(cell.children)) {
    const token = key.replaceAll('~', '~0').replaceAll('/', '~1');
    if (spec.kind === 'map') settle(spec.of, child, `${path}/${token}`, evict);
    if (spec.kind !== 'records') continue;
    for (const [name, inner] of Object.entries(child.children))
      settle(spec.cells[name] as FieldSpec, inner, `${path}/${token}/${name}`, evict);
  }
}

function jsonOfAll(state: SampleState, cells: { [name: string]: NaiveCell }): JsonObject {
  return Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, jsonOf(state.specs[name] as FieldSpec, cell)]));
}

function jsonOf(spec: FieldSpec, cell: NaiveCell): Json {
  switch (spec.kind) {
    case 'lww': {
      const winner = cell.writes.toSorted((a, b) => winOrder(a.stamp, b.stamp)).at(-1);
      return winner === undefined ? (cell.value ?? null) : (winner.value ?? null);
    }
    case 'set':
      return Object.keys(cell.adds)
        .sort((a, b) => (a < b ? -1 : 1))
        .map((key) => JSON.parse(key) as Json);
    case 'log':
      return cell.entries.map((entry) => entry.value);
    case 'claim':
      return { holder: cell.value ?? null, ...(cell.outcome === undefined ? {} : { outcome: cell.outcome }) };
    case 'map':
      return Object.fromEntries(Object.entries(cell.children).map(([key, child]) => [key, jsonOf(spec.of, child)]));
    case 'records':
      return Object.fromEntries(
        Object.entries(cell.children).map(([id, row]) => [
          id,
          Object.fromEntries(
            Object.entries(row.children).map(([name, inner]) => [name, jsonOf(spec.cells[name] as FieldSpec, inner)]),
          ),
        ]),
      );
    default:
      return cell.value ?? null;
  }
}

function winOrder(a: Stamp, b: Stamp): number {
  if (a.depth === b.depth && a.priority !== b.priority) return a.priority - b.priority;
  return admitOrder(a, b);
}
