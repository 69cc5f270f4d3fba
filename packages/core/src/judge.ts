/**
 * Judging one proposal against the cells as they stand: apply to a copy, check, say what is wrong, all of it at once.
 */
import { sees, seesAll } from './causal-context.ts';
import type { CausalContext } from './causal-context.ts';
import { TRUST_MAX } from './dot.ts';
import type { Mark } from './dot.ts';
import { aimsOf } from './field-kind.ts';
import type { Attempt, FieldKind, FieldMeta, Refusal } from './field-kind.ts';
import type { Issue, Outcome, Outcomes } from './issue.ts';
import { EXCERPT_CHARS_MAX, isCurable, ISSUES_MAX } from './issue.ts';
import type { Json } from './json.ts';
import { clipped, escapeToken, excerpt, pointer } from './json.ts';
import { placeOf } from './provenance.ts';
import type { Proposal } from './proposal.ts';
import { OPERATIONS_MAX } from './proposal.ts';
import { malformed, named, stale } from './refusal.ts';
import type { Stamp } from './stamp.ts';
import type { CompiledRule, RuleAnswer, StateSchema } from './state-schema.ts';
import { isFine } from './state-schema.ts';
import type { VersionVector } from './version-vector.ts';
import { newestOf } from './version-vector.ts';
import { computeAfter, viewsOf } from './views.ts';

/** What one proposal is judged in. `revision` is the one being sealed. */
export type Bench = {
  readonly schema: StateSchema;
  readonly cells: readonly unknown[];
  readonly revision: number;
  /** Oldest revision that a base may name; asked for only when it matters. */
  readonly horizon: () => number;
  readonly role: string;
  readonly trust: number;
  readonly stamp: Stamp;
  /** Place of the proposal in its round, from 0. */
  readonly turn: number;
  /** What the log held before the round. Asked for only when a proposal brings a vector of its own. */
  readonly vector: () => VersionVector;
};

export type Judgement =
  | { readonly kind: 'accepted'; readonly cells: readonly unknown[]; readonly outcomes: Outcomes | undefined }
  | { readonly kind: 'refused'; readonly issues: readonly Issue[] };

const HINT_CHARS_MAX = 400;
const PATH_CHARS_MAX = 512;

/** Judges one proposal. Pure; the cells of the bench are not changed. */
export function judge(bench: Bench, proposal: Proposal): Judgement {
  const trial = new Trial(bench, proposal);
  if (checkBase(trial)) {
    checkPremises(trial);
    foldPatch(trial);
    compute(trial);
    if (trial.issues.length === 0) checkRules(trial);
  }
  if (trial.issues.length > 0) return { kind: 'refused', issues: capped(trial.issues) };
  return { kind: 'accepted', cells: trial.cells, outcomes: trial.outcomes };
}

class Trial implements Attempt {
  readonly bench: Bench;
  readonly proposal: Proposal;
  readonly agent: string;
  readonly role: string;
  /** Its trust is known once the premises are read, before anything is folded. */
  mark: Mark;
  readonly stamp: Stamp;
  readonly base: number;
  readonly context: CausalContext;
  cells: readonly unknown[];
  /** Indexes of the fields whose cell changed. */
  readonly changed: number[] = [];
  /** Indexes of the fields in which the patch erases something. */
  readonly erased: number[] = [];
  /** Paths of the fields and keys that changed, as rules see them. */
  readonly touched: string[] = [];
  readonly issues: Issue[] = [];
  outcomes: { [path: string]: Outcome } | undefined;

  constructor(bench: Bench, proposal: Proposal) {
    const { agent, n, base } = proposal;
    this.bench = bench;
    this.proposal = proposal;
    this.agent = agent;
    this.role = bench.role;
    this.mark = { agent, n, revision: bench.revision };
    this.stamp = bench.stamp;
    this.base = base.revision;
    this.cells = bench.cells;
    this.context =
      base.vector === undefined
        ? { agent, n, revision: base.revision }
        : { agent, n, revision: base.revision, vector: new Map(Object.entries(base.vector)) };
  }

