/**
 * Registers: `cas` (compare-and-set, the default scalar), `lww` (greatest stamp wins) and `priority` (greatest role wins).
 *
 * `cas` refuses a value that was set without having seen the current one; equal values agree. `lww` keeps the greatest
 * stamp and tells the loser by whom it was superseded; `priority` does so by the role's priority first. The mark stays after
 * `unset`, so a stale `set` cannot resurrect. SPEC: CAS1-CAS5, LWW1-LWW4, PRI1-PRI3.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import type { Change } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { decodeMark, encodeMark, summed } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Attempt, Complain, Field, FieldKind, Grade } from '../field-kind.ts';
import { typeWith } from '../field-options.ts';
import { isOfType, nullable, readOneVerb } from '../intent.ts';
import type { Json, JsonObject, Sha256 } from '../json.ts';
import { canonical, frozen, sameJson } from '../json.ts';
import { conflict, malformed, superseded } from '../refusal.ts';
import type { Stamp } from '../stamp.ts';
import { compareWin, decodeStamp, encodeStamp } from '../stamp.ts';
import { samplesOfType } from '../value-samples.ts';
import type { ValueType } from '../value-type.ts';
import { startValue } from '../value-type.ts';
import { setFromModel, setSchema } from './set-verb.ts';

/** `start` is the value before any write; without it the field is absent at first. */
export type RegisterOptions<T> = { readonly start?: T };

export type RegisterIntent<T> = { readonly set: T } | { readonly unset: true };

/** Compare-and-set: a value that did not see the current one is refused. */
export function cas<T extends Json>(
  type: z.ZodType<T>,
  options: RegisterOptions<T> = {},
): Field<T | undefined, RegisterIntent<T>> {
  return fieldFrom(() => register(CAS, type, options));
}

/** Last writer wins by stamp; the loser's verdict says so. */
export function lww<T extends Json>(
  type: z.ZodType<T>,
  options: RegisterOptions<T> = {},
): Field<T | undefined, RegisterIntent<T>> {
  return fieldFrom(() => register(LWW, type, options));
}

/** The greatest priority of a role wins, whoever read later; among equals the last writer, by stamp. The loser's verdict says so. */
export function priority<T extends Json>(
  type: z.ZodType<T>,
  options: RegisterOptions<T> = {},
): Field<T | undefined, RegisterIntent<T>> {
  return fieldFrom(() => register(PRIORITY, type, options));
}

type Register = { readonly value: Json | undefined; readonly mark: Mark | undefined; readonly stamp: Stamp | undefined };
type RegisterOp = { readonly value: Json | undefined };
type FoldRegister = (cell: Register, op: RegisterOp, path: string, attempt: Attempt) => Register;
type Rule = { readonly name: string; readonly grade: Grade; readonly summary: string; readonly fold: FoldRegister };

const CAS: Rule = {
  name: 'cas',
  grade: { letter: 'B', why: 'of two concurrent values the first in the log stands and the other is refused' },
  summary: 'one value; a set must have seen the current one',
  fold: foldCas,
};
const LWW: Rule = {
  name: 'lww',
  grade: { letter: 'A', why: 'the greatest stamp wins in any order' },
  summary: 'one value; the latest reader wins',
  fold: (cell, op, path, attempt) => foldGreatest(compareWin, cell, op, path, attempt),
};
const PRIORITY: Rule = {
  name: 'priority',
  grade: { letter: 'A', why: 'the greatest priority wins in any order, then the greatest stamp' },
  summary: 'one value; the greatest role wins, then the latest reader',
  fold: (cell, op, path, attempt) => foldGreatest(compareRole, cell, op, path, attempt),
};
const VERBS = ['set', 'unset'];
const OPTIONS = z.object({ start: z.unknown().optional() });

