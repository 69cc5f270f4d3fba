/**
 * What the tests know of `owned`: in its naive cell everybody who wants something has one word, and owners are those whose
 * word is the value.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { canonical } from '../../json.ts';
import { owned } from '../../kinds/owned.ts';
import { valueFrom } from '../intents.ts';
import { saw } from '../leaf.ts';
import { isEqual } from '../naive-cell.ts';
import type { NaiveCell, NaiveTrial } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';
import { isOf, typeOf } from '../spec.ts';
import type { ValueSpec } from '../spec.ts';

/** A lead may force where `isForced` or where there is a dispute policy. */
type OwnedSpec = {
  readonly kind: 'owned';
  readonly of: ValueSpec;
  readonly start?: Json;
  readonly isForced?: true;
  readonly dispute?: { readonly deadlineMs?: number };
};

/** The words of rivals, the oldest first. An owner may be among them. */
type Words = { owners: string[]; rivals: { by: string; value: Json; dot: string }[] };
type Cell = NaiveCell<Words>;

const TIMED: OwnedSpec = { kind: 'owned', of: 'text', dispute: { deadlineMs: 100 } };

export const ownedSample: SampleKind<OwnedSpec, Words> = {
  kind: 'owned',
  simple: [
    { kind: 'owned', of: 'text' },
    { kind: 'owned', of: 'text or null', start: 'a', isForced: true },
    { kind: 'owned', of: 'text', start: 'a', dispute: {} },
    TIMED,
    { kind: 'map', of: TIMED, cap: 2 },
    {
      kind: 'records',
      cells: { n: { kind: 'counter', start: 0 }, x: { kind: 'owned', of: 'text', isForced: true }, y: TIMED },
      cap: 2,
    },
  ],
  random: (choice) => {
    const of = choice.of<ValueSpec>(['text', 'digit', 'pair', 'text or null']);
    const start = of === 'text' && choice.upTo(2) === 1 ? { start: 'a' } : {};
    const forced = choice.upTo(2) === 1 ? { isForced: true as const } : {};
    const policies: readonly Partial<OwnedSpec>[] = [{}, { dispute: {} }, { dispute: { deadlineMs: 100 } }];
    return { kind: 'owned', of, ...start, ...forced, ...policies[choice.upTo(policies.length)] };
  },
  field: ({ of, start, isForced, dispute }) =>
    owned(typeOf(of), {
      ...(start === undefined ? {} : { start }),
      ...(isForced === true ? { force: ['lead'] } : {}),
      ...(dispute === undefined ? {} : { dispute: { arbiter: 'lead', ...dispute } }),
    }) as Field,
  intent: (spec, choice) => {
    switch (choice.upTo(6)) {
      case 4:
        return { release: true };
      case 5:
        return { set: valueFrom(spec.of, choice), ...(mayForce(spec) ? { force: true } : {}) };
      default:
        return { set: valueFrom(spec.of, choice) };
    }
  },
  own: () => ({ owners: [], rivals: [] }),
  fold: (trial, spec, cell, verbs, path) => {
    if (verbs['release'] === true) return release(trial, spec, cell);
    const value = verbs['set'] as Json;
    if (!isOf(spec.of, value) || (verbs['force'] === true && trial.role !== 'lead')) return trial.refuse();
    if (verbs['force'] === true && cell.own.owners.length > 0) return decide(trial, cell, value, path);
    return set(trial, spec, cell, value, path);
  },
  mayDrop: ({ agent, role }, spec, { own }) =>
    (role === 'lead' && mayForce(spec)) || own.owners.length === 0 || (own.owners.length === 1 && own.owners[0] === agent),
  expire: ({ dispute }, cell, tokens, { token, cause, dot, revisionOf }) => {
    const left = cell.own.rivals.filter((rival) => revisionOf(rival.dot) !== token);
    const isNamed = tokens.length === 0 && left.length < cell.own.rivals.length;
    if (dispute?.deadlineMs === undefined || !isNamed || cause !== 'deadline') return false;
    cell.own.rivals = left;
    cell.dots.push(dot);
    return true;
  },
  json: (spec, { value = null, own }) => ({
    value,
    owners: own.owners.toSorted(),
    ...(spec.dispute === undefined ? {} : { rivals: own.rivals.map((rival) => ({ by: rival.by, value: rival.value })) }),
  }),
  outside: (spec, json) => {
    const { value, owners, rivals = [] } = json as { value: Json; owners: string[]; rivals?: { by: string; value: Json }[] };
    const isTyped = [...(value === null ? [] : [value]), ...rivals.map((rival) => rival.value)].every((one) =>
      isOf(spec.of, one),
    );
    const isOnce = [owners, rivals.map(({ by }) => by)].every((names) => new Set(names).size === names.length);
    const isOther =
      owners.length === 0 ? rivals.length === 0 : rivals.every((rival) => canonical(rival.value) !== canonical(value));
    return isTyped && isOnce && isOther && canonical(owners) === canonical(owners.toSorted())
      ? undefined
      : `holds ${canonical(json)}`;
  },
  replacedUnseen: (spec, leaf, writers) => {
    const outcome = leaf.outcomes[leaf.path];
    if (outcome?.kind === 'unchanged' || spec.dispute !== undefined) return undefined;
    const releases = `${leaf.path}/release`;
    if (leaf.intent['release'] === true) {
      writers.set(releases, leaf);
      return undefined;
    }
    // What the last owner gave back was replaced by the start, so that is what a later set is told of.
    const [writer, released] = [writers.get(leaf.path), writers.get(releases)];
    writers.set(leaf.path, leaf);
    if (writer === undefined || saw(leaf, writer)) return undefined;
    const over = outcome?.kind === 'merged' ? outcome.over : undefined;
    const isTold = [writer, released].some((one) => over?.agent === one?.proposal.agent && over?.n === one?.proposal.n);
    return over !== undefined && isTold ? undefined : `replaces ${writer.proposal.agent} ${writer.proposal.n} unseen and untold`;
  },
  invisible: (_, leaf, later, json) => {
    const { value, owners, rivals = [] } = json as { value: Json; owners: string[]; rivals?: JsonObject[] };
    const { agent } = leaf.proposal;
    if (leaf.intent['release'] === true)
      return later.some(({ proposal }) => proposal.agent === agent) || ![...owners, ...rivals.map(({ by }) => by)].includes(agent)
        ? undefined
        : 'is still there';
    const stands = [value, ...rivals.map((rival) => rival['value'] as Json)].map(canonical);
    return later.length > 0 || stands.includes(canonical(leaf.intent['set'] as Json)) ? undefined : 'is not there';
  },
};

