/**
 * `claim`: one holder at a time, first in canonical order.
 *
 * The fencing number of a grant says where in history it stands: the revision, and the place of its proposal in the round.
 * So it grows with every grant of a path, whatever was dropped and made anew in between, and nothing has to be remembered for
 * it. It is handed to tools, never to a model. A release or a handoff is of the grant that was seen, never of a later one to the same agent. How the
 * last holding ended stays to be seen, with the outcome that a release left. A lease ends by an event in the log, when the
 * holder has been silent or has left; whoever waits is told so on arrival, and nobody is parked. Source: Kleppmann 2016,
 * "How to do distributed locking", for fencing; Gray and Cheriton 1989, "Leases". SPEC: CLM1-CLM12.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { AGENT_PATTERN, decodeMark, encodeMark, summed } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Attempt, Complain, Expiry, Field, FieldKind, Refusal } from '../field-kind.ts';
import { checkOptions, COUNT } from '../field-options.ts';
import { isOfType, nullable, readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, isJsonObject, sameJson } from '../json.ts';
import { ROUND_PROPOSALS_MAX } from '../proposal.ts';
import { conflict, malformed } from '../refusal.ts';
import { samplesOfType } from '../value-samples.ts';
import { valueType } from '../value-type.ts';
import type { JsonSchema } from '../value-type.ts';

/** How a holding ended; `outcome` is what a release left, `null` when nothing was. */
export type ClaimEnd = {
  readonly holder: string;
  readonly how: 'released' | 'handed over' | 'expired' | 'left';
  readonly outcome: string | null;
};

/** `fence` is the fencing number of the newest grant, below 2^53, 0 before the first; `last` the end of the holding before this one. */
export type ClaimView = {
  readonly holder: string | undefined;
  readonly fence: number;
  readonly last: ClaimEnd | undefined;
};

export type ClaimIntent =
  | { readonly claim: true }
  | { readonly release: true | { readonly outcome: string } }
  | { readonly handoff: { readonly to: string } };

/**
 * `outcomeCharsMax` caps the text that a release may leave; 200 when left out. With `leaseMs`, at least 1, a holding ends by
 * itself once its holder has left, or has proposed nothing for that long; without it, it lasts until it is given up. `force`
 * lists the roles that may drop the key or the row in which another agent holds it: name one where no lease ends it.
 */
export type ClaimOptions = {
  readonly outcomeCharsMax?: number;
  readonly leaseMs?: number;
  readonly force?: readonly string[];
};

/** A thing that one agent holds at a time. */
export function claim(options: ClaimOptions = {}): Field<ClaimView, ClaimIntent> {
  return fieldFrom(() => claimOf(options));
}

const OPTIONS = z.object({
  outcomeCharsMax: z.int().min(0).optional(),
  leaseMs: COUNT.optional(),
  force: z.array(z.string()).optional(),
});

