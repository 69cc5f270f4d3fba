/**
 * Judging one proposal against the cells as they stand: apply to a copy, check, say what is wrong, all of it at once.
 */
import { sees } from './causal-context.ts';
import type { CausalContext } from './causal-context.ts';
import type { Mark } from './dot.ts';
import type { Attempt, FieldKind, Refusal, Traversable } from './field-kind.ts';
import type { Issue, Outcome, Outcomes } from './issue.ts';
import { EXCERPT_CHARS_MAX, ISSUES_MAX } from './issue.ts';
import type { Json } from './json.ts';
import { escapeToken, excerpt, pointer, pointerTokens } from './json.ts';
import type { Proposal } from './proposal.ts';
import { OPERATIONS_MAX } from './proposal.ts';
import { malformed } from './refusal.ts';
import type { Stamp } from './stamp.ts';
import type { CompiledRule, RuleAnswer, StateSchema } from './state-schema.ts';
import { viewsOf } from './state-schema.ts';

/** What one proposal is judged in. `revision` is the one being sealed. */
export type Bench = {
  readonly schema: StateSchema;
  readonly cells: readonly unknown[];
  readonly revision: number;
  readonly horizon: number;
  readonly role: string;
  readonly stamp: Stamp;
};

export type Judgement =
  | { readonly kind: 'accepted'; readonly cells: readonly unknown[]; readonly outcomes: Outcomes | undefined }
  | { readonly kind: 'refused'; readonly issues: readonly Issue[] };

/** Judges one proposal. Pure; the cells of the bench are not changed. */
export function judge(bench: Bench, proposal: Proposal): Judgement {
  const trial = new Trial(bench, proposal);
  if (checkBase(trial)) {
    checkPremises(trial);
    foldPatch(trial);
    if (trial.issues.length === 0) checkRules(trial);
  }
  if (trial.issues.length > 0) return { kind: 'refused', issues: capped(trial.issues) };
  return { kind: 'accepted', cells: trial.cells, outcomes: trial.outcomes };
}

class Trial implements Attempt {
  readonly bench: Bench;
  readonly proposal: Proposal;
  readonly agent: string;
  readonly mark: Mark;
  readonly stamp: Stamp;
  readonly base: number;
  readonly horizon: number;
  readonly context: CausalContext;
  cells: readonly unknown[];
  /** Bit by bit: the indexes of fields whose cell changed. */
  readonly touched: number[] = [];
  readonly issues: Issue[] = [];
  outcomes: { [path: string]: Outcome } | undefined;

  constructor(bench: Bench, proposal: Proposal) {
    const { agent, n, base } = proposal;
    this.bench = bench;
    this.proposal = proposal;
    this.agent = agent;
    this.mark = { agent, n, revision: bench.revision };
    this.stamp = bench.stamp;
    this.base = base.revision;
    this.horizon = bench.horizon;
    this.cells = bench.cells;
    this.context =
      base.vector === undefined
        ? { agent, n, revision: base.revision }
        : { agent, n, revision: base.revision, vector: new Map(Object.entries(base.vector)) };
  }

  sees(mark: Mark | undefined): boolean {
    return sees(this.context, mark);
  }

  sawAll(mark: Mark | undefined): boolean {
    return mark === undefined || mark.revision <= this.base;
  }

