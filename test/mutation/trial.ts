/**
 * Holding the tests against one tree: what fails first, if anything does. SPEC: MUT6-MUT8.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isReplacing } from './suites.ts';

/** What a run of tests is asked: files from `root`, the first failure ends it. */
export type Asked = { readonly root: string; readonly files: readonly string[]; readonly testSecondsMax: number };

/**
 * What became of a run: `passed` with the seconds of processor time of each file and of the slowest test; `failed` by a test;
 * `stopped` when one test took more than it may; `broken` when the process ended before it could say.
 */
export type Told =
  | { readonly kind: 'passed'; readonly costs: { readonly [file: string]: number }; readonly slowest: number }
  | { readonly kind: 'failed'; readonly file: string; readonly title: string }
  | { readonly kind: 'stopped'; readonly file: string }
  | { readonly kind: 'broken'; readonly file: string };

/** Generated histories of a property: few, as each fault meets all of them. */
const HISTORIES = 400;
const HEAP_MEGABYTES_MAX = 1_536;

/** Runs the files in order, those that replace modules after the others and each by itself. Rejects nothing. */
export async function held(asked: Asked): Promise<Told> {
  const { root, files } = asked;
  const replacing = files.filter((file) => isReplacing(readFileSync(join(root, file), 'utf8')));
  const plain = files.filter((file) => !replacing.includes(file));
  const groups = [plain, ...replacing.map((file) => [file])].filter((group) => group.length > 0);
  let costs: { readonly [file: string]: number } = {};
  let slowest = 0;
  for (const group of groups) {
    const told = await run({ ...asked, files: group });
    if (told.kind !== 'passed') return told;
    costs = { ...costs, ...told.costs };
    slowest = Math.max(slowest, told.slowest);
  }
  return { kind: 'passed', costs, slowest };
}

async function run(asked: Asked): Promise<Told> {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@oplus/source',
      '--disable-warning=ExperimentalWarning',
      `--max-old-space-size=${HEAP_MEGABYTES_MAX}`,
      fileURLToPath(new URL('./suite-process.ts', import.meta.url)),
      JSON.stringify(asked),
    ],
    { cwd: asked.root, env: { ...process.env, OPLUS_HISTORIES: String(HISTORIES) }, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  const line = said.split('\n').findLast((one) => one.startsWith('{"kind":'));
  return line === undefined ? { kind: 'broken', file: asked.files[0] ?? '' } : (JSON.parse(line) as Told);
}
