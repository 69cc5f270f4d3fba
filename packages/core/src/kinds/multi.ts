/**
 * `multi`: a register that keeps every value that no later `set` has seen, and shows when values contend.
 *
 * The siblings are an antichain: a `set` takes away those that it has seen and adds itself, so what stands is what nobody has
 * seen and replaced, in any order and any cut. Each keeps the mark of its `set`, also where two set the same value: who saw
 * only one of them has not seen the other. There is nothing to prune: a sibling that every base has seen goes with the next
 * `set`, and without one it is still a standing value. An agent has one sibling at most, as it has seen its own earlier ones.
 * Source: DeCandia et al. 2007, "Dynamo", §4.4, and Shapiro et al. 2011, "A comprehensive study of CRDTs", §3.2.2.
 * SPEC: MLT1-MLT6, DSP1-DSP4, DSP9.
 */
import { z } from 'zod';
import { leafDigest } from '../digest.ts';
import { decodeMark, encodeMark, leastTrust, summed, trustedTo } from '../dot.ts';
import type { Mark } from '../dot.ts';
import { fault, fieldFrom } from '../fault.ts';
import type { Attempt, Expiry, Field, FieldKind, Grade } from '../field-kind.ts';
import { COUNT, typeWith } from '../field-options.ts';
import { isOfType, nullable, readOneVerb } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, frozen, sameJson } from '../json.ts';
import { malformed, outOfBounds } from '../refusal.ts';
import { compareWin, decodeStamp, encodeStamp } from '../stamp.ts';
import type { Stamp } from '../stamp.ts';
import { cardinalityOf, samplesOfType } from '../value-samples.ts';
import { startValue } from '../value-type.ts';
import type { ValueType } from '../value-type.ts';
import { declaredDispute, DISPUTE } from './dispute.ts';
import type { DisputePolicy } from './dispute.ts';
import { assignedValue, setFromModel, setSchema } from './set-verb.ts';

/** What the deadline of a dispute leaves: the value of the greatest stamp (when left out), or a declared one. */
export type MultiDispute<T> = DisputePolicy & { readonly fallback?: 'greatest' | { readonly value: T } };

/** `cap` is the most values that may stand side by side, 8 when left out. */
export type MultiOptions<T> = { readonly cap?: number; readonly dispute?: MultiDispute<T> };

/** The value of the greatest stamp, and the other standing values in win order; without rivals it is settled. */
export type MultiView<T> = { readonly value: T | undefined; readonly rivals: readonly T[] };

export type MultiIntent<T> = { readonly set: T };

/** A register that keeps concurrent values side by side until one who has seen them sets one. */
export function multi<T extends Json>(type: z.ZodType<T>, options: MultiOptions<T> = {}): Field<MultiView<T>, MultiIntent<T>> {
  return fieldFrom(() => multiOf(typeWith(type, 'multi', USAGE, OPTIONS, options), options));
}

/** A value that stands, with the `set` that put it there. */
type Sibling = { readonly value: Json; readonly mark: Mark; readonly stamp: Stamp };

/** `siblings` stand in win order, the greatest first; `since` is the revision at which values began to contend. */
type Multi = {
  readonly siblings: readonly Sibling[];
  readonly mark: Mark | undefined;
  readonly since: number | undefined;
  readonly shown: MultiView<Json>;
};
type MultiOp = { readonly value: Json };

const VERBS = ['set'];
const CAP = 8;
const USAGE = "Use multi(type), with cap and dispute if needed: { cap: 4, dispute: { arbiter: 'lead', deadlineMs: 60_000 } }.";
const FALLBACK = z.union([z.literal('greatest'), z.object({ value: z.unknown() })]);
const OPTIONS = z.object({
  cap: COUNT.optional(),
  dispute: DISPUTE.extend({ fallback: FALLBACK.optional() }).optional(),
});
const NOTHING: MultiView<Json> = { value: undefined, rivals: [] };

