/**
 * `lattice`: a status that only rises, along the edges of a declared finite join-semilattice.
 *
 * The value is the join of all states that were advanced to, so neither order nor repetition matters, and what was reached
 * is never left. The definition is checked at load: the edges have no cycle, the start is below every state, and each two
 * states have exactly one least upper bound. Source: Birkhoff 1940, "Lattice Theory"; Shapiro et al. 2011, "Conflict-free
 * Replicated Data Types", for states that merge by join. SPEC: LAT1-LAT6.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import { affirmed } from '../dot.ts';
import type { Fault } from '../error.ts';
import { fieldFrom, refuseFaults } from '../fault.ts';
import type { Attempt, Complain, Field, FieldKind } from '../field-kind.ts';
import { checkOptions } from '../field-options.ts';
import { readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json } from '../json.ts';
import { canonical, utf8Bytes } from '../json.ts';
import { malformed, superseded } from '../refusal.ts';
import { markedValue } from './marked-value.ts';
import type { MarkedValue } from './marked-value.ts';

/** `edges` lists, for every state, the states just above it; a state at the top lists none. */
export type LatticeOptions<S extends string> = {
  readonly start: NoInfer<S>;
  readonly edges: { readonly [state in S]: readonly NoInfer<S>[] };
};

export type LatticeIntent<S extends string> = { readonly advance: S };

/** A state that only rises. The edges make a join-semilattice with `start` at the bottom. */
export function lattice<S extends string>(options: LatticeOptions<S>): Field<S, LatticeIntent<S>> {
  return fieldFrom(() => latticeOf(options));
}

const OPTIONS = z.object({ start: z.string(), edges: z.record(z.string(), z.array(z.string())) });
const USAGE = "Use lattice({ start: 'open', edges: { open: ['done'], done: [] } }).";

function latticeOf<S extends string>(options: LatticeOptions<S>): FieldKind<Lattice, LatticeOp> {
  checkOptions('lattice', USAGE, OPTIONS, options);
  const { start } = options;
  const edges: ReadonlyMap<string, readonly string[]> = new Map(Object.entries<readonly string[]>(options.edges));
  const order = orderOf(start, edges);
  const { states } = order;
  const kind: FieldKind<Lattice, LatticeOp> = {
    name: 'lattice',
    grade: { letter: 'A', why: 'a join: order and repetition do not matter' },
    bytesMax: Math.max(...states.map((state) => utf8Bytes(canonical(state)))),
    verbs: ['advance'],
    summary: `one of ${states.join(', ')}; only rises`,
    read: (intent, path, complain) => readAdvance(states, intent, path, complain),
    weigh: () => 1,
    erases: () => 0,
    fold: (cell, op, path, attempt) => fold(order, cell, op, path, attempt),
    withoutEcho: (cell, op) => (joined(order, cell.value, op.advance) === cell.value ? undefined : op),
    write: (op) => ({ advance: op.advance }),
    ...markedValue<string>(start),
    valueSchema: () => ({ type: 'string', enum: states }),
    assign: (cell, change, path, complain) => {
      const value = changed(cell.value, change);
      if (value === cell.value) return undefined;
      if (isState(order, value) && joined(order, cell.value, value) === value) return { advance: value };
      complain(
        path,
        malformed('lattice', `A lattice never goes back; above ${cell.value} stand ${above(order, cell.value)}.`, value),
      );
      return undefined;
    },
    samples: () => {
      const first = edges.get(start) ?? [];
      const others = states.filter((state) => state !== start && !first.includes(state));
      return [...first, ...others, start].slice(0, 4).map((state) => ({ advance: state }));
    },
    modelSchema: () => strictObject({ advance: { type: 'string', enum: states } }),
    fromModel: withoutNulls,
    declaration: () => ({
      kind: 'lattice',
      start,
      edges: Object.fromEntries([...edges].map(([state, targets]) => [state, [...new Set(targets)].sort()])),
    }),
  };
  return kind;
}

const STATES_MAX = 64;

type Lattice = MarkedValue<string>;
type LatticeOp = { readonly advance: string };

/** States in ascending order of their names; `joins[i][j]` is the least upper bound of states i and j, all by index. */
type Order = {
  readonly states: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly joins: readonly (readonly number[])[];
};

function readAdvance(states: readonly string[], intent: Json, path: string, complain: Complain): LatticeOp | undefined {
  const read = readOneVerb(intent, 'lattice', ['advance'], path, complain);
  if (read === undefined) return undefined;
  if (typeof read.value === 'string' && states.includes(read.value)) return { advance: read.value };
  complain(path, malformed('lattice', `The states are ${states.join(', ')}.`, read.value));
  return undefined;
}

