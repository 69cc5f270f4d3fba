/**
 * What the tests know of `multi`: its naive cell keeps every write, each with those that it put aside.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { canonical } from '../../json.ts';
import { multi } from '../../kinds/multi.ts';
import { valueFrom } from '../intents.ts';
import { isAmong, saw } from '../leaf.ts';
import { textOf, winOrder } from '../naive-cell.ts';
import type { NaiveStamp, NaiveTrial } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

/** `deadlineMs` and `fallback` belong to a dispute that a lead settles. */
type MultiSpec = {
  readonly kind: 'multi';
  readonly of: ValueSpec;
  readonly cap: number;
  readonly dispute?: { readonly deadlineMs?: number; readonly fallback?: Json };
};

type Write = {
  readonly value: Json;
  readonly by: string;
  readonly dot: string;
  readonly stamp: NaiveStamp;
  readonly over: readonly string[];
};
/** `since` is the dot at which values began to contend. */
type Writes = { writes: Write[]; since: string | null };

const TIMED: MultiSpec = { kind: 'multi', of: 'text', cap: 3, dispute: { deadlineMs: 100 } };

export const multiSample: SampleKind<MultiSpec, Writes> = {
  kind: 'multi',
  simple: [
    { kind: 'multi', of: 'text', cap: 4 },
    { kind: 'multi', of: 'digit', cap: 10 },
    { kind: 'multi', of: 'text', cap: 2, dispute: {} },
    TIMED,
    { kind: 'map', of: { kind: 'multi', of: 'text or null', cap: 3, dispute: { deadlineMs: 100, fallback: null } }, cap: 2 },
    { kind: 'records', cells: { n: { kind: 'counter', start: 0 }, x: { kind: 'multi', of: 'text', cap: 2 }, y: TIMED }, cap: 2 },
  ],
  random: (choice) => {
    const of = choice.of<ValueSpec>(['text', 'digit', 'pair', 'text or null']);
    const cap = 1 + choice.upTo(4);
    switch (choice.upTo(4)) {
      case 2:
        return { kind: 'multi', of, cap, dispute: {} };
      case 3:
        return { kind: 'multi', of, cap, dispute: { deadlineMs: 100 } };
      default:
        return { kind: 'multi', of, cap };
    }
  },
  field: ({ of, cap, dispute }) => {
    if (dispute === undefined) return multi(typeOf(of), { cap }) as Field;
    const { fallback, ...rest } = dispute;
    const named = fallback === undefined ? {} : { fallback: { value: fallback } };
    return multi(typeOf(of), { cap, dispute: { arbiter: 'lead', ...rest, ...named } }) as Field;
  },
  intent: (spec, choice) => ({ set: valueFrom(spec.of, choice) }),
  own: () => ({ writes: [], since: null }),
  fold: (trial, spec, cell, verbs, path) => {
    const value = verbs['set'] as Json;
    if (!isOf(spec.of, value)) return trial.refuse();
    const before = valuesOf(standing(cell.own));
    cell.own.writes.push({ value, by: trial.agent, dot: trial.dot, stamp: trial.stamp, over: putAside(trial, spec, cell.own) });
    const after = valuesOf(standing(cell.own));
    if (after.length > spec.cap) return trial.refuse();
    if (after.length === 1) cell.own.since = null;
    else cell.own.since ??= trial.dot;
    if (after.length > 1) trial.note(path, 'contested');
    else if (textOf(after) === textOf(before)) return trial.note(path, 'unchanged');
    trial.change(cell);
  },
  expire: ({ dispute }, cell, tokens, { token, cause, dot, revisionOf }) => {
    const { own } = cell;
    const isNamed = tokens.length === 0 && own.since !== null && revisionOf(own.since) === token;
    if (dispute?.deadlineMs === undefined || !isNamed || cause !== 'deadline') return false;
    const all = standing(own);
    const { value, stamp } = all[0] as Write;
    const over = all.map((write) => write.dot);
    own.writes.push({ value: dispute.fallback === undefined ? value : dispute.fallback, by: '', dot, stamp, over });
    own.since = null;
    cell.dots.push(dot);
    return true;
  },
  json: (_, cell) => {
    const [value = null, ...rivals] = valuesOf(standing(cell.own));
    return { value, rivals };
  },
  outside: (spec, json) => {
    const [value, ...rivals] = shownIn(json);
    if (value === null && rivals.length === 0) return undefined;
    const isDifferent = new Set([value as Json, ...rivals].map(canonical)).size === rivals.length + 1;
    const isWithin = rivals.length < spec.cap && [value as Json, ...rivals].every((one) => isOf(spec.of, one));
    return isDifferent && isWithin ? undefined : `holds ${canonical(json)}`;
  },
  replacedUnseen: (spec, leaf, writers) => {
    const outcome = leaf.outcomes[leaf.path]?.kind;
    if (outcome === 'unchanged') return undefined;
    const rivals = [...writers].filter(([key]) => key.startsWith(`${leaf.path}/`));
    writers.set(`${leaf.path}/${leaf.proposal.agent}`, leaf);
    if (spec.dispute !== undefined) return undefined;
    const unseen = rivals.filter(([key, writer]) => {
      if (!saw(leaf, writer)) return canonical(writer.intent['set'] as Json) !== canonical(leaf.intent['set'] as Json);
      if (writer.proposal.agent !== leaf.proposal.agent) writers.delete(key);
      return false;
    });
    const [rival] = unseen.map(([, { proposal }]) => `${proposal.agent} ${proposal.n}`);
    return rival === undefined || outcome === 'contested' ? undefined : `stands against ${rival} unseen and untold`;
  },
  invisible: (_, leaf, rivals, json) => {
    const isMoved = rivals.some(({ proposal }) => proposal.agent === leaf.proposal.agent);
    return isMoved || isAmong(shownIn(json as Json), leaf.intent['set'] as Json) ? undefined : 'is not among what stands';
  },
};

/** What nobody put aside, the greatest stamp first. */
function standing({ writes }: Writes): readonly Write[] {
  const gone = new Set(writes.flatMap((write) => write.over));
  return writes.filter((write) => !gone.has(write.dot)).toSorted((a, b) => winOrder(b.stamp, a.stamp));
}

/** Everything seen; in a dispute, for all but a lead, only what is of one's own. */
function putAside(trial: NaiveTrial, spec: MultiSpec, own: Writes): readonly string[] {
  const seen = standing(own).filter((write) => trial.saw(write.dot));
  const isVoice = spec.dispute !== undefined && trial.role !== 'lead' && valuesOf(seen).length > 1;
  return (isVoice ? seen.filter((write) => write.by === trial.agent) : seen).map((write) => write.dot);
}

function valuesOf(writes: readonly Write[]): readonly Json[] {
  const values: Json[] = [];
  for (const { value } of writes) if (!values.some((known) => textOf(known) === textOf(value))) values.push(value);
  return values;
}

function shownIn(json: Json): readonly Json[] {
  const { value, rivals } = json as JsonObject;
  return [value as Json, ...(rivals as readonly Json[])];
}