function claimOf(options: ClaimOptions): FieldKind<Claim, ClaimOp> {
  checkOptions('claim', 'Use claim() or claim({ leaseMs: 60_000, outcomeCharsMax: 200 }).', OPTIONS, options);
  const { leaseMs, force = [] } = options;
  const outcome = valueType(z.string().max(options.outcomeCharsMax ?? 200), 'claim');
  const kind: FieldKind<Claim, ClaimOp> = {
    name: 'claim',
    grade: { letter: 'B', why: 'of two concurrent claims the first in the log holds' },
    bytesMax: FRAME_BYTES + Math.max(outcome.bytesMax, 4),
    verbs: VERBS,
    summary:
      leaseMs === undefined
        ? 'held by one agent at a time'
        : `held by one agent at a time; ends ${leaseMs} ms after the last word of its holder`,
    ...(force.length === 0 ? {} : { roles: force }),
    empty: (born) => ({ holder: undefined, fence: 0, last: undefined, mark: born }),
    read: (intent, path, complain) => {
      const read = readOneVerb(intent, 'claim', VERBS, path, complain);
      return read === undefined ? undefined : readClaim(read.verb, read.value, path, complain);
    },
    weigh: () => 1,
    erases: () => 0,
    fold: (cell, op, path, attempt) => fold(cell, op, path, attempt, leaseMs),
    mayDrop: ({ holder }, path, attempt) => {
      if (holder === undefined || holder === attempt.agent || force.includes(attempt.role)) return true;
      attempt.refuse(path, heldBelow(holder));
      return false;
    },
    withoutEcho: (_, op) => op,
    write: (op) => writeClaim(op),
    ...(leaseMs === undefined
      ? {}
      : {
          timerMs: leaseMs,
          timers: ({ holder, fence }, path) => (holder === undefined ? [] : [{ path, token: fence, ms: leaseMs, holder }]),
          expire: (cell, tokens, expiry) => (tokens.length > 0 ? cell : expire(cell, expiry)),
        }),
    newest: (cell) => cell.mark,
    view: ({ holder, fence, last }) => ({ holder, fence, last }),
    json: (cell) => ({ holder: cell.holder ?? null, last: cell.last ?? null }),
    encode,
    decode,
    digest: (cell, sha256) => leafDigest(encode(cell), sha256),
    valueSchema: () => ({
      type: 'object',
      properties: { holder: nullable({ type: 'string' }), last: nullable(endSchema(outcome.jsonSchema)) },
      required: ['holder', 'last'],
      additionalProperties: false,
    }),
    assign: (cell, change, path, complain) => {
      const { holder: now = null, last: end = null } = kind.json(cell) as JsonObject;
      const wanted: Json = changed(kind.json(cell), change) ?? { holder: null, last: end };
      const { holder = null, last = null, ...others }: JsonObject = isJsonObject(wanted) ? wanted : { wanted };
      if (sameJson(last, end) && Object.keys(others).length === 0) {
        if (holder === now) return undefined;
        if (holder === null) return { release: true };
      }
      complain(path, malformed('claim', 'A claim is not set; use {claim: true}, {release: true} or {handoff: {to}}.'));
      return undefined;
    },
    samples: () => [
      { claim: true },
      { release: true },
      ...samplesOfType(outcome, 1).map((left) => ({ release: { outcome: left } })),
    ],
    modelSchema: () =>
      strictObject({
        claim: { type: 'boolean' },
        release: strictObject({ outcome: outcome.jsonSchema }),
        handoff: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'], additionalProperties: false },
      }),
    fromModel: (answer) => fromModel(answer),
    declaration: () => ({
      kind: 'claim',
      outcome: outcome.jsonSchema,
      ...(leaseMs === undefined ? {} : { leaseMs }),
      ...(force.length === 0 ? {} : { force: force.toSorted() }),
    }),
  };
  return kind;

  function readClaim(verb: string, value: Json, path: string, complain: Complain): ClaimOp | undefined {
    if (verb === 'claim' && value === true) return { verb: 'claim' };
    if (verb === 'release' && value === true) return { verb: 'release', outcome: null };
    if (verb === 'release' && hasOnly(value, 'outcome')) {
      const left = value['outcome'] as Json;
      return isOfType(outcome, left, 'claim', path, complain) ? { verb: 'release', outcome: left as string } : undefined;
    }
    if (verb === 'handoff' && hasOnly(value, 'to')) {
      const to = value['to'];
      if (typeof to === 'string' && AGENT_PATTERN.test(to)) return { verb: 'handoff', to };
    }
    complain(path, malformed('claim', 'Use {claim: true}, {release: true}, {release: {outcome}} or {handoff: {to}}.', value));
    return undefined;
  }
}

type Claim = {
  readonly holder: string | undefined;
  readonly fence: number;
  readonly last: ClaimEnd | undefined;
  readonly mark: Mark | undefined;
};
type ClaimOp =
  | { readonly verb: 'claim' }
  | { readonly verb: 'release'; readonly outcome: string | null }
  | { readonly verb: 'handoff'; readonly to: string };

const VERBS = ['claim', 'release', 'handoff'];

function hasOnly(value: Json, key: string): value is JsonObject {
  return isJsonObject(value) && Object.keys(value).length === 1 && key in value;
}

function fold(cell: Claim, op: ClaimOp, path: string, attempt: Attempt, leaseMs: number | undefined): Claim {
  const { agent } = attempt;
  const { holder, fence } = cell;
  const mark = summed(cell.mark, attempt.mark);
  // One patch grants a claim once at most.
  const granted = mark.revision * ROUND_PROPOSALS_MAX + attempt.turn;
  if (op.verb === 'claim') {
    if (holder === agent) attempt.note(path, { kind: 'unchanged' });
    if (holder === undefined) return { holder: agent, fence: granted, last: cell.last, mark };
    if (holder !== agent) attempt.refuse(path, held(holder, agent, leaseMs));
    return cell;
  }
  if (holder !== agent) {
    attempt.refuse(path, notHolder(cell, op.verb, agent));
    return cell;
  }
  if (!attempt.sees(cell.mark)) {
    attempt.refuse(path, conflict('claim', { holder }, { [op.verb]: true }, cell.mark, agent));
    return cell;
  }
  if (op.verb === 'release') return { holder: undefined, fence, last: ended(agent, 'released', op.outcome), mark };
  return { holder: op.to, fence: granted, last: ended(agent, 'handed over'), mark };
}

