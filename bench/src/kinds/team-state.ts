/**
 * A state with a field of every kind, and what an agent may ask of each: caps and ranges are tight, so that they are reached.
 */
import {
  cas,
  claim,
  counter,
  derived,
  group,
  growSet,
  lattice,
  log,
  lww,
  machine,
  map,
  max,
  min,
  multi,
  owned,
  priority,
  quota,
  records,
  reduce,
  removeWins,
  set,
  text,
  topK,
  vote,
} from '@oplus/core';
import type { ClaimView, Field, Fields, JsonObject, MapView, OwnedView, StateDefinition } from '@oplus/core';
import { z } from 'zod';

import type { Random } from '../random.ts';

/** What a proposer knows: the newest view of the field, its own name and that of another agent. */
type Known = { readonly view: unknown; readonly self: string; readonly other: string };

/** `intent` is left out where nobody writes the field. */
type Part = { readonly field: Field; intent?(random: Random, known: Known): JsonObject };

const TEXT = z.string().max(40);
const score = counter();

const PARTS: { readonly [name: string]: Part } = {
  goal: { field: cas(TEXT), intent: (random) => (random.chance(0.1) ? { unset: true } : { set: textOf(random) }) },
  note: { field: lww(TEXT), intent: (random) => ({ set: textOf(random) }) },
  headline: { field: priority(TEXT), intent: (random) => ({ set: textOf(random) }) },
  proposals: { field: multi(TEXT), intent: (random) => ({ set: textOf(random) }) },
  host: {
    field: owned(TEXT),
    intent: (random, { view, self }) =>
      (view as OwnedView<string>).owners.includes(self) && random.chance(0.7) ? { release: true } : { set: textOf(random) },
  },
  place: {
    field: group({ x: z.int().min(0).max(99), y: z.int().min(0).max(99) }, { rule: 'lww' }),
    intent: (random) => ({ set: { x: random.below(100), y: random.below(100) } }),
  },
  score: { field: score, intent: (random) => ({ inc: random.below(7) - 3 }) },
  scoreIsEven: { field: derived(z.boolean(), { from: { score }, compute: (views) => views.score % 2 === 0 }) },
  budget: { field: quota({ lo: 0, hi: 1_000, start: 500 }), intent: (random) => ({ inc: random.below(41) - 20 }) },
  shares: {
    field: quota({ mode: 'escrow', lo: 0, start: 5_000, hi: 10_000, shares: 32, granters: ['agent'] }),
    intent: (random, { other }) => {
      if (random.chance(0.4)) return { grant: { to: other, amount: 1 + random.below(20) } };
      return random.chance(0.3) ? { transfer: { to: other, amount: 1 + random.below(9) } } : { inc: random.below(25) - 12 };
    },
  },
  best: { field: max({ lo: 0, hi: 1_000_000 }), intent: (random) => ({ raise: random.below(1_000_001) }) },
  least: { field: min({ lo: 0, hi: 1_000_000 }), intent: (random) => ({ lower: random.below(1_000_001) }) },
  lead: {
    field: claim(),
    intent: (_, { view, self }) => ((view as ClaimView).holder === self ? { release: { outcome: 'done' } } : { claim: true }),
  },
  phase: {
    field: machine({ start: 'plan', moves: { plan: ['build'], build: ['test', 'plan'], test: ['plan', 'build'] } }),
    intent: (random) => ({ to: ['plan', 'build', 'test'][random.below(3)] as string }),
  },
  level: {
    field: lattice({ start: 'none', edges: { none: ['left', 'right'], left: ['both'], right: ['both'], both: [] } }),
    intent: (random) => ({ advance: ['left', 'right', 'both'][random.below(3)] as string }),
  },
  choice: {
    field: vote({ options: ['a', 'b', 'c'], voters: 64, quorum: 'majority' }),
    intent: (random) => (random.chance(0.1) ? { abstain: true } : { vote: ['a', 'b', 'c'][random.below(3)] as string }),
  },
  peak: {
    field: reduce({
      state: z.int().min(0).max(1_000),
      update: z.int().min(0).max(1_000),
      start: 0,
      reduce: (state, update) => Math.max(state, update),
    }),
    intent: (random) => ({ apply: random.below(1_001) }),
  },
  tags: {
    field: set(TEXT, { cap: 64 }),
    intent: (random) => ({ [random.chance(0.6) ? 'add' : 'remove']: [textOf(random)] }),
  },
  seen: { field: growSet(TEXT, { cap: 64 }), intent: (random) => ({ add: [textOf(random)] }) },
  rights: {
    field: removeWins(TEXT, { cap: 64 }),
    intent: (random) => ({ [random.chance(0.6) ? 'add' : 'remove']: [textOf(random)] }),
  },
  records: {
    field: topK(z.strictObject({ who: TEXT, points: z.int().min(0).max(1_000_000) }), { k: 16, by: 'points' }),
    intent: (random) => ({ add: [{ who: textOf(random), points: random.below(1_000_001) }] }),
  },
  journal: { field: log(TEXT, { keep: 64 }), intent: (random) => ({ append: [textOf(random)] }) },
  news: {
    field: log(TEXT, { keep: 64, order: 'stamp', id: 'self' }),
    intent: (random) => ({ append: [textOf(random)] }),
  },
  pages: {
    field: map(lww(TEXT), { cap: 64 }),
    intent: (random) => (random.chance(0.3) ? { drop: [keyOf(random)] } : { at: { [keyOf(random)]: { set: textOf(random) } } }),
  },
  draft: { field: text({ charsMax: 1_000 }), intent: (random, { view }) => draftIntent(random, view as string) },
  tasks: {
    field: records({ title: lww(TEXT), owner: claim(), done: cas(z.boolean()) }, { cap: 64 }),
    intent: (random, { view }) => taskIntent(random, [...(view as MapView<unknown>).keys()]),
  },
  boards: {
    field: map(records({ text: cas(TEXT), hits: counter() }, { cap: 4 }), { cap: 8 }),
    intent: (random) => {
      const key = `b${random.below(12)}`;
      if (random.chance(0.2)) return { drop: [key] };
      const row = `r${random.below(6)}`;
      const change = random.chance(0.3)
        ? { drop: [row] }
        : { put: { [row]: { text: { set: textOf(random) }, hits: { inc: 1 } } } };
      return { at: { [key]: change } };
    },
  },
};

