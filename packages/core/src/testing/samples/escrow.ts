/**
 * What the tests know of `quota` in escrow mode. A naive cell lists all accepted moves of rights, and which of them each agent
 * has disposed of.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { quota } from '../../kinds/counter.ts';
import type { Choice } from '../choice.ts';
import type { SampleKind } from '../sample-kind.ts';

export type EscrowSpec = {
  readonly kind: 'escrow';
  readonly lo: number;
  readonly start: number;
  readonly hi?: number;
  readonly shares: number;
  readonly granters: readonly string[];
};
/** `from` and `to` are agents; absent where rights come from the pool, are made or are spent. */
type Move = { readonly dot: string; readonly from?: string; readonly to?: string; readonly amount: number };
type Own = { pool: number; moves: Move[]; known: { [agent: string]: string[] } };

/** Names that rights go to: two of a play's agents, so that they are spent as well. */
const RECEIVERS: readonly [string, ...string[]] = ['bob', 'ada', 'cy'];

export const escrowSample: SampleKind<EscrowSpec, Own> = {
  kind: 'escrow',
  simple: [
    { kind: 'escrow', lo: 0, start: 6, shares: 4, granters: ['lead'] },
    { kind: 'escrow', lo: 0, start: 3, hi: 4, shares: 2, granters: ['lead', 'worker'] },
  ],
  random: (choice) => ({
    kind: 'escrow',
    lo: choice.upTo(2) - 1,
    start: 2 + choice.upTo(3),
    ...(choice.upTo(2) === 0 ? {} : { hi: 6 }),
    shares: 1 + choice.upTo(4),
    granters: choice.of([['lead', 'worker'], ['lead'], ['worker']]),
  }),
  field: (spec) => quota({ ...spec, mode: 'escrow' }) as Field,
  intent: (_, choice) => {
    const verb = choice.upTo(4);
    if (verb < 2) return { inc: choice.of([-1, 1, -2, 2, 0]) };
    return { [verb === 2 ? 'grant' : 'transfer']: moved(choice) };
  },
  own: (spec) => ({ pool: spec.start - spec.lo, moves: [], known: {} }),
  fold: (trial, spec, cell, verbs, path) => {
    const { agent } = trial;
    const { own } = cell;
    const [verb, asked] = Object.entries(verbs)[0] as [string, Json];
    const { to, amount } = verb === 'inc' ? { to: agent, amount: asked as number } : (asked as { to: string; amount: number });
    if (verb !== 'inc' && amount < 1) return trial.refuse();
    if (verb === 'grant') {
      if (!spec.granters.includes(trial.role) || amount > own.pool) return trial.refuse();
      own.pool -= amount;
      own.moves.push({ dot: trial.dot, to, amount });
    } else {
      if (verb === 'inc' ? amount === 0 : to === agent) return trial.note(path, 'unchanged');
      const spent = verb === 'inc' ? -amount : amount;
      if (spent > seenBy(own, agent, trial.past)) return trial.refuse();
      if (verb === 'inc') cell.value = (cell.value as number) + amount;
      if (spec.hi !== undefined && (cell.value as number) > spec.hi) return trial.refuse();
      if (verb === 'transfer') own.moves.push({ dot: trial.dot, from: agent, to, amount });
      else own.moves.push({ dot: trial.dot, ...(amount > 0 ? { to } : { from: agent }), amount: Math.abs(amount) });
    }
    if (verb !== 'grant' || to === agent) own.known[agent] = [...(own.known[agent] ?? []), ...trial.past];
    const before = holders({ ...own, moves: own.moves.slice(0, -1) }).length;
    const after = holders(own).length;
    if (after > spec.shares && after > before) return trial.refuse();
    trial.change(cell);
  },
  json: (_, { value, own }) => ({
    value: value ?? null,
    pool: own.pool,
    shares: Object.fromEntries(holders(own).map((agent) => [agent, shareOf(own.moves, agent)])),
  }),
  outside: (spec, json) => {
    const { value, pool, shares } = json as { value: number; pool: number; shares: JsonObject };
    const held = Object.values(shares) as readonly number[];
    if (held.length > spec.shares) return `has ${held.length} shares`;
    if (value > (spec.hi ?? Infinity) || value < spec.lo) return `is ${value}`;
    if (pool < 0 || held.some((share) => share < 1)) return 'has given away what it had not';
    return held.reduce((sum, share) => sum + share, pool) === value - spec.lo ? undefined : 'has other rights than room';
  },
  count: (spec, verbs) => ({ start: spec.start, by: (verbs['inc'] ?? 0) as number, within: 'value' }),
};

function moved(choice: Choice): JsonObject {
  return { to: choice.of(RECEIVERS), amount: choice.of([1, 2, 3, 1, 0]) };
}

/** What the agent may dispose of: all that it gave or made itself, and what came to it that it knows of. */
function seenBy(own: Own, agent: string, past: ReadonlySet<string>): number {
  const known = own.moves.filter(
    ({ dot }) => dot.split(' ')[0] === agent || past.has(dot) || own.known[agent]?.includes(dot) === true,
  );
  return shareOf(known, agent);
}

function shareOf(moves: readonly Move[], agent: string): number {
  return moves.reduce((sum, { from, to, amount }) => sum + (to === agent ? amount : 0) - (from === agent ? amount : 0), 0);
}

function holders(own: Own): readonly string[] {
  const names = new Set(own.moves.flatMap(({ from, to }) => [from ?? [], to ?? []].flat()));
  return [...names].filter((agent) => shareOf(own.moves, agent) > 0);
}
