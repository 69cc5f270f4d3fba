/**
 * What the tests know of `lattice`.
 */
import type { Field } from '../../field-kind.ts';
import type { Json } from '../../json.ts';
import { lattice } from '../../kinds/lattice.ts';
import type { SampleKind } from '../sample-kind.ts';

type Edges = { readonly [state: string]: readonly string[] };
type LatticeSpec = { readonly kind: 'lattice'; readonly start: string; readonly edges: Edges };

/** Two branches that meet, with and without a state before them. */
const DIAMOND: Edges = { todo: ['done', 'failed'], done: ['torn'], failed: ['torn'], torn: [] };
const KITE: Edges = { todo: ['doing'], doing: ['done', 'failed'], done: ['torn'], failed: ['torn'], torn: ['shut'], shut: [] };
const CHAIN: Edges = { todo: ['done'], done: ['shut'], shut: [] };

export const latticeSample: SampleKind<LatticeSpec> = {
  kind: 'lattice',
  simple: [{ kind: 'lattice', start: 'todo', edges: DIAMOND }],
  random: (choice) => ({ kind: 'lattice', start: 'todo', edges: choice.of([DIAMOND, KITE, CHAIN]) }),
  field: (spec) => lattice(spec) as Field,
  intent: (spec, choice) => ({ advance: choice.upTo(20) === 19 ? 'nowhere' : choice.of(Object.keys(spec.edges) as [string]) }),
  fold: (trial, spec, cell, verbs, path) => {
    const wanted = verbs['advance'] as string;
    if (!Object.hasOwn(spec.edges, wanted)) return trial.refuse();
    const have = cell.value as string;
    const common = Object.keys(spec.edges).filter((state) => isAtLeast(spec, state, have) && isAtLeast(spec, state, wanted));
    const join = common.find((state) => common.every((other) => isAtLeast(spec, other, state))) as string;
    if (join === have) return trial.note(path, 'unchanged');
    if (join !== wanted) trial.note(path, 'superseded');
    cell.value = join;
    trial.change(cell);
  },
  json: (_, cell) => cell.value ?? null,
  outside: (spec, json) => (Object.hasOwn(spec.edges, json as string) ? undefined : `is ${String(json)}`),
  invisible: (spec, leaf, _, json) =>
    isAtLeast(spec, json ?? null, leaf.intent['advance'] as string) ? undefined : 'is below what was advanced to',
};

function isAtLeast(spec: LatticeSpec, state: Json, low: string): boolean {
  return state === low || (spec.edges[low] ?? []).some((next) => isAtLeast(spec, state, next));
}
