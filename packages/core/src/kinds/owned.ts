/**
 * `owned`: one value with its owners, as in server-side apply: who sets it first owns it, and nobody else sets another.
 *
 * Equal values are owned together; an owner among several cannot change the value for the others. A role that may `force`
 * takes the value and its ownership. With a dispute policy another value is no refusal but a rival: it stands beside the value
 * until every owner stands behind it, the arbiter decides, or its deadline passes.
 * Source: Kubernetes, "Server-Side Apply", conflicts and ownership. SPEC: OWN1-OWN10, DSP5-DSP9.
 */
import { z } from 'zod';
import { leafDigest } from '../digest.ts';
import { AGENT_PATTERN } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Complain, Field, FieldKind, Grade } from '../field-kind.ts';
import { typeWith } from '../field-options.ts';
import { isOfType, nullable, readVerbs } from '../intent.ts';
import type { Json } from '../json.ts';
import { malformed } from '../refusal.ts';
import { samplesOfType } from '../value-samples.ts';
import { startValue } from '../value-type.ts';
import type { JsonSchema, ValueType } from '../value-type.ts';
import { declaredDispute, DISPUTE } from './dispute.ts';
import type { DisputePolicy } from './dispute.ts';
import { decode, encode, expire, fold, json, mayDrop, OWNERS_MAX, RIVALS_MAX, rivalsOf } from './owned-cell.ts';
import type { Owned, OwnedOp, OwnedRule, Rival } from './owned-cell.ts';
import { assignedValue, setFromModel, setSchema } from './set-verb.ts';

/** `start` is the value that nobody owns; `force` lists the roles that may take what others own, beside the arbiter. */
export type OwnedOptions<T> = {
  readonly start?: T;
  readonly force?: readonly string[];
  readonly dispute?: DisputePolicy;
};

/** `owners` in ascending order; `rivals`, the oldest first, are there with a dispute policy alone. */
export type OwnedView<T> = {
  readonly value: T | undefined;
  readonly owners: readonly string[];
  readonly rivals: readonly Rival<T>[];
};

export type OwnedIntent<T> = { readonly set: T; readonly force?: true } | { readonly release: true };

/** A value that its owners alone set. At most 64 agents own it together, and at most 8 rivals stand beside it. */
export function owned<T extends Json>(type: z.ZodType<T>, options: OwnedOptions<T> = {}): Field<OwnedView<T>, OwnedIntent<T>> {
  return fieldFrom(() => ownedOf(typeWith(type, 'owned', USAGE, OPTIONS, options), options));
}

const USAGE = "Use owned(type), with start, force and dispute if needed: { force: ['lead'], dispute: { arbiter: 'lead' } }.";
const OPTIONS = z.object({
  start: z.unknown().optional(),
  force: z.array(z.string()).optional(),
  dispute: DISPUTE.optional(),
});

const GRADE: Grade = {
  letter: 'B',
  why: "an owner's values follow each other in its own order (A); of two agents that take the field the first in the log owns it",
};