/** Who asked for a state that had to give way to a higher one is told so: the join of two branches is neither of them. */
function fold(order: Order, cell: Lattice, op: LatticeOp, path: string, attempt: Attempt): Lattice {
  const value = joined(order, cell.value, op.advance);
  if (value === cell.value) {
    attempt.note(path, { kind: 'unchanged' });
    return cell;
  }
  if (value !== op.advance) attempt.note(path, superseded(cell.mark?.agent ?? '', value));
  return { value, mark: affirmed(cell.mark, attempt.mark) };
}

function joined(order: Order, a: string, b: string): string {
  const index = order.joins[order.indexOf.get(a) as number]?.[order.indexOf.get(b) as number];
  return order.states[index as number] as string;
}

function isState(order: Order, value: Json | undefined): value is string {
  return typeof value === 'string' && order.indexOf.has(value);
}

function above(order: Order, state: string): string {
  const higher = order.states.filter((other) => other !== state && joined(order, state, other) === other);
  return higher.length === 0 ? 'none' : higher.join(', ');
}

function orderOf(start: string, edges: ReadonlyMap<string, readonly string[]>): Order {
  const states = [...edges.keys()].sort();
  // Each of these makes sense of what comes after it, so what is unsound in one is told before the next is looked at.
  refuseFaults([
    ...(states.length <= STATES_MAX ? [] : [broken(`${states.length} states`, `A lattice has at most ${STATES_MAX} states.`)]),
    ...(edges.has(start) ? [] : [broken(`the start ${start} is no state`, 'Give every state as a key of edges.')]),
    ...strangersIn(edges),
  ]);
  refuseFaults(cyclesIn(edges));
  const upper = new Map(states.map((state) => [state, reachedFrom(edges, state)]));
  refuseFaults(
    states
      .filter((state) => upper.get(start)?.has(state) !== true)
      .map((lost) =>
        broken(`the start ${start} is not below ${lost}`, `Lead from ${start} to ${lost}, directly or through others.`),
      ),
  );
  const least = states.map((a) => states.map((b) => leastAbove(upper, a, b)));
  refuseFaults(states.flatMap((a, i) => states.slice(0, i).flatMap((b, j) => unjoined(b, a, least[i]?.[j] ?? []))));
  const indexOf = new Map(states.map((state, i) => [state, i]));
  return { states, indexOf, joins: least.map((row) => row.map(([join]) => indexOf.get(join as string) as number)) };
}

/** The states that are above both, and of those the ones with no other of them below. */
function leastAbove(upper: ReadonlyMap<string, ReadonlySet<string>>, a: string, b: string): readonly string[] {
  const common = [...(upper.get(a) as ReadonlySet<string>)].filter((state) => upper.get(b)?.has(state));
  return common.filter((state) => !common.some((other) => other !== state && upper.get(other)?.has(state)));
}

function unjoined(a: string, b: string, least: readonly string[]): readonly Fault[] {
  const what = `${a} and ${b} have no least upper bound`;
  if (least.length === 1) return [];
  if (least.length === 0) return [broken(what, 'Add a state above both, such as disputed, and lead to it from both.')];
  const several = least.toSorted().join(' and ');
  return [
    broken(
      `${what}: ${several} stand above both, neither below the other`,
      `Add a state between: above ${a} and ${b}, below ${several}.`,
    ),
  ];
}

/** The state itself and all that edges lead to from it. */
function reachedFrom(edges: ReadonlyMap<string, readonly string[]>, state: string): ReadonlySet<string> {
  const reached = new Set([state]);
  for (const one of reached) for (const next of edges.get(one) ?? []) reached.add(next);
  return reached;
}

function strangersIn(edges: ReadonlyMap<string, readonly string[]>): readonly Fault[] {
  return [...edges].flatMap(([state, targets]) =>
    targets
      .filter((target) => !edges.has(target))
      .map((target) =>
        broken(`${state} leads to ${target}, which is no state`, 'Give every state as a key of edges, also a final one: [].'),
      ),
  );
}

/** The edges that lead back, each cycle once. */
function cyclesIn(edges: ReadonlyMap<string, readonly string[]>): readonly Fault[] {
  const told = new Set<string>();
  return [...edges].flatMap(([state, targets]) => {
    const back = told.has(state) ? undefined : targets.find((target) => reachedFrom(edges, target).has(state));
    if (back === undefined) return [];
    for (const one of reachedFrom(edges, state)) if (reachedFrom(edges, one).has(state)) told.add(one);
    const cycle = back === state ? `${state} leads to itself` : `${state} leads to ${back}, and ${back} back to ${state}`;
    return [broken(cycle, 'Take one edge of the cycle out: a lattice only rises. A machine may go round.')];
  });
}

function broken(rule: string, hint: string): Fault {
  return { path: '', rule: `lattice: ${rule}`, hint };
}
