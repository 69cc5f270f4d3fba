/**
 * `quota` in escrow mode: a sum with a floor, whose room is dealt out as shares, and each agent spends only its own.
 *
 * What stands above `lo` is held as rights: one pool that nobody owns, and a share an agent. A grant moves rights from the
 * pool to an agent, a transfer from the sender's share to another agent's; a negative `inc` spends the sender's share, a
 * positive one adds to it. So a spend needs nobody else's leave. An agent disposes of what it has seen: rights that came
 * after its view stand in its share but answer only a later view, or whether a spend is accepted would depend on the order
 * of things that did not know of each other. Source: Balegas et al. 2015, "Extending Eventually Consistent Cloud Databases
 * for Enforcing Numeric Invariants". SPEC: ESC1-ESC9.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, AGENT_PATTERN, decodeMark, encodeMark } from '../dot.ts';
import { fault, fieldFrom } from '../fault.ts';
import type { Attempt, Complain, Field, FieldKind } from '../field-kind.ts';
import { checkOptions, COUNT, NAMES } from '../field-options.ts';
import { readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { isJsonObject, sameJson } from '../json.ts';
import { malformed, outOfBounds } from '../refusal.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieSorted, trieWith, trieWithout } from '../trie.ts';
import { integerRange, isInteger } from './integer-range.ts';

/**
 * The value starts at `start`, and `start - lo` rights in the pool. Without `hi` the value has no upper bound
 * but that of safe integers. At most `shares` agents
 * hold rights at a time. `granters` are the roles that may deal out the pool.
 */
export type EscrowOptions = {
  readonly mode: 'escrow';
  readonly lo: number;
  readonly start: number;
  readonly hi?: number;
  readonly shares: number;
  readonly granters: readonly string[];
};

/** `value - lo` is the pool and all shares together. Agents without rights are not listed. */
export type EscrowView = {
  readonly value: number;
  readonly pool: number;
  readonly shares: { readonly [agent: string]: number };
};

export type EscrowIntent =
  | { readonly inc: number }
  | { readonly transfer: { readonly to: string; readonly amount: number } }
  | { readonly grant: { readonly to: string; readonly amount: number } };

/** A sum whose room above `lo` is spent in shares. */
export function escrow(options: EscrowOptions): Field<EscrowView, EscrowIntent> {
  return fieldFrom(() => escrowOf(options));
}

const OPTIONS = z.object({
  mode: z.literal('escrow'),
  lo: z.int(),
  start: z.int(),
  hi: z.int().optional(),
  shares: COUNT,
  granters: NAMES,
});
const USAGE = "Use quota({ mode: 'escrow', lo: 0, start: 100, shares: 8, granters: ['lead'] }).";

function escrowOf(options: EscrowOptions): FieldKind<Escrow, EscrowOp> {
  checkOptions('escrow', USAGE, OPTIONS, options);
  const { start, shares: cap } = options;
  // In ascending order: a refusal names them, and the digest of a definition does not cover the order.
  const granters = options.granters.toSorted();
  const { lo, hi } = integerRange('escrow', { hi: Number.MAX_SAFE_INTEGER + Math.min(0, options.lo), ...options });
  if (!Number.isSafeInteger(hi - lo)) throw fault(`escrow: ${lo} to ${hi} is too wide`, 'The rights above lo must be countable.');
  const bounds: Bounds = { hi, cap, granters };
  const kind: FieldKind<Escrow, EscrowOp> = {
    name: 'escrow',
    grade: {
      letter: 'B',
      why: `spends and transfers draw on a share that their agent saw (A); grants from one pool, shares beyond ${cap}${options.hi === undefined ? '' : ' and increments up to hi'} are admitted in the order of the log`,
    },
    bytesMax: '{"pool":,"shares":{},"value":}'.length + 34 + cap * (34 + 18),
    verbs: VERBS,
    summary: `a sum of at least ${lo}${options.hi === undefined ? '' : ` and at most ${hi}`}; each agent spends its own share`,
    roles: granters,
    empty: (born) => ({ value: start, pool: start - lo, shares: emptyTrie(), mark: born }),
    read,
    weigh: () => 1,
    erases: () => 0,
    fold: (cell, op, path, attempt) => fold(bounds, cell, op, path, attempt),
    withoutEcho: (_, op) => (op.verb === 'inc' && op.amount === 0 ? undefined : op),
    write: (op) => (op.verb === 'inc' ? { inc: op.amount } : { [op.verb]: { to: op.to, amount: op.amount } }),
    newest: (cell) => cell.mark,
    view: jsonOf,
    json: jsonOf,
    encode: (cell) => {
      const shares = trieSorted(cell.shares).map(([agent, share]) => `${JSON.stringify(agent)}:${encodeShare(share)}`);
      return `{"mark":${encodeMark(cell.mark)},"pool":${cell.pool},"shares":{${shares.join()}},"value":${cell.value}}`;
    },
    decode,
    digest: (cell, sha256) =>
      leafDigest(
        `["${trieDigest(cell.shares, encodeShare, sha256)}",${cell.pool},${cell.value},${encodeMark(cell.mark)}]`,
        sha256,
      ),
    valueSchema: () => {
      const rights = { type: 'integer', minimum: 0, maximum: hi - lo };
      return {
        type: 'object',
        properties: {
          value: { type: 'integer', minimum: lo, maximum: hi },
          pool: rights,
          shares: { type: 'object', additionalProperties: { ...rights, minimum: 1 }, maxProperties: cap },
        },
        required: ['value', 'pool', 'shares'],
        additionalProperties: false,
      };
    },
    assign: (cell, change, path, complain) => {
      const now = jsonOf(cell);
      const value = changed(now, change);
      if (!sameJson(now, value))
        complain(path, malformed('escrow', 'Neither sum nor shares are set; use inc, transfer or grant.', value));
      return undefined;
    },
    samples: () => [{ inc: 1 }, { inc: -1 }, { grant: { to: 'ada', amount: 1 } }, { transfer: { to: 'ada', amount: 1 } }],
    modelSchema: () => {
      const moved = {
        type: 'object',
        properties: { to: { type: 'string' }, amount: { type: 'integer' } },
        required: ['to', 'amount'],
        additionalProperties: false,
      };
      return strictObject({ inc: { type: 'integer' }, transfer: moved, grant: moved });
    },
    fromModel: withoutNulls,
    declaration: () => ({ kind: 'escrow', lo, hi, start, shares: cap, granters }),
  };
  return kind;
}