function multiOf(type: ValueType, options: MultiOptions<Json>): FieldKind<Multi, MultiOp> {
  const { cap = CAP, dispute } = options;
  const fallback = fallbackOf(type, dispute);
  const deadlineMs = dispute?.deadlineMs;
  return {
    name: 'multi',
    grade: gradeOf(type, cap, dispute !== undefined),
    bytesMax: 22 + cap * (Math.max(4, type.bytesMax) + 1),
    verbs: VERBS,
    summary: `one value; concurrent ones stand side by side until ${dispute === undefined ? 'a set that saw them' : `${dispute.arbiter} sets one or all agree`}`,
    ...(dispute === undefined ? {} : { roles: [dispute.arbiter] }),
    empty: (born) => ({ siblings: [], mark: born, since: undefined, shown: NOTHING }),
    read: (intent, path, complain) => {
      const read = readOneVerb(intent, 'multi', VERBS, path, complain);
      return read !== undefined && isOfType(type, read.value, 'multi', path, complain) ? { value: read.value } : undefined;
    },
    weigh: () => 1,
    erases: () => 0,
    fold: (cell, op, path, attempt) => fold(cap, dispute?.arbiter, cell, op.value, path, attempt),
    withoutEcho: (cell, op) => (isContested(cell) || !sameJson(cell.shown.value, op.value) ? op : undefined),
    write: (op) => ({ set: op.value }),
    ...(deadlineMs === undefined
      ? {}
      : {
          timerMs: deadlineMs,
          timers: ({ since }, path) => (since === undefined ? [] : [{ path, token: since, ms: deadlineMs }]),
          expire: (cell, tokens, expiry) => (tokens.length === 0 ? expire(fallback, cell, expiry) : cell),
        }),
    contested: (cell, path) => (isContested(cell) ? [path] : []),
    newest: (cell) => cell.mark,
    view: (cell) => cell.shown,
    json,
    encode,
    decode,
    digest: (cell, sha256) => leafDigest(encode(cell), sha256),
    valueSchema: () => ({
      type: 'object',
      properties: {
        value: nullable(type.jsonSchema),
        rivals: { type: 'array', items: type.jsonSchema, maxItems: cap - 1 },
      },
      required: ['value', 'rivals'],
      additionalProperties: false,
    }),
    assign: (cell, change, path, complain) => {
      const asked = assignedValue(json(cell), change, type, 'multi', path, complain);
      if (asked === undefined || (asked.value === undefined && cell.siblings.length === 0)) return undefined;
      if (asked.value !== undefined) return { set: asked.value };
      complain(path, malformed('multi', 'It has no verb that erases; set another value.'));
      return undefined;
    },
    samples: () => samplesOfType(type, 3).map((value) => ({ set: value })),
    modelSchema: () => setSchema(type, []),
    fromModel: (answer) => setFromModel(type, [], answer),
    declaration: () => ({
      kind: 'multi',
      type: type.jsonSchema,
      cap,
      ...(dispute === undefined
        ? {}
        : { dispute: declaredDispute(dispute, fallback === undefined ? {} : { fallback: { value: fallback } }) }),
    }),
  };
}

function gradeOf(type: ValueType, cap: number, hasDispute: boolean): Grade {
  const free = 'values that have not seen each other stand side by side in any order';
  if (hasDispute) return { letter: 'B', why: `${free} (A); what a set may replace in a dispute depends on what stands by then` };
  if (cardinalityOf(type.jsonSchema) <= cap) return { letter: 'A', why: free };
  return { letter: 'B', why: `${free} (A while at most ${cap} do); the log decides which set beyond them is refused` };
}

function fallbackOf(type: ValueType, dispute: MultiDispute<Json> | undefined): Json | undefined {
  const fallback = dispute?.fallback;
  if (fallback === undefined) return undefined;
  if (dispute?.deadlineMs === undefined)
    throw fault('multi has a fallback and no deadline', 'A fallback is what the deadline leaves: { deadlineMs, fallback }.');
  return fallback === 'greatest' ? undefined : startValue(type, fallback.value, 'multi');
}

