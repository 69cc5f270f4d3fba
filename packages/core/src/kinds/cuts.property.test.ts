import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Mark } from '../dot.ts';
import type { Attempt, FieldKind } from '../field-kind.ts';
import type { Json } from '../json.ts';
import { canonical } from '../json.ts';
import { compareWin, stampOf } from '../stamp.ts';
import type { Stamp } from '../stamp.ts';
import { runsOf } from '../testing/index.ts';
import { group } from './group.ts';
import { multi } from './multi.ts';
import { lww, priority } from './register.ts';

/** One operation: who, which earlier ones it has read (bits), in a role of which priority, and which value. */
type Act = readonly [agent: number, read: number, priority: number, value: number];

/** An operation in its causal history. `past` holds the indexes of all that it has seen. */
type Placed = { readonly stamp: Stamp; readonly past: ReadonlySet<number>; readonly value: number };

const AGENTS = ['a', 'b', 'c', 'd'] as const;
const RUNS = { numRuns: runsOf() };

const acts: fc.Arbitrary<readonly Act[]> = fc.array(fc.tuple(fc.nat(3), fc.nat(255), fc.nat(2), fc.nat(2)), {
  minLength: 2,
  maxLength: 8,
});
/** A causally valid order of up to eight operations, and where rounds end. */
const orders = fc.tuple(fc.array(fc.nat(999), { minLength: 8, maxLength: 8 }), fc.nat(255));

/** The agents' n grow with their order in the list; a later one of an agent has seen its earlier ones. */
function placed(history: readonly Act[]): readonly Placed[] {
  const all: Placed[] = [];
  for (const [who, read, priority, value] of history) {
    const agent = AGENTS[who] as string;
    const past = new Set<number>();
    for (const [i, other] of all.entries())
      if (other.stamp.agent === agent || (read >> i) % 2 === 1) for (const seen of [i, ...other.past]) past.add(seen);
    const revision = Math.max(0, ...[...past].map((i) => (all[i] as Placed).stamp.depth));
    const n = 1 + all.filter(({ stamp }) => stamp.agent === agent).length;
    all.push({ stamp: stampOf({ revision, priority, agent, n }), past, value });
  }
  return all;
}

/** Folds the history in one of its orders, cut into rounds, and gives the value and what was refused. */
function folded(
  kind: FieldKind,
  history: readonly Placed[],
  [weights, cuts]: readonly [readonly number[], number],
  valueOf: (value: number) => Json,
): { readonly json: string; readonly refused: number } {
  let cell = kind.empty(undefined);
  let revision = 1;
  let refused = 0;
  const done = new Set<number>();
  while (done.size < history.length) {
    const ready = [...history.keys()].filter((i) => !done.has(i) && [...(history[i] as Placed).past].every((j) => done.has(j)));
    const [next = 0] = ready.toSorted((i, j) => (weights[i] as number) - (weights[j] as number) || i - j);
    const { stamp, past, value } = history[next] as Placed;
    const dots = new Set([...past].map((i) => dotOf((history[i] as Placed).stamp)));
    const sees = (mark: Mark | undefined): boolean => mark === undefined || dots.has(dotOf(mark));
    const attempt: Attempt = {
      agent: stamp.agent,
      role: 'agent',
      mark: { agent: stamp.agent, n: stamp.n, revision },
      stamp,
      base: 0,
      horizon: 0,
      sees,
      sawAll: sees,
      mayWrite: () => true,
      touch: () => undefined,
      refuse: () => (refused += 1),
      note: () => undefined,
    };
    const op = kind.read({ set: valueOf(value) }, '/f', () => expect.unreachable());
    const before = refused;
    const after = kind.fold(cell, op, '/f', attempt);
    if (refused === before) cell = after;
    if ((cuts >> done.size) % 2 === 1) revision += 1;
    done.add(next);
  }
  return { json: canonical(kind.json(cell)), refused };
}

function dotOf({ agent, n }: { readonly agent: string; readonly n: number }): string {
  return `${agent} ${n}`;
}

function isFree(kind: FieldKind, valueOf: (value: number) => Json): void {
  fc.assert(
    fc.property(acts, orders, orders, (history, one, other) => {
      const all = placed(history);
      expect(folded(kind, all, one, valueOf)).toEqual(folded(kind, all, other, valueOf));
    }),
    RUNS,
  );
}

const letter = (value: number): Json => 'abc'[value] as string;
const pair = (value: number): Json => ({ x: value, y: letter(value) });
const parts = { x: z.int().min(0).max(9), y: z.string().max(1) };

test('[MLT6] any order and any cut give the same values of a multi', () => {
  isFree(multi(z.string().max(1), { cap: 4 }), letter);
});

test('[MLT1] what stands is what nobody has seen and replaced, the greatest stamp first', () => {
  const kind: FieldKind = multi(z.string().max(1), { cap: 4 });
  fc.assert(
    fc.property(acts, orders, (history, order) => {
      const all = placed(history);
      const last = all.filter((_, i) => all.every(({ past }) => !past.has(i)));
      const values = last.toSorted((p, q) => compareWin(q.stamp, p.stamp)).map(({ value }) => letter(value));
      const [value, ...rivals] = [...new Set(values)];
      expect(folded(kind, all, order, letter).json).toBe(canonical({ value: value as Json, rivals }));
    }),
    RUNS,
  );
});

test('[MLT6] beyond the cap the cut decides, and the history that shows it is found', () => {
  const tight: FieldKind = multi(z.string().max(1), { cap: 1 });
  const found = fc.check(
    fc.property(acts, orders, orders, (history, one, other) => {
      const all = placed(history);
      return folded(tight, all, one, letter).json === folded(tight, all, other, letter).json;
    }),
    { numRuns: 500, seed: 7 },
  );
  expect(found.failed).toBe(true);
});

test('[PRI1] any order and any cut give the same value of a priority register, in whatever roles its agents write', () => {
  isFree(priority(z.string().max(1)), letter);
});

test('[GRP2] a group of a grade A rule is as free as the rule', () => {
  isFree(group(parts, { rule: 'lww' }), pair);
  isFree(group(parts, { rule: 'priority' }), pair);
  isFree(group(parts, { rule: 'multi' }), pair);
});

test('[LWW1] any order and any cut give the same value of a last-writer-wins register', () => {
  isFree(lww(z.string().max(1)), letter);
});