function register(rule: Rule, schema: z.ZodType<Json>, options: RegisterOptions<Json>): FieldKind<Register, RegisterOp> {
  const { name, grade, summary, fold } = rule;
  const type = typeWith(schema, name, `Use ${name}(type) or ${name}(type, { start }).`, OPTIONS, options);
  const start = startValue(type, options.start, name);
  const digest = (cell: Register, sha256: Sha256): string => leafDigest(encode(cell), sha256);
  return {
    name,
    grade,
    bytesMax: type.bytesMax,
    verbs: VERBS,
    summary,
    empty: (born) => ({ value: start, mark: born, stamp: undefined }),
    read: (intent, path, complain) => readRegister(name, type, intent, path, complain),
    weigh: () => 1,
    erases: (op) => (op.value === undefined ? 1 : 0),
    fold,
    withoutEcho: (cell, op) => (sameJson(cell.value, op.value) ? undefined : op),
    write: (op) => (op.value === undefined ? { unset: true } : { set: op.value }),
    newest: (cell) => cell.mark,
    view: (cell) => cell.value,
    json: (cell) => cell.value ?? null,
    encode,
    decode,
    digest,
    valueSchema: () => nullable(type.jsonSchema),
    assign: (cell, change) => assigned(cell.value, change),
    samples: () => [...samplesOfType(type, 3).map((value) => ({ set: value })), { unset: true }],
    modelSchema: () => setSchema(type, ['unset']),
    fromModel: (answer) => setFromModel(type, ['unset'], answer),
    declaration: () => ({ kind: name, type: type.jsonSchema, ...(start === undefined ? {} : { start }) }),
  };
}

/** The patch that makes a register hold what the change asks for; `undefined` when it holds it. */
export function assigned(current: Json | undefined, change: Change): Json | undefined {
  const value = changed(current, change);
  if (sameJson(current, value)) return undefined;
  return value === undefined ? { unset: true } : { set: value };
}

function readRegister(rule: string, type: ValueType, intent: Json, path: string, complain: Complain): RegisterOp | undefined {
  const read = readOneVerb(intent, rule, VERBS, path, complain);
  if (read === undefined) return undefined;
  if (read.verb === 'set') return isOfType(type, read.value, rule, path, complain) ? { value: read.value } : undefined;
  if (read.value === true) return { value: undefined };
  complain(path, malformed(rule, 'unset takes true.', read.value));
  return undefined;
}

function foldCas(cell: Register, op: RegisterOp, path: string, attempt: Attempt): Register {
  if (sameJson(cell.value, op.value)) {
    attempt.note(path, { kind: 'unchanged' });
    return cell;
  }
  if (!attempt.sees(cell.mark))
    attempt.refuse(path, conflict('cas', cell.value ?? null, op.value ?? null, cell.mark, attempt.agent));
  return { value: op.value, mark: summed(cell.mark, attempt.mark), stamp: undefined };
}

/** Keeps the greatest by a total order on stamps: no order of the log, and no cut, can change what that is. */
function foldGreatest(
  compare: (a: Stamp, b: Stamp) => number,
  cell: Register,
  op: RegisterOp,
  path: string,
  attempt: Attempt,
): Register {
  const isSame = sameJson(cell.value, op.value);
  if (cell.stamp !== undefined && compare(attempt.stamp, cell.stamp) < 0) {
    attempt.note(path, isSame ? { kind: 'unchanged' } : superseded(cell.stamp.agent, cell.value ?? null));
    return cell;
  }
  if (isSame) {
    attempt.note(path, { kind: 'unchanged' });
    // The stamp is raised, so that order does not matter; the mark stays with whoever changed the value.
    if (cell.stamp !== undefined) return { value: cell.value, mark: cell.mark, stamp: attempt.stamp };
  } else if (cell.mark !== undefined && !attempt.sees(cell.mark)) {
    attempt.note(path, { kind: 'merged', over: { agent: cell.mark.agent, n: cell.mark.n } });
  }
  return { value: op.value, mark: summed(cell.mark, attempt.mark), stamp: attempt.stamp };
}

function compareRole(a: Stamp, b: Stamp): number {
  return a.priority - b.priority || compareWin(a, b);
}

function encode(cell: Register): string {
  const value = cell.value === undefined ? '' : `,"value":${canonical(cell.value)}`;
  const stamp = cell.stamp === undefined ? '' : `,"stamp":${encodeStamp(cell.stamp)}`;
  return `{"mark":${encodeMark(cell.mark)}${stamp}${value}}`;
}

function decode(stored: Json): Register {
  const cell = stored as JsonObject;
  const mark = decodeMark(cell['mark']);
  const stamp = decodeStamp(cell['stamp']);
  const value = cell['value'];
  return { value: value === undefined ? undefined : frozen(value), mark, stamp };
}
