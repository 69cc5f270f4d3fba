import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { inFolder } from '../testing/command.ts';
import type { LintFinding } from './finding.ts';
import { findingsIn } from './thread-answer.ts';

const SOUND = 'export const best = { reduce: (a, b) => Math.max(a, b), start: 0, updates: [1, 2] };\n';

function findingsOf(text: string, said: string[] = []): Promise<readonly LintFinding[]> {
  return inFolder(async (cwd) => {
    const path = join(cwd, 'module.mjs');
    await writeFile(path, text);
    return findingsIn(pathToFileURL(path), 'module.mjs', (line) => void said.push(line));
  });
}

test('[LNT10] a module that cannot be loaded, or ends its process, is wrong usage', async () => {
  const bad: readonly (readonly [string, string])[] = [
    ['export const = 1;', 'the module cannot be loaded: '],
    ["throw new Error('on load');", 'the module cannot be loaded: on load'],
    ["throw 'a text';", 'the module cannot be loaded: a text'],
    ["import './nowhere.mjs';", 'the module cannot be loaded: Cannot find module'],
    [`${SOUND}process.exit(0);`, 'the module cannot be loaded: it ended the process with 0'],
    [
      `${SOUND}Promise.reject(new Error('late')); await new Promise((done) => setTimeout(done, 5000));`,
      'the module cannot be loaded: late',
    ],
  ];
  for (const [text, message] of bad) {
    await expect(findingsOf(text)).rejects.toMatchObject({
      code: 'USAGE',
      path: 'module.mjs',
      message: expect.stringContaining(message),
    });
  }
});

test('[LNT10] what a module prints and keeps open stays in its thread', async () => {
  const said: string[] = [];
  const open = "console.log('noise'); setInterval(() => undefined, 1000); globalThis.lintedHere = true;\n";
  expect(await findingsOf(`${open}${SOUND}`, said)).toMatchObject([{ name: 'best', verdict: 'ok' }]);
  expect(said.join('')).toContain('noise');
  expect('lintedHere' in globalThis).toBe(false);
});