/** Ends the holding that the token names, unless another one, or none, stands there now. */
function expire(cell: Claim, { token, cause, mark }: Expiry): Claim {
  const { holder, fence } = cell;
  if (holder === undefined || fence !== token || cause === 'deadline') return cell;
  return { holder: undefined, fence, last: ended(holder, cause === 'left' ? 'left' : 'expired'), mark: summed(cell.mark, mark) };
}

function ended(holder: string, how: ClaimEnd['how'], outcome: string | null = null): ClaimEnd {
  return Object.freeze({ holder, how, outcome });
}

function held(holder: string, want: string, leaseMs: number | undefined): Refusal {
  const end =
    leaseMs === undefined ? 'its release' : `its end: by release, or by itself ${leaseMs} ms after the last word of ${holder}`;
  return {
    code: 'held',
    rule: 'claim',
    have: { holder },
    want: { holder: want },
    by: holder,
    recovery: 'wait',
    hint: `${holder} holds it. Take other work, or wait for ${end}.`,
  };
}

/** To who would drop what the claim stands in. */
function heldBelow(holder: string): Refusal {
  const hint = `${holder} holds it. Wait for its end before you drop what it stands in.`;
  return { code: 'held', rule: 'claim', have: { holder }, by: holder, recovery: 'wait', hint };
}

function notHolder({ holder, last }: Claim, verb: string, agent: string): Refusal {
  const why = last?.holder === agent ? ENDED[last.how] : 'You do not hold this claim.';
  return {
    code: 'not_owner',
    rule: 'claim',
    have: { holder: holder ?? null },
    want: { [verb]: true },
    ...(holder === undefined ? {} : { by: holder }),
    recovery: 'claim-again',
    hint: `${why} Claim it first, if it is free.`,
  };
}

/** What one is told whose own holding was the last. */
const ENDED: { readonly [how in ClaimEnd['how']]: string } = {
  released: 'You have released this claim.',
  'handed over': 'You have handed this claim over.',
  expired: 'You held this claim until its lease ran out.',
  left: 'You held this claim until your session left.',
};

/** The most that the JSON of a claim takes beside the outcome: two names of 32 characters and the longest word for an end. */
const FRAME_BYTES = 129;

function endSchema(outcome: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { holder: { type: 'string' }, how: { enum: Object.keys(ENDED) }, outcome: nullable(outcome) },
    required: ['holder', 'how', 'outcome'],
    additionalProperties: false,
  };
}

function writeClaim(op: ClaimOp): Json {
  if (op.verb === 'claim') return { claim: true };
  if (op.verb === 'handoff') return { handoff: { to: op.to } };
  return { release: op.outcome === null ? true : { outcome: op.outcome } };
}

function fromModel(answer: Json): Json {
  const verbs = withoutNulls(answer);
  if (!isJsonObject(verbs)) return verbs;
  const { claim: wants, release, ...rest } = verbs;
  const left = release === undefined ? undefined : withoutNulls(release);
  return {
    ...rest,
    ...(wants === true ? { claim: true } : {}),
    ...(left === undefined ? {} : { release: isJsonObject(left) && Object.keys(left).length === 0 ? true : left }),
  };
}

function encode({ holder, fence, last, mark }: Claim): string {
  const now = holder === undefined ? '' : `,"holder":"${holder}"`;
  return `{"fence":${fence}${now},"last":${canonical(last ?? null)},"mark":${encodeMark(mark)}}`;
}

function decode(stored: Json): Claim {
  const cell = stored as JsonObject;
  return {
    holder: cell['holder'] as string | undefined,
    fence: cell['fence'] as number,
    last: cell['last'] === null ? undefined : (Object.freeze(cell['last']) as ClaimEnd),
    mark: decodeMark(cell['mark']),
  };
}