function mayForce({ isForced, dispute }: OwnedSpec): boolean {
  return isForced === true || dispute !== undefined;
}

function set(trial: NaiveTrial, spec: OwnedSpec, cell: Cell, value: Json, path: string): void {
  const { own } = cell;
  const { agent, dot } = trial;
  if (isEqual(value, cell.value)) {
    trial.note(path, 'unchanged');
    if (own.owners.includes(agent) && !own.rivals.some(({ by }) => by === agent)) return;
    if (!own.owners.includes(agent)) own.owners.push(agent);
    own.rivals = own.rivals.filter(({ by }) => by !== agent);
    return trial.change(cell);
  }
  const isFree = own.owners.length === 0;
  if (isFree && !trial.saw(cell.writer)) return trial.refuse();
  if (own.rivals.some((rival) => rival.by === agent && isEqual(rival.value, value))) return trial.note(path, 'contested');
  own.rivals = [...own.rivals.filter(({ by }) => by !== agent), { by: agent, value, dot }];
  if (own.owners.every((owner) => isBehind(own, owner, value))) {
    if (!trial.saw(cell.writer)) trial.note(path, 'merged');
    return become(trial, cell, value, backersOf(own, value));
  }
  if (spec.dispute === undefined || own.rivals.length > 8) return trial.refuse();
  trial.note(path, 'contested');
  trial.change(cell);
}

function decide(trial: NaiveTrial, cell: Cell, value: Json, path: string): void {
  const { own } = cell;
  const unseen = own.rivals.filter((rival) => !trial.saw(rival.dot));
  if (isEqual(value, cell.value)) {
    if (unseen.length === own.rivals.length) return trial.note(path, 'unchanged');
    own.rivals = unseen;
    return trial.change(cell);
  }
  if (!trial.saw(cell.writer)) trial.note(path, 'merged');
  const backers = backersOf(own, value);
  own.rivals = unseen;
  become(trial, cell, value, backers.length === 0 ? [trial.agent] : backers);
}

function release(trial: NaiveTrial, spec: OwnedSpec, cell: Cell): void {
  const { own } = cell;
  const wasOwner = own.owners.includes(trial.agent);
  if (!wasOwner && !own.rivals.some(({ by }) => by === trial.agent)) return trial.refuse();
  own.owners = own.owners.filter((owner) => owner !== trial.agent);
  own.rivals = own.rivals.filter(({ by }) => by !== trial.agent);
  const agreed = own.rivals.find(({ value }) => own.owners.every((owner) => isBehind(own, owner, value)));
  if (agreed !== undefined) return become(trial, cell, agreed.value, backersOf(own, agreed.value));
  if (own.owners.length === 0) return become(trial, cell, spec.start, []);
  trial.change(cell);
}

function become(trial: NaiveTrial, cell: Cell, value: Json | undefined, owners: readonly string[]): void {
  cell.value = value;
  cell.writer = trial.dot;
  cell.own.owners = [...owners];
  cell.own.rivals = cell.own.rivals.filter(({ by }) => !owners.includes(by));
  trial.change(cell);
}

function isBehind({ rivals }: Words, agent: string, value: Json): boolean {
  return rivals.some((rival) => rival.by === agent && isEqual(rival.value, value));
}

function backersOf({ rivals }: Words, value: Json): string[] {
  return rivals.filter((rival) => isEqual(rival.value, value)).map(({ by }) => by);
}