/** Rights that came from another agent and that this one may not have seen yet. */
type Receipt = { readonly amount: number; readonly mark: Mark };
/** `own` is what its agent has seen, or what every base holds; `received` what came since, oldest first. */
type Share = { readonly own: number; readonly received: readonly Receipt[] };
type Escrow = {
  readonly value: number;
  readonly pool: number;
  readonly shares: Trie<Share>;
  readonly mark: Mark | undefined;
};
type Moved = { readonly to: string; readonly amount: number };
type EscrowOp = { readonly verb: 'inc'; readonly amount: number } | ({ readonly verb: 'transfer' | 'grant' } & Moved);
type Bounds = { readonly hi: number; readonly cap: number; readonly granters: readonly string[] };

const VERBS = ['inc', 'transfer', 'grant'];
/** Most receipts that a share tells apart; further ones join the newest. */
const RECEIPTS_MAX = 64;
const NOTHING: Share = { own: 0, received: [] };

function read(intent: Json, path: string, complain: Complain): EscrowOp | undefined {
  const found = readOneVerb(intent, 'escrow', VERBS, path, complain);
  if (found === undefined) return undefined;
  const { verb, value } = found;
  if (verb === 'inc') {
    if (isInteger(value)) return { verb, amount: value };
    complain(path, malformed('escrow', 'inc takes a signed whole number below 2^53.', value));
    return undefined;
  }
  const moved = isJsonObject(value) && Object.keys(value).length === 2 ? value : {};
  const { to = null, amount = null } = moved;
  if (typeof to === 'string' && AGENT_PATTERN.test(to) && isInteger(amount) && amount >= 1)
    return { verb: verb === 'grant' ? 'grant' : 'transfer', to, amount };
  complain(
    path,
    malformed('escrow', `${verb} takes the name of an agent and a whole number of at least 1: {to, amount}.`, value),
  );
  return undefined;
}

function fold(bounds: Bounds, cell: Escrow, op: EscrowOp, path: string, attempt: Attempt): Escrow {
  const { agent } = attempt;
  if (op.verb === 'grant' && !attempt.mayWrite(path, { writers: bounds.granters })) return cell;
  if (op.verb === 'inc' ? op.amount === 0 : op.verb === 'transfer' && op.to === agent) {
    attempt.note(path, { kind: 'unchanged' });
    return cell;
  }
  if (op.verb === 'grant') {
    if (op.amount <= cell.pool) {
      const after = { ...cell, pool: cell.pool - op.amount, shares: received(cell.shares, op, attempt) };
      return withinCap(bounds, cell, after, path, attempt);
    }
    attempt.refuse(path, outOfBounds('escrow', cell.pool, op.amount, `The pool holds ${cell.pool}.`));
    return cell;
  }
  const before = seen(trieAt(cell.shares, agent) ?? NOTHING, attempt);
  const by = op.verb === 'inc' ? op.amount : -op.amount;
  if (before.own + by < 0) {
    attempt.refuse(path, overdrawn(before, by));
    return cell;
  }
  const value = op.verb === 'inc' ? cell.value + by : cell.value;
  if (value > bounds.hi) {
    attempt.refuse(path, outOfBounds('escrow', cell.value, by, `There is room for ${bounds.hi - cell.value} more.`));
    return cell;
  }
  const left = withShare(cell.shares, agent, { ...before, own: before.own + by });
  const shares = op.verb === 'transfer' ? received(left, op, attempt) : left;
  return withinCap(bounds, cell, { ...cell, value, shares }, path, attempt);
}

