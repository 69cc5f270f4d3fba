/**
 * `npm run mutants`: faults of one line in the sources of core, one at a time, and whether a test notices.
 *
 * `--count N` tries N of them, `--all` every one, `--in PART` those of files whose path holds PART, `--only ID` one. Without
 * `--in` and `--only` it writes docs/mutants.md. The exit code is 1 when a person has to look at something, 2 when the tests
 * fail without any fault. SPEC: MUT1-MUT9.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, textOf, treeFiles } from '../house/source.ts';
import { mutantsOf } from './operators.ts';
import type { Mutant } from './operators.ts';
import { findings, killerOf, lineOf, mutantPage } from './page.ts';
import type { Reasons, Tried } from './page.ts';
import { selected } from './selection.ts';
import { suiteOf, testOrder } from './suites.ts';
import { copyTree } from './tree-copy.ts';
import { held } from './trial.ts';
import type { Told } from './trial.ts';

const COUNT = 160;
/** How much longer than the slowest test any test may take before it counts as one that does not end. */
const PATIENCE = 4;
const TEST_SECONDS_MIN = 20;
const BASELINE_SECONDS_MAX = 600;

const { values } = parseArgs({
  options: { count: { type: 'string' }, all: { type: 'boolean' }, in: { type: 'string' }, only: { type: 'string' } },
});
process.exitCode = await main();

async function main(): Promise<number> {
  const known = sources().flatMap((path) => mutantsOf(path, textOf(path)));
  const chosen = chosenFrom(known);
  const tests = treeFiles((path) => suiteOf(path) !== undefined);
  const copy = copyTree(treeFiles());
  try {
    const before = await held({ root: copy.root, files: testOrder('', tests, () => 0), testSecondsMax: BASELINE_SECONDS_MAX });
    if (before.kind !== 'passed') {
      say(`the tests fail without any fault: ${JSON.stringify(before)}`);
      return 2;
    }
    const testSecondsMax = Math.max(TEST_SECONDS_MIN, PATIENCE * before.slowest);
    const tried: Tried[] = [];
    for (const mutant of chosen) {
      const files = testOrder(mutant.path, tests, (test) => before.costs[test] ?? 0);
      const told = await copy.withFault(mutant, () => held({ root: copy.root, files, testSecondsMax }));
      tried.push({ mutant, told });
      say(`${tried.length}/${chosen.length} ${fateOf(told)}: ${lineOf(mutant)}`);
    }
    return report(tried, known);
  } finally {
    copy.close();
  }
}

function sources(): readonly string[] {
  return treeFiles((path) => /^packages\/core\/src\/(?!testing\/).*(?<!\.test)\.ts$/.test(path) && !path.endsWith('/index.ts'));
}

function chosenFrom(known: readonly Mutant[]): readonly Mutant[] {
  const { count, all, in: part, only } = values;
  if (only !== undefined) return known.filter(({ id }) => id === only);
  const from = part === undefined ? known : known.filter(({ path }) => path.includes(part));
  return all === true ? from : selected(from, count === undefined ? COUNT : Number(count));
}

function report(tried: readonly Tried[], known: readonly Mutant[]): number {
  const reasons = JSON.parse(readFileSync(new URL('./equivalents.json', import.meta.url), 'utf8')) as Reasons;
  const found = findings(tried, reasons, new Set(known.map(({ id }) => id)));
  if (values.only === undefined && values.in === undefined) {
    writeFileSync(join(ROOT, 'docs/mutants.md'), mutantPage(tried, reasons, known.length));
  }
  const survived = tried.filter(({ told }) => told.kind === 'passed').length;
  say([`${tried.length} tried, ${tried.length - survived} killed, ${survived} survived`, ...found].join('\n'));
  return found.length === 0 ? 0 : 1;
}

function fateOf(told: Told): string {
  const killer = killerOf(told);
  if (killer === undefined) return 'survives';
  return told.kind === 'failed' ? `killed by ${killer} ${told.file} (${told.title})` : `killed by ${killer}`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