function fold(cap: number, arbiter: string | undefined, cell: Multi, value: Json, path: string, attempt: Attempt): Multi {
  const seen = cell.siblings.filter((sibling) => attempt.sees(sibling.mark));
  // In a dispute with an arbiter everybody else has a voice of their own, and no other.
  const isVoice = arbiter !== undefined && attempt.role !== arbiter && valuesOf(seen).length > 1;
  const gone = isVoice ? seen.filter((sibling) => sibling.mark.agent === attempt.agent) : seen;
  const siblings = cell.siblings.filter((sibling) => !gone.includes(sibling));
  const alike = gone.filter((sibling) => sameJson(sibling.value, value)).map((sibling) => sibling.mark);
  const mark = trustedTo(attempt.mark, leastTrust(alike));
  const after = standing(cell, [...siblings, { value, mark, stamp: attempt.stamp }], mark);
  if (after.shown.rivals.length >= cap) {
    attempt.refuse(path, {
      ...outOfBounds('multi', cap, value, `${cap} values stand side by side and no more fit; see them and settle on one.`),
      recovery: isVoice ? 'wait' : 're-read',
    });
    return cell;
  }
  if (isContested(after)) {
    attempt.note(path, { kind: 'contested' });
    return after;
  }
  if (!sameJson(after.shown.value, cell.shown.value) || isContested(cell)) return after;
  attempt.note(path, { kind: 'unchanged' });
  // Who repeats what stands has to be seen by who replaces it, but has changed nothing that anybody relied on.
  return { ...after, mark: cell.mark };
}

/**
 * The deadline leaves one value. It bears the mark of the expiry: a set that has not seen it contends with it. It is trusted
 * as it was before; a declared fallback is the definition's own word.
 */
function expire(fallback: Json | undefined, cell: Multi, { token, cause, mark }: Expiry): Multi {
  const greatest = cell.siblings[0];
  if (cause !== 'deadline' || token !== cell.since || greatest === undefined) return cell;
  if (fallback !== undefined) return standing(cell, [{ value: fallback, mark, stamp: greatest.stamp }], mark);
  const alike = cell.siblings.filter(({ value }) => sameJson(value, greatest.value)).map((sibling) => sibling.mark);
  const left = trustedTo(mark, leastTrust(alike));
  return standing(cell, [{ value: greatest.value, mark: left, stamp: greatest.stamp }], left);
}

/** What all that stands is worth, together, is what the least trusted of it is. */
function standing(before: Multi, siblings: readonly Sibling[], mark: Mark): Multi {
  const inWinOrder = siblings.toSorted((a, b) => compareWin(b.stamp, a.stamp));
  const shown = shownOf(inWinOrder);
  const since = shown.rivals.length > 0 ? (before.since ?? mark.revision) : undefined;
  const worth = leastTrust(siblings.map((sibling) => sibling.mark));
  return { siblings: inWinOrder, mark: trustedTo(summed(before.mark, mark), worth), since, shown };
}

function isContested(cell: Multi): boolean {
  return cell.shown.rivals.length > 0;
}

function shownOf(siblings: readonly Sibling[]): MultiView<Json> {
  const [value, ...rivals] = valuesOf(siblings);
  return Object.freeze({ value, rivals: Object.freeze(rivals) });
}

/** The different values, in the order in which they first stand. */
function valuesOf(siblings: readonly Sibling[]): readonly Json[] {
  if (siblings.length < 2) return siblings.map((sibling) => sibling.value);
  return [...new Map(siblings.map(({ value }) => [canonical(value), value])).values()];
}

function json({ shown }: Multi): JsonObject {
  return { value: shown.value ?? null, rivals: shown.rivals };
}

function encode({ siblings, mark, since }: Multi): string {
  const stored = siblings.map((one) => `[${canonical(one.value)},${encodeMark(one.mark)},${encodeStamp(one.stamp)}]`);
  return `{"mark":${encodeMark(mark)},"siblings":[${stored.join()}]${since === undefined ? '' : `,"since":${since}`}}`;
}

function decode(stored: Json): Multi {
  const cell = stored as JsonObject;
  const siblings = (cell['siblings'] as readonly (readonly Json[])[]).map(([value, mark, stamp]) => ({
    value: frozen(value as Json),
    mark: decodeMark(mark) as Mark,
    stamp: decodeStamp(stamp) as Stamp,
  }));
  return { siblings, mark: decodeMark(cell['mark']), since: cell['since'] as number | undefined, shown: shownOf(siblings) };
}