/** The definition. Its name is that of the space. */
export const teamDefinition: StateDefinition<Fields> = {
  name: 'bench-team',
  version: 1,
  fields: Object.fromEntries(Object.entries(PARTS).map(([name, { field }]) => [name, field])),
};

/** The names of all kinds in the state, those below others included. */
export function kindsOfTeam(): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (kind: Pick<Field, 'name' | 'parts'>): void => {
    names.add(kind.name);
    for (const part of Object.values(kind.parts ?? {})) add(part);
  };
  for (const { field } of Object.values(PARTS)) add(field);
  return names;
}

/** A patch of one to three fields. `viewOf` reads a field in the newest view. */
export function teamPatch(
  random: Random,
  { self, other, viewOf }: { readonly self: string; readonly other: string; viewOf(name: string): unknown },
): JsonObject {
  const patch: { [name: string]: JsonObject } = {};
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const [name, part] = WRITTEN[random.below(WRITTEN.length)] as (typeof WRITTEN)[number];
    patch[name] = part.intent(random, { view: viewOf(name), self, other });
  }
  return patch;
}

const WRITTEN = Object.entries(PARTS).filter((entry): entry is [string, Required<Part>] => entry[1].intent !== undefined);

function taskIntent(random: Random, ids: readonly string[]): JsonObject {
  const id = ids[random.below(ids.length + 1)];
  if (id === undefined) return { add: [{ title: { set: textOf(random) } }] };
  if (random.chance(0.3)) return { drop: [id] };
  if (random.chance(0.3)) return { patch: { [id]: { owner: { claim: true } } } };
  return { patch: { [id]: { title: { set: textOf(random) }, done: { set: random.chance(0.5) } } } };
}

function draftIntent(random: Random, draft: string): JsonObject {
  if (random.chance(0.02)) return { rewrite: textOf(random) };
  if (draft.length < 20 || random.chance(0.3)) return { append: ` ${textOf(random)}` };
  const from = random.below(draft.length - 16);
  return { replace: { find: draft.slice(from, from + 16), with: random.chance(0.5) ? '' : `word ${random.below(400)}` } };
}

/** One of some hundreds of texts: equal ones meet. */
function textOf(random: Random): string {
  return `text number ${random.below(400)}`;
}

function keyOf(random: Random): string {
  return `page-${random.below(160)}`;
}
