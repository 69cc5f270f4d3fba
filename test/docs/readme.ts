/**
 * Runs every snippet that has its output under it, and writes down what it printed: `npm run readme`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, textOf, treeFiles } from '../house/source.ts';
import { runSnippet, snippetsOf } from './snippets.ts';

for (const path of treeFiles((one) => one.endsWith('.md'))) {
  const page = textOf(path);
  let written = page;
  // From the end, so that the places of earlier outputs stay true.
  for (const snippet of snippetsOf(path, page).toReversed()) {
    if (snippet.output === undefined) continue;
    try {
      written = written.slice(0, snippet.output.from) + runSnippet(snippet) + written.slice(snippet.output.to);
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
      process.exitCode = 1;
    }
  }
  if (written !== page) writeFileSync(join(ROOT, path), written);
}
