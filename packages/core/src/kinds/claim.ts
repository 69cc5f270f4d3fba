/**
 * `claim`: one holder at a time, first in canonical order.
 *
 * The fencing number of a grant is the revision at which it took effect; it grows with every grant and is handed to tools,
 * never to a model. A release or a handoff is of the grant that was seen, never of a later one to the same agent. A release
 * leaves its outcome for the next holder. Source: Kleppmann 2016, "How to do distributed
 * locking", for fencing. SPEC: CLM1-CLM6.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { AGENT_PATTERN, decodeMark, encodeMark, summed } from '../dot.ts';
import type { Attempt, Complain, Field, FieldKind, Refusal } from '../field-kind.ts';
import { isOfType, readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { isJsonObject } from '../json.ts';
import { conflict, malformed } from '../refusal.ts';
import { valueType } from '../value-type.ts';

/** `fence` is the revision of the grant, 0 before the first. */
export type ClaimView = { readonly holder: string | undefined; readonly fence: number; readonly outcome: string | undefined };

export type ClaimIntent =
  | { readonly claim: true }
  | { readonly release: true | { readonly outcome: string } }
  | { readonly handoff: { readonly to: string } };

/** A claim; `outcomeCharsMax` caps the text that a release may leave. */
export function claim(options: { readonly outcomeCharsMax?: number } = {}): Field<ClaimView, ClaimIntent> {
  const outcome = valueType(z.string().max(options.outcomeCharsMax ?? 200), 'claim');
  const kind: FieldKind<Claim, ClaimOp> = {
    name: 'claim',
    grade: { letter: 'B', why: 'of two concurrent claims the first in the log holds' },
    bytesMax: 64 + outcome.bytesMax,
    verbs: VERBS,
    summary: 'held by one agent at a time',
    empty: (born) => ({ holder: undefined, fence: 0, outcome: undefined, mark: born }),
    read: (intent, path, complain) => {
      const read = readOneVerb(intent, 'claim', VERBS, path, complain);
      return read === undefined ? undefined : readClaim(read.verb, read.value, path, complain);
    },
    weigh: () => 1,
    erases: () => 0,
    fold,
    withoutEcho: (_, op) => op,
    write: (op) => writeClaim(op),
    newest: (cell) => cell.mark,
    view: ({ holder, fence, outcome: left }) => ({ holder, fence, outcome: left }),
    json: (cell) => ({ holder: cell.holder ?? null, ...(cell.outcome === undefined ? {} : { outcome: cell.outcome }) }),
    encode,
    decode,
    digest: (cell, sha256) => leafDigest(encode(cell), sha256),
    valueSchema: () => ({
      type: 'object',
      properties: { holder: { anyOf: [{ type: 'string' }, { type: 'null' }] }, outcome: outcome.jsonSchema },
      required: ['holder'],
      additionalProperties: false,
    }),
    assign: (cell, change, path, complain) => {
      const wanted = changed(kind.json(cell), change) ?? null;
      const holder = isJsonObject(wanted) ? (wanted['holder'] ?? null) : wanted;
      if (holder === (cell.holder ?? null)) return undefined;
      if (holder === null) return { release: true };
      complain(path, malformed('claim', 'A claim is not set; use {claim: true}, {release: true} or {handoff: {to}}.'));
      return undefined;
    },
    samples: () => [{ claim: true }, { release: true }, { release: { outcome: 'done' } }],
    modelSchema: () =>
      strictObject({
        claim: { type: 'boolean' },
        release: strictObject({ outcome: outcome.jsonSchema }),
        handoff: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'], additionalProperties: false },
      }),
    fromModel: (answer) => fromModel(answer),
    declaration: () => ({ kind: 'claim', outcome: outcome.jsonSchema }),
  };
  return kind;

  function readClaim(verb: string, value: Json, path: string, complain: Complain): ClaimOp | undefined {
    if (verb === 'claim' && value === true) return { verb: 'claim' };
    if (verb === 'release' && value === true) return { verb: 'release', outcome: undefined };
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
  readonly outcome: string | undefined;
  readonly mark: Mark | undefined;
};
type ClaimOp =
  | { readonly verb: 'claim' }
  | { readonly verb: 'release'; readonly outcome: string | undefined }
  | { readonly verb: 'handoff'; readonly to: string };

const VERBS = ['claim', 'release', 'handoff'];

function hasOnly(value: Json, key: string): value is JsonObject {
  return isJsonObject(value) && Object.keys(value).length === 1 && key in value;
}

function fold(cell: Claim, op: ClaimOp, path: string, attempt: Attempt): Claim {
  const { agent } = attempt;
  const mark = summed(cell.mark, attempt.mark);
  if (op.verb === 'claim') {
    if (cell.holder === agent) attempt.note(path, { kind: 'unchanged' });
    if (cell.holder === undefined) return { holder: agent, fence: mark.revision, outcome: cell.outcome, mark };
    if (cell.holder !== agent) attempt.refuse(path, held(cell.holder, agent));
    return cell;
  }
  if (cell.holder !== agent) {
    attempt.refuse(path, notHolder(cell.holder, op.verb));
    return cell;
  }
  if (!attempt.sees(cell.mark)) {
    attempt.refuse(path, conflict('claim', { holder: cell.holder }, { [op.verb]: true }, cell.mark, attempt.agent));
    return cell;
  }
  if (op.verb === 'release') return { holder: undefined, fence: cell.fence, outcome: op.outcome ?? cell.outcome, mark };
  return { holder: op.to, fence: mark.revision, outcome: cell.outcome, mark };
}

function held(holder: string, want: string): Refusal {
  return {
    code: 'held',
    rule: 'claim',
    have: { holder },
    want: { holder: want },
    by: holder,
    recovery: 'wait',
    hint: `${holder} holds it. Take other work, or wait for its release.`,
  };
}

function notHolder(holder: string | undefined, verb: string): Refusal {
  return {
    code: 'not_owner',
    rule: 'claim',
    have: { holder: holder ?? null },
    want: { [verb]: true },
    ...(holder === undefined ? {} : { by: holder }),
    recovery: 'claim-again',
    hint: 'You do not hold this claim. Claim it first, if it is free.',
  };
}

function writeClaim(op: ClaimOp): Json {
  if (op.verb === 'claim') return { claim: true };
  if (op.verb === 'handoff') return { handoff: { to: op.to } };
  return { release: op.outcome === undefined ? true : { outcome: op.outcome } };
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

function encode(cell: Claim): string {
  const holder = cell.holder === undefined ? '' : `,"holder":"${cell.holder}"`;
  const outcome = cell.outcome === undefined ? '' : `,"outcome":${JSON.stringify(cell.outcome)}`;
  return `{"fence":${cell.fence}${holder},"mark":${encodeMark(cell.mark)}${outcome}}`;
}

function decode(stored: Json): Claim {
  const cell = stored as JsonObject;
  return {
    holder: cell['holder'] as string | undefined,
    fence: cell['fence'] as number,
    outcome: cell['outcome'] as string | undefined,
    mark: decodeMark(cell['mark']),
  };
}