  refuse(path: string, refusal: Refusal): void {
    this.issues.push({ path, ...refusal });
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
  if (base < bench.horizon) {
    trial.refuse('/base', {
      code: 'stale_base',
      rule: 'horizon',
      have: bench.horizon,
      want: base,
      recovery: 're-read',
      hint: 'The view is older than the horizon. Make a new one and decide again.',
    });
    return false;
  }
  return true;
}

function checkPremises(trial: Trial): void {
  for (const path of trial.proposal.premises ?? []) {
    const [name, ...tokens] = pointerTokens(path) ?? [];
    const index = name === undefined ? undefined : trial.bench.schema.indexOf.get(name);
    if (index === undefined) {
      trial.refuse(path, malformed('premise', `A premise is the path of a field, such as ${pointer(trial.bench.schema.names[0] as string)}.`));
      continue;
    }
    let kind: Traversable = trial.bench.schema.kinds[index] as FieldKind;
    let cell: unknown = trial.bench.cells[index];
    for (const token of tokens) {
      const below = kind.child?.(cell, token);
      if (below === undefined) break;
      ({ kind, cell } = below);
    }
    const mark = kind.newest(cell);
    if (trial.sawAll(mark)) continue;
    trial.refuse(path, {
      code: 'premise',
      rule: 'premise',
      ...(mark === undefined || mark.agent === '' ? {} : { by: mark.agent }),
      recovery: 're-read',
      hint: 'You relied on this and it has changed since your view. Look again and decide anew.',
    });
  }
}

function foldPatch(trial: Trial): void {
  const { schema, role } = trial.bench;
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
    if (kind.meta?.writers !== undefined && !kind.meta.writers.includes(role)) {
      trial.refuse(path, {
        code: 'forbidden',
        rule: 'writers',
        have: role,
        want: kind.meta.writers.join(', '),
        recovery: 'stop',
        hint: `Only ${kind.meta.writers.join(', ')} may write this field.`,
      });
      continue;
    }
    const op = kind.read(patch[name] as Json, path, complain);
    if (op === undefined) continue;
    weight += kind.weigh(op);
    const before = trial.bench.cells[index];
    const after = kind.fold(before, op, path, trial);
    if (after === before) continue;
    cells ??= trial.bench.cells.slice();
    cells[index] = after;
    trial.touched.push(index);
  }
  if (weight > OPERATIONS_MAX) {
    trial.refuse('', { ...malformed('patch', `At most ${OPERATIONS_MAX} operations in one patch.`), have: OPERATIONS_MAX, want: weight });
  }
  if (cells !== undefined) trial.cells = cells;
}

function checkRules(trial: Trial): void {
  if (trial.touched.length === 0) return;
  const { schema } = trial.bench;
  let settled: readonly unknown[] | undefined;
  for (const rule of schema.rules) {
    if (!rule.reads.some((index) => trial.touched.includes(index))) continue;
    settled ??= trial.cells.map((cell, i) => (schema.kinds[i] as FieldKind).settle?.(cell) ?? cell);
    report(trial, rule, ask(trial, rule, settled));
  }
}

function ask(trial: Trial, rule: CompiledRule, after: readonly unknown[]): RuleAnswer {
  const { schema, cells, role } = trial.bench;
  return rule.check({
    before: viewsOf(schema, cells, rule.reads),
    after: viewsOf(schema, after, rule.reads),
    agent: trial.agent,
    role,
    touched: pathsOf(trial.proposal),
  });
}

function report(trial: Trial, rule: CompiledRule, answer: RuleAnswer): void {
  if (answer === true) return;
  const said = typeof answer === 'string' ? [{ path: '', hint: answer }] : answer;
  for (const { path, hint, ...values } of said) {
    trial.refuse(path, {
      code: rule.sort,
      rule: rule.name,
      ...('have' in values && values.have !== undefined ? { have: excerpt(values.have, EXCERPT_CHARS_MAX) } : {}),
      ...('want' in values && values.want !== undefined ? { want: excerpt(values.want, EXCERPT_CHARS_MAX) } : {}),
      recovery: trial.base === trial.bench.revision - 1 ? 'change' : 're-read',
      hint,
    });
  }
}

/** The JSON Pointers of the fields that a patch names, and of the keys under their verbs. */
function pathsOf(proposal: Proposal): readonly string[] {
  const paths: string[] = [];
  for (const [name, verbs] of Object.entries(proposal.patch)) {
    const path = `/${escapeToken(name)}`;
    paths.push(path);
    for (const value of Object.values(verbs as { readonly [verb: string]: Json })) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) for (const key of Object.keys(value)) paths.push(`${path}/${escapeToken(key)}`);
    }
  }
  return paths;
}

function unknownFieldHint(schema: StateSchema, name: string): string {
  const close = schema.names.find((known) => known.toLowerCase() === name.toLowerCase() || known.startsWith(name) || name.startsWith(known));
  return close === undefined ? `The fields are ${schema.names.join(', ')}.` : `Did you mean ${close}?`;
}

function capped(issues: readonly Issue[]): readonly Issue[] {
  if (issues.length <= ISSUES_MAX) return issues;
  const rest = issues.length - ISSUES_MAX + 1;
  return [
    ...issues.slice(0, ISSUES_MAX - 1),
    { path: '', code: 'schema', rule: 'patch', recovery: 'change', hint: `${rest} more issues of this kind are not listed.` },
  ];
}
