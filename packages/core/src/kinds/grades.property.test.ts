import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Mark } from '../dot.ts';
import type { Attempt, FieldKind } from '../field-kind.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical } from '../json.ts';
import { stampOf } from '../stamp.ts';
import { choiceOf, fieldOf, intentFrom, numbersFrom, runsOf } from '../testing/index.ts';
import type { Choice, FieldSpec } from '../testing/index.ts';

/**
 * One proposal of a causal history: whose, which earlier ones it has seen (a bit each), and what it asks. The same proposals
 * are folded in two orders that respect what each has seen, cut into rounds in two ways.
 */
type Step = { readonly agent: number; readonly seen: number; readonly what: number };
type Event = { readonly dot: string; readonly intent: Json; readonly past: ReadonlySet<string>; readonly attempt: Attempt };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ agent: fc.nat(2), seen: fc.nat(127), what: fc.nat(0x7fffffff) }, { noNullPrototype: true }),
  { minLength: 2, maxLength: 8 },
);

const DIGITS: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Types with 10 values, and room for all of them. */
const ORDER_FREE: readonly FieldSpec[] = [
  { kind: 'set', of: 'digit', cap: 10 },
  { kind: 'grow-set', of: 'digit', cap: 10 },
  { kind: 'remove-wins', of: 'digit', cap: 10 },
  { kind: 'top-k', k: 2 },
  { kind: 'log', of: 'text', keep: 3, order: 'stamp' },
];
const CUT_DECIDES: readonly FieldSpec[] = [
  { kind: 'set', of: 'text', cap: 2 },
  { kind: 'grow-set', of: 'text', cap: 2 },
  { kind: 'remove-wins', of: 'text', cap: 2 },
  { kind: 'log', of: 'text', keep: 3, order: 'commit' },
  { kind: 'log', of: 'pair', keep: 3, order: 'stamp', id: 'id' },
  { kind: 'log', of: 'text', keep: 3, order: 'stamp', overflow: 'reject' },
];

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('grades of collections', () => {
  test.each(ORDER_FREE.map((spec) => [spec.kind, spec] as const))(
    '[GRD1] %s: any order and any cut give the same values',
    (_, spec) => {
      const kind = fieldOf(spec);
      expect(kind.grade.letter).toBe('A');
      const result = fc.check(differs(kind, spec), { numRuns: runsOf(3_000) });
      expect(result.counterexample).toBeNull();
    },
  );

  test.each(CUT_DECIDES.map((spec) => [canonical(spec as Json), spec] as const))(
    '[GRD2] %s: some cut gives other values',
    (_, spec) => {
      const kind = fieldOf(spec);
      expect(kind.grade.letter).toBe('B');
      expect(fc.check(differs(kind, spec), { numRuns: 2_000, seed: 11 }).failed).toBe(true);
    },
  );

  test('[RMW3] remove-wins: a value is there exactly if some add has seen every remove of it', () => {
    const spec = { kind: 'remove-wins', of: 'digit', cap: 10 };
    const kind = fieldOf(spec);
    fc.assert(
      fc.property(steps, fc.nat(), (list, seed) => {
        const events = eventsOf(list, spec);
        const asked = (verb: string): readonly (readonly [Event, Json])[] =>
          events.flatMap((event) => {
            const isRead = kind.read(event.intent, '', () => undefined) !== undefined;
            const values = isRead ? (((event.intent as JsonObject)[verb] ?? []) as readonly Json[]) : [];
            return values.map((value) => [event, value] as const);
          });
        const removes = asked('remove');
        const present = asked('add').filter(([add, value]) =>
          removes.every(([remove, other]) => other !== value || add.past.has(remove.dot)),
        );
        expect(folded(kind, events, seed)).toEqual(DIGITS.filter((digit) => present.some(([, value]) => value === digit)));
      }),
      { numRuns: runsOf(3_000) },
    );
  });
});

function differs(kind: FieldKind, spec: FieldSpec): fc.IProperty<[readonly Step[], number, number]> {
  return fc.property(steps, fc.nat(), fc.nat(), (list, one, other) => {
    const events = eventsOf(list, spec);
    return canonical(folded(kind, events, one)) === canonical(folded(kind, events, other));
  });
}

/** The proposals, in one order that respects what each has seen. An agent's view is closed; its own past comes on top, without what that had seen. */
function eventsOf(list: readonly Step[], spec: FieldSpec): readonly Event[] {
  const events: Event[] = [];
  const depths = new Map<string, number>();
  for (const [i, { agent: who, seen, what }] of list.entries()) {
    const agent = ['ada', 'bob', 'cy'][who] as string;
    const own = events.filter((event) => event.attempt.agent === agent);
    const read = events.filter((_, j) => j < i && (seen >> j) % 2 === 1);
    const past = new Set([...read.flatMap(({ dot, past: below }) => [dot, ...below]), ...own.map(({ dot }) => dot)]);
    const n = own.length + 1;
    const dot = `${agent} ${n}`;
    const revision = Math.max(0, ...[...past].map((earlier) => depths.get(earlier) as number));
    const stamp = stampOf({ revision, priority: 0, agent, n });
    depths.set(dot, stamp.depth);
    const sees = (mark: Mark | undefined): boolean => mark === undefined || past.has(`${mark.agent} ${mark.n}`);
    const attempt = {
      agent,
      mark: { agent, n, revision: 0 },
      stamp,
      horizon: 0,
      sees,
      note: () => undefined,
    } as unknown as Attempt;
    events.push({ dot, intent: intentOf(spec, choiceOf(what)), past, attempt });
  }
  return events;
}

/** Adds and removes of two values only, where there is room for all: what comes of one value takes several operations on it to go wrong. */
function intentOf(spec: FieldSpec, choice: Choice): Json {
  const hasRemove = spec.kind === 'set' || spec.kind === 'remove-wins';
  return hasRemove && spec['of'] === 'digit' ? { [choice.of(['add', 'remove'])]: [choice.upTo(2)] } : intentFrom(spec, choice);
}

/** The values after all proposals, in an order and a cut that the seed decides: nobody sees what is not sealed, but its own. */
function folded(kind: FieldKind, events: readonly Event[], seed: number): Json {
  const next = numbersFrom(seed);
  const rest = [...events];
  const sealed = new Set<string>();
  let open: string[] = [];
  let cell = kind.empty(undefined);
  let revision = 1;
  const close = (): void => {
    cell = kind.settle?.(cell, '', () => undefined) ?? cell;
    for (const dot of open) sealed.add(dot);
    open = [];
    revision += 1;
  };
  while (rest.length > 0) {
    const isDue = ({ past, attempt }: Event): boolean =>
      [...past].every((dot) => sealed.has(dot) || (open.includes(dot) && dot.startsWith(`${attempt.agent} `)));
    const due = rest.filter(isDue);
    if (due.length === 0 || next() % 3 === 0) close();
    const event = due[next() % Math.max(1, due.length)];
    if (event === undefined || !isDue(event)) continue;
    rest.splice(rest.indexOf(event), 1);
    open.push(event.dot);
    let isRefused = false;
    const op = kind.read(event.intent, '', () => undefined);
    const attempt = {
      ...event.attempt,
      mark: { ...event.attempt.mark, revision },
      refuse: () => {
        isRefused = true;
      },
    };
    const after = op === undefined ? cell : kind.fold(cell, op, '', attempt);
    if (!isRefused) cell = after;
  }
  close();
  return kind.json(cell);
}