  get turn(): number {
    return this.bench.turn;
  }

  get horizon(): number {
    return this.bench.horizon();
  }

  sees(mark: Mark | undefined): boolean {
    return sees(this.context, mark);
  }

  sawAll(mark: Mark | undefined): boolean {
    return seesAll(this.context, mark);
  }

  mayWrite(path: string, meta: FieldMeta | undefined): boolean {
    const writers = meta?.writers;
    if (writers === undefined || writers.includes(this.bench.role)) return true;
    const allowed = writers.join(', ');
    this.refuse(path, {
      code: 'forbidden',
      rule: 'writers',
      have: this.bench.role,
      want: allowed,
      recovery: 'stop',
      hint: `Only ${allowed} may write this.`,
    });
    return false;
  }

  touch(path: string): void {
    this.touched.push(path);
  }

  refuse(path: string, refusal: Refusal): void {
    const hint = clipped(refusal.hint, HINT_CHARS_MAX);
    this.issues.push({ path: clipped(path, PATH_CHARS_MAX), ...refusal, ...(hint === refusal.hint ? {} : { hint }) });
  }

  note(path: string, outcome: Outcome): void {
    this.outcomes ??= {};
    this.outcomes[path] = outcome;
  }
}

function checkBase(trial: Trial): boolean {
  const { base, bench, proposal } = trial;
  if (proposal.schema !== bench.schema.id) {
    trial.refuse('/schema', {
      code: 'protocol',
      rule: 'schema digest',
      have: bench.schema.id,
      want: proposal.schema,
      recovery: 'stop',
      hint: `The space runs ${bench.schema.name} version ${bench.schema.version}; your definition differs.`,
    });
    return false;
  }
  if (base >= bench.revision) {
    trial.refuse('/base', {
      code: 'unknown_base',
      rule: 'base',
      have: bench.revision - 1,
      want: base,
      recovery: 're-read',
      hint: 'The view is newer than the log. Follow the log again from a revision that it holds.',
    });
    return false;
  }
  const isOlderThanOwn = base < bench.stamp.depth - 1;
  // A view as new as the newest that its agent has used is below the horizon only where the definition's own has passed it.
  if (base < bench.revision - 1 - bench.schema.horizon || (isOlderThanOwn && base < bench.horizon())) {
    trial.refuse('/base', {
      code: 'stale_base',
      rule: 'horizon',
      have: bench.horizon(),
      want: base,
      recovery: 're-read',
      hint: 'The view is older than the horizon. Make a new one and decide again.',
    });
    showAims(trial);
    return false;
  }
  return checkVector(trial);
}

/** What stands now where the patch aims, so that its author can decide again without another read. What cannot be read is not shown. */
function showAims(trial: Trial): void {
  const { schema, cells, role } = trial.bench;
  let weight = 0;
  for (const [name, intent] of Object.entries(trial.proposal.patch)) {
    const index = schema.indexOf.get(name);
    const kind = schema.kinds[index ?? -1];
    if (kind === undefined || kind.meta?.writers?.includes(role) === false) continue;
    const path = `/${escapeToken(name)}`;
    const op = kind.read(intent, path, () => undefined);
    if (op === undefined) continue;
    weight += kind.weigh(op);
    if (weight > OPERATIONS_MAX) return;
    for (const [place, value] of aimsOf(kind, cells[index as number], op, path)) trial.refuse(place, stale('horizon', value));
  }
}

