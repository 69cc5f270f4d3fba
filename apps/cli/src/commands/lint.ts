/**
 * `oplus lint <file>`: the laws of every reducer that a module exports, each failure with the smallest case that shows it.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OplusError } from '@oplus/core';
import { EXIT_FINDING } from '../failure.ts';
import type { LintFinding, LintLaw } from '../lint/finding.ts';
import { findingsIn } from '../lint/thread-answer.ts';
import type { Colours, Terminal } from '../terminal.ts';

/** Exit code 1 when a law fails that must hold, 2 when nothing could be measured. Throws `USAGE` for a file without reducers. */
export async function lintCommand(terminal: Terminal, file: string): Promise<number> {
  const path = resolve(file);
  if (!existsSync(path))
    throw new OplusError('USAGE', 'there is no such file', { path, hint: 'Name a module: oplus lint src/state.ts' });
  const findings = await findingsIn(pathToFileURL(path), file, (text) => terminal.note(text.trimEnd()));
  if (findings.length === 0) {
    throw new OplusError('USAGE', 'the module exports no reducer', {
      path,
      hint: 'Export { reduce, start, updates: [...] }, or a StateSchema, Annotation or channel of LangGraph.',
    });
  }
  const isSound = findings.every(({ verdict }) => verdict !== 'fail');
  const isMeasured = findings.some(({ verdict }) => verdict !== 'not measured');
  if (terminal.isJson) terminal.json({ v: 1, ok: isSound && isMeasured, file, reducers: findings });
  else for (const line of linesOf(findings, terminal.colour)) terminal.out(line);
  return isSound ? (isMeasured ? 0 : EXIT_USAGE) : EXIT_FINDING;
}

const EXIT_USAGE = 2;

/** What a law that fails is called in a sentence. */
const FAILURES: { readonly [law in LintLaw['law']]: string } = {
  purity: 'purity fails',
  batching: 'batching fails',
  reload: 'reload fails',
  order: 'note: the order of parallel updates decides',
  json: 'note: only checkpoints of LangGraph keep this, JSON does not',
  total: 'note: it does not take every update',
};

function linesOf(findings: readonly LintFinding[], colour: Colours): readonly string[] {
  const width = Math.max(...findings.map(({ name }) => name.length));
  return [...findings.flatMap((finding) => linesOfOne(finding, width, colour)), '', summaryOf(findings)];
}

function linesOfOne(finding: LintFinding, width: number, colour: Colours): readonly string[] {
  const { name, shape, verdict } = finding;
  const head = `${paintOf(verdict, colour)(verdict.padEnd(VERDICT_CHARS))}  ${name.padEnd(width)}  ${shape}`;
  if (finding.verdict === 'not measured') return [`${head}: ${finding.why}`];
  const held = finding.laws.filter(({ holds }) => holds).map(({ law, checks }) => `${law} (${checks})`);
  const source = { schema: 'its schema', examples: 'examples', default: 'its default' }[finding.values];
  return [
    `${head}, by ${source}${held.length === 0 ? '' : `: ${held.join(', ')} hold${held.length === 1 ? 's' : ''}`}`,
    ...finding.laws.flatMap((law) => failureOf(law, colour)),
  ];
}

function failureOf({ law, isRequired, counterexample }: LintLaw, colour: Colours): readonly string[] {
  if (counterexample === undefined) return [];
  const { state, updates, lines } = counterexample;
  const given = updates.length === 0 ? '' : ` with ${updates.map(clip).join(', then ')}`;
  const paint = isRequired ? colour.red : colour.yellow;
  return [`${INDENT}${paint(FAILURES[law])}: from ${clip(state)}${given}`, ...lines.map((line) => `${INDENT}  ${line}`)];
}

function summaryOf(findings: readonly LintFinding[]): string {
  const count = (verdict: LintFinding['verdict']): number => findings.filter((finding) => finding.verdict === verdict).length;
  const counts = `${count('ok')} ok, ${count('fail')} failed, ${count('not measured')} not measured`;
  return `${findings.length} reducers: ${counts}; in brackets stand the cases looked at`;
}

function paintOf(verdict: LintFinding['verdict'], colour: Colours): (text: string) => string {
  return { ok: colour.green, fail: colour.red, 'not measured': colour.yellow }[verdict];
}

const VERDICT_CHARS = 'not measured'.length;
const INDENT = ' '.repeat(VERDICT_CHARS + 2);
const VALUE_CHARS_MAX = 80;

function clip(text: string): string {
  return text.length <= VALUE_CHARS_MAX ? text : `${text.slice(0, VALUE_CHARS_MAX)}…`;
}