function withinCap(bounds: Bounds, cell: Escrow, after: Escrow, path: string, attempt: Attempt): Escrow {
  if (after.shares.size > bounds.cap && after.shares.size > cell.shares.size) {
    const hint = `At most ${bounds.cap} agents hold shares; one goes when it is spent.`;
    attempt.refuse(path, outOfBounds('escrow', cell.shares.size, after.shares.size, hint));
  }
  return { ...after, mark: affirmed(cell.mark, attempt.mark) };
}

function overdrawn(share: Share, by: number): ReturnType<typeof outOfBounds> {
  const later = totalOf(share) - share.own;
  const since = later === 0 ? '' : `, and ${later} more came after your view`;
  const refusal = outOfBounds('escrow', share.own, by, `Your share is ${share.own}${since}.`);
  return share.own + later + by < 0 ? refusal : { ...refusal, recovery: 're-read' };
}

/** The share as its agent sees it now: what it has once seen it does not forget, whatever view it proposes on later. */
function seen(share: Share, attempt: Attempt): Share {
  const isKnown = ({ mark }: Receipt): boolean => mark.revision <= attempt.horizon || attempt.sees(mark);
  const known = share.received.filter(isKnown);
  if (known.length === 0) return share;
  return {
    own: share.own + known.reduce((sum, { amount }) => sum + amount, 0),
    received: share.received.filter((receipt) => !isKnown(receipt)),
  };
}

/** The shares with rights that one more agent has not seen yet, unless it gave them to itself. */
function received(shares: Trie<Share>, { to, amount }: Moved, attempt: Attempt): Trie<Share> {
  const share = trieAt(shares, to) ?? NOTHING;
  if (to === attempt.agent) {
    const known = seen(share, attempt);
    return withShare(shares, to, { ...known, own: known.own + amount });
  }
  const settled = share.received.filter(({ mark }) => mark.revision <= attempt.horizon);
  const open = share.received.slice(settled.length);
  const own = share.own + settled.reduce((sum, receipt) => sum + receipt.amount, 0);
  const newest = open.length < RECEIPTS_MAX ? undefined : open.at(-1);
  const receipt = { amount: amount + (newest?.amount ?? 0), mark: attempt.mark };
  return withShare(shares, to, { own, received: [...(newest === undefined ? open : open.slice(0, -1)), receipt] });
}

function withShare(shares: Trie<Share>, agent: string, share: Share): Trie<Share> {
  return totalOf(share) === 0 ? trieWithout(shares, agent) : trieWith(shares, agent, share);
}

function totalOf(share: Share): number {
  return share.received.reduce((sum, { amount }) => sum + amount, share.own);
}

function jsonOf(cell: Escrow): EscrowView {
  const shares = Object.fromEntries(trieSorted(cell.shares).map(([agent, share]) => [agent, totalOf(share)]));
  return { value: cell.value, pool: cell.pool, shares };
}

/** `[5,[2,["ada",3,7]]]`: what is the agent's own, then what it may not have seen, with marks. */
function encodeShare({ own, received: receipts }: Share): string {
  return `[${[own, ...receipts.map(({ amount, mark }) => `[${amount},${encodeMark(mark)}]`)].join()}]`;
}

function decode(stored: Json): Escrow {
  const cell = stored as JsonObject;
  let shares = emptyTrie<Share>();
  for (const [agent, share] of Object.entries(cell['shares'] as JsonObject)) {
    const [own, ...receipts] = share as readonly [number, ...(readonly (readonly [number, Json])[])];
    const receivedOf = receipts.flatMap(([amount, stamped]): readonly Receipt[] => {
      const mark = decodeMark(stamped);
      return mark === undefined ? [] : [{ amount, mark }];
    });
    shares = trieWith(shares, agent, { own, received: receivedOf });
  }
  return { value: cell['value'] as number, pool: cell['pool'] as number, shares, mark: decodeMark(cell['mark']) };
}