/** Nobody can have seen what the log does not hold: a writer restored from an old copy would win every tie. */
function checkVector(trial: Trial): boolean {
  const { vector } = trial.context;
  if (vector === undefined) return true;
  const held = trial.bench.vector();
  const ahead = [...vector].filter(([agent, n]) => n > (agent === trial.agent ? trial.mark.n - 1 : newestOf(held, agent)));
  if (ahead.length === 0) return true;
  trial.refuse('/base/vector', {
    code: 'unknown_base',
    rule: 'vector',
    want: clipped(ahead.map(([agent, n]) => `${agent} ${n}`).join(', '), EXCERPT_CHARS_MAX),
    recovery: 're-read',
    hint: 'The vector names proposals that the log does not hold. Follow the log again.',
  });
  return false;
}

function checkPremises(trial: Trial): void {
  const { schema, cells, trust: ownTrust } = trial.bench;
  let trust = ownTrust;
  for (const path of trial.proposal.premises ?? []) {
    const place = placeOf(schema, cells, path);
    if (place === undefined) {
      trial.refuse(
        path,
        malformed('premise', `A premise is the path of a field, such as ${pointer(schema.names[0] as string)}.`),
      );
      continue;
    }
    const mark = place.kind.newest(place.cell);
    trust = Math.min(trust, mark?.trust ?? TRUST_MAX);
    if (trial.sawAll(mark)) continue;
    trial.refuse(path, {
      code: 'premise',
      rule: 'premise',
      ...named(mark, trial.agent),
      recovery: 're-read',
      hint: 'You relied on this and it has changed since your view. Look again and decide anew.',
    });
  }
  // What is written on the word of somebody less trusted is no more trusted than that.
  if (trust < TRUST_MAX) trial.mark = { ...trial.mark, trust };
}

function foldPatch(trial: Trial): void {
  const { schema } = trial.bench;
  const { patch, action, premises } = trial.proposal;
  const complain = (path: string, refusal: Refusal): void => trial.refuse(path, refusal);
  const names = Object.keys(patch);
  if (names.length === 0 && action === undefined && premises === undefined) {
    trial.refuse('', malformed('patch', 'An empty patch needs an action or a premise; otherwise there is nothing to decide.'));
  }
  let weight = 0;
  let cells: unknown[] | undefined;
  for (const name of names) {
    const path = `/${escapeToken(name)}`;
    const index = schema.indexOf.get(name);
    if (index === undefined) {
      trial.refuse(path, malformed('patch', unknownFieldHint(schema, name)));
      continue;
    }
    const kind = schema.kinds[index] as FieldKind;
    if (!trial.mayWrite(path, kind.meta)) continue;
    const op = kind.read(patch[name] as Json, path, complain);
    if (op === undefined) continue;
    weight += kind.weigh(op);
    if (weight > OPERATIONS_MAX) continue;
    const erased = kind.erases(op);
    if (erased > 0) trial.erased.push(index);
    if (erased > (kind.meta?.eraseMax ?? Infinity)) {
      trial.refuse(path, tooManyErased(kind.meta?.eraseMax ?? 0, erased));
      continue;
    }
    const before = trial.bench.cells[index];
    const after = kind.fold(before, op, path, trial);
    if (after === before) continue;
    cells ??= trial.bench.cells.slice();
    cells[index] = after;
    trial.changed.push(index);
    trial.touched.push(path);
  }
  if (weight > OPERATIONS_MAX) {
    trial.refuse('', {
      ...malformed('patch', `At most ${OPERATIONS_MAX} operations in one patch.`),
      have: OPERATIONS_MAX,
      want: weight,
    });
  }
  if (cells !== undefined) trial.cells = cells;
}

/** Brings what is computed up to date. Only a whole fold is worth computing from. */
function compute(trial: Trial): void {
  const { schema } = trial.bench;
  if (schema.computed.length === 0 || trial.issues.length > 0) return;
  const { cells, changed, fault } = computeAfter(schema, trial.cells, trial.changed, trial.mark);
  if (fault !== undefined) {
    const path = pointer(schema.names[fault.index] as string);
    trial.refuse(path, { code: 'derived', rule: 'derived', recovery: 'change', hint: fault.hint });
    return;
  }
  trial.cells = cells;
  trial.changed.push(...changed);
  trial.touched.push(...changed.map((index) => pointer(schema.names[index] as string)));
}

