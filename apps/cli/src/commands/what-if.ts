/**
 * `oplus what-if [dir]`: the log of a run under an altered definition, and which verdicts would be others.
 */
import { coursesAfter, fieldsApart, OplusError, pointer, unbornCourses } from '@oplus/core';
import type { Courses, Difference, StateSchema } from '@oplus/core';
import { alteredState, readAlteration } from '../alteration.ts';
import { taskOf } from '../catalogue.ts';
import { definitionOf } from '../definition.ts';
import { EXIT_FINDING } from '../failure.ts';
import { UNFINISHED, withHistory } from '../history.ts';
import type { History, HistoryOptions } from '../history.ts';
import type { Colours, Terminal } from '../terminal.ts';
import { fieldsOf, verdictLines } from '../verdict-text.ts';

export type WhatIfOptions = HistoryOptions & { readonly field: readonly string[]; readonly definition?: string };

/** Exit code 1 when a verdict or the state would be another one, as `diff` has it. */
export async function whatIfCommand(terminal: Terminal, dir: string | undefined, options: WhatIfOptions): Promise<number> {
  if ((options.definition === undefined) === (options.field.length === 0))
    throw new OplusError('USAGE', 'name what is altered, by fields or by a definition', {
      hint: 'One of: --field /shelves/*=lww, --definition altered.ts',
    });
  return withHistory(dir, options, async (history) => {
    const compared = await compare(history, await alteredOf(history, options), terminal);
    terminal.progressEnd();
    if (!history.isFinished) terminal.note(UNFINISHED);
    const { dir: folder, isFinished: finished } = history;
    if (terminal.isJson) terminal.json({ v: 1, ok: true, dir: folder, finished, ...documentOf(compared) });
    else for (const line of linesOf(compared, folder, terminal.colour)) terminal.out(line);
    return compared.same === compared.proposals && compared.fields.length === 0 ? 0 : EXIT_FINDING;
  });
}

/** Counts are of proposals; `first` holds those that would fare otherwise, at most `DIFFERENCES_MAX`. */
type Compared = {
  readonly revision: number;
  readonly proposals: number;
  readonly same: number;
  readonly wouldCommit: number;
  readonly wouldReject: number;
  readonly otherwise: number;
  /** Pointers of the fields that would hold another value at the end. */
  readonly fields: readonly string[];
  readonly first: readonly Difference[];
  /** Digests of both definitions. */
  readonly schema: { readonly was: string; readonly would: string };
};

const DIFFERENCES_MAX = 100;
/** Of these, in text. */
const DIFFERENCES_SHOWN = 5;

async function alteredOf({ run, schema }: History, { field, definition }: WhatIfOptions): Promise<StateSchema> {
  if (definition !== undefined) {
    const { schema, isContract } = await definitionOf(definition);
    if (!isContract) return schema;
    throw new OplusError('USAGE', 'a contract holds no rules to decide by', {
      hint: 'Name the module that exports the definition.',
    });
  }
  return alteredState(taskOf(run.task).definition, schema, field.map(readAlteration));
}

async function compare({ schema, run, rounds }: History, altered: StateSchema, terminal: Terminal): Promise<Compared> {
  let courses: Courses = unbornCourses(schema, altered, run.space);
  const count = { proposals: 0, same: 0, wouldCommit: 0, wouldReject: 0, otherwise: 0 };
  const first: Difference[] = [];
  for await (const sealed of rounds()) {
    const { courses: next, differences } = coursesAfter(courses, sealed);
    courses = next;
    count.proposals += sealed.decided.length;
    count.same += sealed.decided.length - differences.length;
    for (const { was, would } of differences)
      count[was.kind === would.kind ? 'otherwise' : would.kind === 'committed' ? 'wouldCommit' : 'wouldReject'] += 1;
    first.push(...differences.slice(0, DIFFERENCES_MAX - first.length));
    terminal.progress(`what-if r${sealed.revision}`);
  }
  const fields = fieldsApart(courses).map((name) => pointer(name));
  return { revision: courses.was.revision, ...count, fields, first, schema: { was: schema.digest, would: altered.digest } };
}

function documentOf({ first, ...rest }: Compared): object {
  const differences = first.map(({ revision, agent, n, was, would }) => ({ revision, agent, n, was, would }));
  return { ...rest, differences };
}

function linesOf(compared: Compared, dir: string, colour: Colours): readonly string[] {
  const { proposals, revision, same, wouldCommit, wouldReject, otherwise, fields, first } = compared;
  if (revision < 0) return [`${dir}: the log is empty`];
  const shown = first.slice(0, DIFFERENCES_SHOWN);
  return [
    `${dir}: ${proposals} proposals, r${revision}, under the altered definition`,
    row('as they were', String(same)),
    row('would be committed', String(wouldCommit)),
    row('would be rejected', String(wouldReject)),
    row('told otherwise', String(otherwise)),
    row('state', fields.length === 0 ? colour.green('the same') : colour.yellow(`another one at ${fields.join(', ')}`)),
    ...shown.flatMap((difference) => ['', ...linesOfOne(difference, colour)]),
    ...(proposals - same > shown.length ? ['', `and ${proposals - same - shown.length} more`] : []),
    ...(shown.length === 0
      ? []
      : ['', colour.dim('Under other rules the agents would have read other states, and said other things.')]),
  ];
}

function linesOfOne({ revision, agent, n, proposal, was, would }: Difference, colour: Colours): readonly string[] {
  const fate = was.kind === would.kind ? 'told otherwise' : `would be ${would.kind}`;
  return [
    `r${revision} ${agent}#${n}  ${was.kind}, ${fate}  ${colour.dim(fieldsOf(proposal.patch).join(' '))}`,
    ...verdictLines(was, colour).map((line) => `  was    ${line}`),
    ...verdictLines(would, colour).map((line) => `  would  ${line}`),
  ];
}

function row(label: string, value: string): string {
  return `${label.padEnd(LABEL_CHARS)}  ${value}`;
}

const LABEL_CHARS = 'would be committed'.length;
