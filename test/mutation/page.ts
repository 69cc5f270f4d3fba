/**
 * The page of a run: what was tried, what killed it, and why what survived is no fault. SPEC: MUT9.
 */
import { OPERATORS } from './operators.ts';
import type { Mutant, Operator } from './operators.ts';
import { SUITES, suiteOf } from './suites.ts';
import type { Told } from './trial.ts';

/** One fault, and what the tests made of it. */
export type Tried = { readonly mutant: Mutant; readonly told: Told };

/** Why faults that survive are none, by id; `fault` says which one it is about, for whoever finds it out of date. */
export type Reasons = { readonly [id: string]: { readonly fault: string; readonly why: string } };

/** What killed a fault, in the words of the page; `undefined` when it survived. */
export function killerOf(told: Told): string | undefined {
  if (told.kind === 'passed') return undefined;
  if (told.kind === 'stopped') return 'a test that did not end';
  return told.kind === 'broken' ? 'a run that broke off' : suiteOf(told.file);
}

/** What a person has to look at: survivors without a reason, reasons for faults that do not exist, or that are killed. */
export function findings(tried: readonly Tried[], reasons: Reasons, known: ReadonlySet<string>): readonly string[] {
  const open = tried.flatMap(({ mutant, told }) =>
    told.kind === 'passed' && reasons[mutant.id] === undefined ? [`OPEN ${lineOf(mutant)}`] : [],
  );
  const needless = tried.flatMap(({ mutant, told }) =>
    told.kind !== 'passed' && reasons[mutant.id] !== undefined ? [`KILLED, and yet excused: ${lineOf(mutant)}`] : [],
  );
  const stale = Object.entries(reasons).flatMap(([id, { fault }]) => (known.has(id) ? [] : [`OUT OF DATE ${id}: ${fault}`]));
  return [...open, ...needless, ...stale];
}

/** One fault in one line, with the command that tries it alone. */
export function lineOf({ id, path, line, operator, becomes }: Mutant): string {
  return `${id} ${path}:${line} (${operator}): ${becomes}`;
}

/** The page in Markdown. `candidates` is how many faults there were to choose from. */
export function mutantPage(tried: readonly Tried[], reasons: Reasons, candidates: number): string {
  const survivors = tried.filter(({ told }) => told.kind === 'passed');
  const files = new Set(tried.map(({ mutant }) => mutant.path));
  const excused = survivors.map(({ mutant }) => survivorText(mutant, reasons[mutant.id]?.why ?? 'OPEN'));
  return `# Mutants

Faults of one line, planted one at a time in the sources of [core](../packages/core), and what noticed them. \`npm run mutants\` makes this
page: ${tried.length} of ${candidates} possible faults in ${files.size} files, the same ones each time; \`-- --count 400\` and \`-- --all\` try more, \`-- --only <id>\` one.
Each is held against the unit tests of core, then its properties, then the [fixtures](../conformance), until the first failure. Words for people (hints,
summaries, messages) are left alone. The rules of the command: [test/mutation](../test/mutation/SPEC.md).

${tried.length - survivors.length} were killed. ${survivors.length} survived, each for the reason below.

| operator | what it does | tried | killed | survived |
|---|---|---|---|---|
${(Object.keys(OPERATORS) as Operator[]).map((operator) => operatorRow(operator, tried)).join('\n')}

| killed by | |
|---|---|
${[...SUITES, 'a test that did not end', 'a run that broke off'].map((killer) => killerRow(killer, tried)).join('\n')}

## Survivors

${excused.join('\n')}`;
}

function operatorRow(operator: Operator, tried: readonly Tried[]): string {
  const own = tried.filter(({ mutant }) => mutant.operator === operator);
  const survived = own.filter(({ told }) => told.kind === 'passed').length;
  return `| ${operator} | ${OPERATORS[operator].replaceAll('|', '\\|')} | ${own.length} | ${own.length - survived} | ${survived} |`;
}

function killerRow(killer: string, tried: readonly Tried[]): string {
  return `| ${killer} | ${tried.filter(({ told }) => killerOf(told) === killer).length} |`;
}

function survivorText({ id, path, operator, was, becomes }: Mutant, why: string): string {
  return `\`${id}\` in \`${path.replace(/^packages\//, '')}\`, ${operator}. ${why}

\`\`\`diff
- ${was}
+ ${becomes}
\`\`\`
`;
}
