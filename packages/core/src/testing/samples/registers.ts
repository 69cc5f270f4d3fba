/**
 * What the tests know of `cas`, `lww` and `priority`.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { canonical } from '../../json.ts';
import { cas, lww, priority } from '../../kinds/register.ts';
import type { Choice } from '../choice.ts';
import { valueFrom } from '../intents.ts';
import type { Leaf } from '../leaf.ts';
import { saw } from '../leaf.ts';
import { isEqual, winOrder } from '../naive-cell.ts';
import type { NaiveCell, NaiveStamp } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

type RegisterSpec = { readonly kind: 'cas' | 'lww' | 'priority'; readonly of: ValueSpec; readonly start?: Json };
type Write = { readonly value: Json | undefined; readonly stamp: NaiveStamp };

export const casSample: SampleKind<RegisterSpec> = {
  kind: 'cas',
  simple: [{ kind: 'cas', of: 'text' }],
  random: (choice) => random('cas', choice),
  field: (spec) => cas(typeOf(spec.of), startOf(spec)) as Field,
  intent,
  fold: (trial, spec, cell, verbs, path) => {
    const value = verbs['set'];
    if (value !== undefined && !isOf(spec.of, value)) return trial.refuse();
    if (isEqual(cell.value, value)) return trial.note(path, 'unchanged');
    if (!trial.saw(cell.writer)) return trial.refuse();
    cell.value = value;
    cell.writer = trial.dot;
    trial.change(cell);
  },
  json: (_, cell) => cell.value ?? null,
  outside,
  replacedUnseen: (_, leaf, writers) =>
    leaf.outcomes[leaf.path]?.kind === 'superseded' ? 'cas never supersedes' : replacedUnseen(leaf, writers),
  invisible,
};

export const lwwSample: SampleKind<RegisterSpec, Write[]> = {
  kind: 'lww',
  simple: [{ kind: 'lww', of: 'text', start: 'a' }],
  random: (choice) => random('lww', choice),
  field: (spec) => lww(typeOf(spec.of), startOf(spec)) as Field,
  ...greatest(winOrder),
};

export const prioritySample: SampleKind<RegisterSpec, Write[]> = {
  kind: 'priority',
  simple: [{ kind: 'priority', of: 'text', start: 'a' }],
  random: (choice) => random('priority', choice),
  field: (spec) => priority(typeOf(spec.of), startOf(spec)) as Field,
  ...greatest((a, b) => (a.priority === b.priority ? winOrder(a, b) : a.priority - b.priority)),
};

type Greatest = Omit<SampleKind<RegisterSpec, Write[]>, 'kind' | 'simple' | 'random' | 'field'>;

/** A register whose greatest write by that order stands. */
function greatest(order: (a: NaiveStamp, b: NaiveStamp) => number): Greatest {
  const winner = (cell: NaiveCell<Write[]>): Write | undefined => cell.own.toSorted((a, b) => order(a.stamp, b.stamp)).at(-1);
  return {
    intent,
    own: () => [],
    fold: (trial, spec, cell, verbs, path) => {
      const value = verbs['set'];
      if (value !== undefined && !isOf(spec.of, value)) return trial.refuse();
      const current = winner(cell);
      const isSame = isEqual(current === undefined ? cell.value : current.value, value);
      if (current !== undefined && order(current.stamp, trial.stamp) > 0)
        return trial.note(path, isSame ? 'unchanged' : 'superseded');
      if (isSame) trial.note(path, 'unchanged');
      else if (!trial.saw(cell.writer)) trial.note(path, 'merged');
      const isFirst = cell.own.length === 0;
      cell.own.push({ value, stamp: trial.stamp });
      if (isSame && !isFirst) return;
      cell.writer = trial.dot;
      trial.change(cell);
    },
    json: (_, cell) => {
      const current = winner(cell);
      return (current === undefined ? cell.value : current.value) ?? null;
    },
    outside,
    replacedUnseen: (_, leaf, writers) =>
      leaf.outcomes[leaf.path]?.kind === 'superseded' ? undefined : replacedUnseen(leaf, writers),
    invisible,
  };
}

function random(kind: RegisterSpec['kind'], choice: Choice): RegisterSpec {
  const of = choice.of<ValueSpec>(['text', 'digit', 'pair', 'text or null']);
  return of === 'text' && choice.upTo(2) === 1 ? { kind, of, start: 'a' } : { kind, of };
}

function intent(spec: RegisterSpec, choice: Choice): JsonObject {
  return choice.upTo(6) === 5 ? { unset: true } : { set: valueFrom(spec.of, choice) };
}

function outside(spec: RegisterSpec, json: Json): string | undefined {
  return json === null || isOf(spec.of, json) ? undefined : `holds ${canonical(json)}`;
}

function replacedUnseen(leaf: Leaf, writers: Map<string, Leaf>): string | undefined {
  const outcome = leaf.outcomes[leaf.path];
  if (outcome?.kind === 'unchanged') return undefined;
  const writer = writers.get(leaf.path);
  writers.set(leaf.path, leaf);
  if (writer === undefined || saw(leaf, writer)) return undefined;
  const over = outcome?.kind === 'merged' ? outcome.over : undefined;
  return over?.agent === writer.proposal.agent && over.n === writer.proposal.n
    ? undefined
    : `replaces ${writer.proposal.agent} ${writer.proposal.n} unseen and untold`;
}

function invisible(_: RegisterSpec, leaf: Leaf, rivals: readonly Leaf[], json: Json | undefined): string | undefined {
  return rivals.length > 0 || canonical(json ?? null) === canonical(leaf.intent['set'] ?? null) ? undefined : 'is not there';
}

function startOf(spec: RegisterSpec): { readonly start?: Json } {
  return spec.start === undefined ? {} : { start: spec.start };
}