function tooManyErased(have: number, want: number): Refusal {
  const hint = have === 0 ? 'Nothing here may be erased.' : `One patch may erase ${have} here; you ask for ${want}.`;
  return { code: 'protected', rule: 'eraseMax', have, want, recovery: 'change', hint };
}

function checkRules(trial: Trial): void {
  if (trial.changed.length === 0) return;
  const { rules, protections } = trial.bench.schema;
  const guards = trial.erased.flatMap((index) => protections.get(index) ?? []);
  for (const rule of [...guards, ...rules]) {
    if (rule.sort !== 'protected' && !rule.reads.some((index) => trial.changed.includes(index))) continue;
    for (const [path, refusal] of ask(trial, rule)) trial.refuse(path, refusal);
  }
}

/**
 * What a rule says, as refusals. A rule that throws, or that answers something else than a rule may, refuses: it could not
 * vouch for the state. Its message stays out of the log, because platforms word it differently.
 */
function ask(trial: Trial, rule: CompiledRule): readonly (readonly [string, Refusal])[] {
  const { schema, cells, role } = trial.bench;
  try {
    const answer: RuleAnswer = rule.check({
      before: viewsOf(schema, cells, rule.reads, rule.undeclared),
      after: viewsOf(schema, trial.cells, rule.reads, rule.undeclared),
      agent: trial.agent,
      role,
      touched: Object.freeze(trial.touched),
    });
    ignoreLate(answer);
    if (isFine(answer)) return [];
    const said = typeof answer === 'string' ? [{ path: pathOf(rule), hint: answer }] : answer === true ? [] : answer;
    return said.map((one) => [clipped(one.path, PATH_CHARS_MAX), refusalOf(trial, rule, one)] as const);
  } catch {
    const hint = `The rule ${rule.name} did not answer as a rule must: it threw, or gave something else than true, a text or a list.`;
    return [[pathOf(rule), { code: rule.sort, rule: rule.name, recovery: 'change', hint }]];
  }
}

/** A protection speaks of its field; other rules of the state as a whole, unless they name a path. */
function pathOf(rule: CompiledRule): string {
  return rule.sort === 'protected' ? pointer(rule.name) : '';
}

/** An answer that is a promise is none; what it comes to is nobody's to hear, least of all the process's. */
function ignoreLate(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => undefined);
}

function refusalOf(
  trial: Trial,
  rule: CompiledRule,
  said: { readonly hint: string; readonly have?: Json; readonly want?: Json },
): Refusal {
  const { hint, have, want } = said;
  return {
    code: rule.sort,
    rule: rule.name,
    ...(have === undefined ? {} : { have: excerpt(have, EXCERPT_CHARS_MAX) }),
    ...(want === undefined ? {} : { want: excerpt(want, EXCERPT_CHARS_MAX) }),
    recovery: trial.base === trial.bench.revision - 1 ? 'change' : 're-read',
    hint: clipped(hint, HINT_CHARS_MAX),
  };
}

function unknownFieldHint(schema: StateSchema, name: string): string {
  const close = schema.names.find(
    (known) => known.toLowerCase() === name.toLowerCase() || known.startsWith(name) || name.startsWith(known),
  );
  return close === undefined ? `The fields are ${schema.names.join(', ')}.` : `Did you mean ${close}?`;
}

function capped(issues: readonly Issue[]): readonly Issue[] {
  if (issues.length <= ISSUES_MAX) return issues;
  const listed = issues.slice(0, ISSUES_MAX - 1);
  const rest = issues.slice(ISSUES_MAX - 1);
  const worst = rest.find((issue) => !isCurable(issue)) ?? (rest[0] as Issue);
  return [
    ...listed,
    {
      path: '',
      code: worst.code,
      rule: worst.rule,
      recovery: worst.recovery,
      hint: `${rest.length} more issues are not listed.`,
    },
  ];
}
