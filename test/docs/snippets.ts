/**
 * Snippets of pages that can be run, and what they print.
 *
 * A fence whose info string is `ts run` or `sh run` is run from the top folder. A fence `text` right after it is what it must
 * print; `text shape` compares after every number, digest and duration is made alike, for output that differs from run to run.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../house/source.ts';

/** `output` is the fence after the snippet, with its place in the page: `[from, to)` in UTF-16 units. */
export type Snippet = {
  readonly path: string;
  readonly line: number;
  readonly language: 'ts' | 'sh';
  readonly code: string;
  readonly output?: { readonly text: string; readonly isShape: boolean; readonly from: number; readonly to: number };
};

/** The runnable snippets of a page, in order. */
export function snippetsOf(path: string, markdown: string): readonly Snippet[] {
  return [...markdown.matchAll(RUNNABLE)].map((match) => {
    const [whole, language, code, , output, shape, text] = match;
    const from = match.index + whole.length - (output === undefined ? 0 : output.length);
    return {
      path,
      line: markdown.slice(0, match.index).split('\n').length,
      language: language as 'ts' | 'sh',
      code: code as string,
      ...(text === undefined || output === undefined
        ? {}
        : {
            output: {
              text,
              isShape: shape !== undefined,
              from: from + output.indexOf('\n') + 1,
              to: from + output.lastIndexOf('```'),
            },
          }),
    };
  });
}

/** Runs a snippet and gives what it printed. Throws when it fails or takes more than a minute. */
export function runSnippet({ path, line, language, code }: Snippet): string {
  const folder = join(ROOT, '.cache/docs');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${nameOf(path, line)}.ts`);
  const options = { cwd: ROOT, encoding: 'utf8', timeout: 60_000 } as const;
  try {
    if (language === 'ts') writeFileSync(file, code);
    const { status, stdout, stderr } =
      language === 'sh'
        ? spawnSync('bash', ['-euo', 'pipefail', '-c', code], options)
        : spawnSync(process.execPath, ['--conditions=@oplus/source', '--disable-warning=ExperimentalWarning', file], options);
    if (status !== 0) throw new Error(`${path}:${line} ended with ${String(status)}\n${stdout}${stderr}`);
    return stdout;
  } finally {
    rmSync(file, { force: true });
  }
}

/** What the compiler says against the TypeScript snippets, all at once, and not against the sources. Empty when it is content. */
export function typeFaults(snippets: readonly Snippet[]): string {
  const folder = join(ROOT, '.cache/docs-types');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    for (const { path, line, language, code } of snippets)
      if (language === 'ts') writeFileSync(join(folder, `${nameOf(path, line)}.ts`), code);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.tests.json', include: ['*.ts'] }));
    return spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], { cwd: ROOT, encoding: 'utf8' })
      .stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The text with digests, numbers and runs of spaces made alike. */
export function shapeOf(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8,64}\b/g, '#')
    .replaceAll(/\d[\d,.]*(?:\s?(?:ms|s|min|k|M)\b)?/g, '0')
    .replaceAll(/[ \t]+/g, ' ')
    .trim();
}

const RUNNABLE = /^```(ts|sh) run\n([\s\S]*?)^```\n(\n*(```text( shape)?\n([\s\S]*?)^```\n))?/gm;

function nameOf(path: string, line: number): string {
  return `${path.replaceAll(/[^a-zA-Z0-9]+/g, '-')}-${line}`;
}