function ownedOf(type: ValueType, options: OwnedOptions<Json>): FieldKind<Owned, OwnedOp> {
  const { force = [], dispute } = options;
  const start = startValue(type, options.start, 'owned');
  const arbiters = dispute === undefined ? [] : [dispute.arbiter];
  const rule: OwnedRule = { start, mayForce: [...new Set([...force, ...arbiters])].sort(), hasRivals: dispute !== undefined };
  const flags = rule.mayForce.length === 0 ? ['release'] : ['force', 'release'];
  const verbs = ['set', ...flags];
  const deadlineMs = dispute?.deadlineMs;
  return {
    name: 'owned',
    grade: GRADE,
    bytesMax: bytesMaxOf(type, rule),
    verbs,
    summary: `one value that its owners alone set; ${rule.hasRivals ? 'another one stands as a rival' : 'others may agree with it'}`,
    roles: rule.mayForce,
    empty: (born) => ({ value: start, wrote: born, owners: [], rivals: [], mark: born }),
    read: (intent, path, complain) => readOwned(type, verbs, intent, path, complain),
    weigh: () => 1,
    erases: (op) => (op.verb === 'release' ? 1 : 0),
    fold: (cell, op, path, attempt) => fold(rule, cell, op, path, attempt),
    mayDrop: (cell, path, attempt) => mayDrop(rule, cell, path, attempt),
    // Who sets the value that stands wants to own it too.
    withoutEcho: (_, op) => op,
    write: (op) => {
      if (op.verb === 'release') return { release: true };
      return { set: op.value, ...(op.isForced ? { force: true } : {}) };
    },
    ...(deadlineMs === undefined
      ? {}
      : {
          timerMs: deadlineMs,
          timers: (cell, path) =>
            [...new Set(cell.rivals.map(({ mark }) => mark.revision))].map((token) => ({ path, token, ms: deadlineMs })),
          expire: (cell, tokens, expiry) => (tokens.length === 0 ? expire(cell, expiry) : cell),
        }),
    contested: (cell, path) => (cell.rivals.length > 0 ? [path] : []),
    newest: (cell) => cell.mark,
    view: (cell) => ({ value: cell.value, owners: cell.owners, rivals: rivalsOf(cell) }),
    json: (cell) => json(rule, cell),
    encode,
    decode,
    digest: (cell, sha256) => leafDigest(encode(cell), sha256),
    valueSchema: () => valueSchemaOf(type, rule),
    assign: (cell, change, path, complain) => {
      const asked = assignedValue(json(rule, cell), change, type, 'owned', path, complain);
      if (asked === undefined) return undefined;
      if (asked.value !== undefined) return { set: asked.value };
      return cell.owners.length === 0 ? undefined : { release: true };
    },
    samples: () => {
      const values = samplesOfType(type, 3).map((value) => ({ set: value }));
      const [first] = values;
      return [
        ...values,
        ...(rule.mayForce.length === 0 || first === undefined ? [] : [{ ...first, force: true }]),
        { release: true },
      ];
    },
    modelSchema: () => setSchema(type, flags),
    fromModel: (answer) => setFromModel(type, flags, answer),
    declaration: () => ({
      kind: 'owned',
      type: type.jsonSchema,
      force: rule.mayForce,
      ...(start === undefined ? {} : { start }),
      ...(dispute === undefined ? {} : { dispute: declaredDispute(dispute) }),
    }),
  };
}

/** An agent's name in quotes, and a comma. */
const NAME_BYTES_MAX = 35;

function bytesMaxOf(type: ValueType, rule: OwnedRule): number {
  const value = Math.max(4, type.bytesMax);
  const rivals = rule.hasRivals ? 12 + RIVALS_MAX * (17 + NAME_BYTES_MAX + value) : 0;
  return 22 + value + OWNERS_MAX * NAME_BYTES_MAX + rivals;
}

function valueSchemaOf(type: ValueType, rule: OwnedRule): JsonSchema {
  const agent = { type: 'string', pattern: AGENT_PATTERN.source };
  const closed = (properties: { readonly [key: string]: JsonSchema }): JsonSchema => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });
  const rival = closed({ by: agent, value: type.jsonSchema });
  return closed({
    value: nullable(type.jsonSchema),
    owners: { type: 'array', items: agent, maxItems: OWNERS_MAX },
    ...(rule.hasRivals ? { rivals: { type: 'array', items: rival, maxItems: RIVALS_MAX } } : {}),
  });
}

function readOwned(
  type: ValueType,
  verbs: readonly string[],
  intent: Json,
  path: string,
  complain: Complain,
): OwnedOp | undefined {
  const read = readVerbs(intent, 'owned', verbs, path, complain);
  if (read === undefined) return undefined;
  const { set, force, release } = read;
  if (set === undefined && force === undefined && release === true) return { verb: 'release' };
  if (set !== undefined && release === undefined && (force === undefined || force === true))
    return isOfType(type, set, 'owned', path, complain) ? { verb: 'set', value: set, isForced: force === true } : undefined;
  const forced = verbs.includes('force') ? ', {set, force: true}' : '';
  complain(path, malformed('owned', `Use {set}${forced} or {release: true}.`, intent));
  return undefined;
}
