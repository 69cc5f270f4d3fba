import { describe, expect, test } from 'vitest';
import { textOf, treeFiles } from '../house/source.ts';
import { runSnippet, shapeOf, snippetsOf, typeFaults } from './snippets.ts';

const pages = treeFiles((path) => path.endsWith('.md'));
const snippets = pages.flatMap((path) => snippetsOf(path, textOf(path)));

describe('snippets', () => {
  test.for(snippets)('[HSE20] $path:$line runs and prints what stands under it', (snippet) => {
    const printed = runSnippet(snippet);
    const { output } = snippet;
    if (output === undefined) return;
    if (output.isShape) expect(shapeOf(printed)).toBe(shapeOf(output.text));
    else expect(printed).toBe(output.text);
  });
});

test('[HSE20] the snippets pass the compiler', () => {
  expect(typeFaults(snippets)).toBe('');
});

test('[HSE20] the README has a first run, and every package page an example', () => {
  const runnable = new Set(snippets.map((snippet) => snippet.path));
  const expected = pages.filter((path) => path === 'README.md' || /^packages\/[^/]+\/README\.md$/.test(path));
  expect(expected.filter((path) => !runnable.has(path))).toEqual([]);
});

test('[HSE15] a snippet that fails or prints something else is noticed', () => {
  const page = 'a\n\n```ts run\nconsole.log(1 + 1);\n```\n\n```text\n3\n```\n\n```sh run\nexit 3\n```\n\n```ts\nnot run\n```\n';
  const [first, second, ...more] = snippetsOf('p.md', page);
  expect(more).toEqual([]);
  if (first?.output === undefined || second === undefined) throw new Error('two snippets were expected');
  expect(page.slice(first.output.from, first.output.to)).toBe('3\n');
  expect(runSnippet(first)).toBe('2\n');
  expect(typeFaults([{ ...first, code: 'const a: number = "a";\n' }])).toContain(
    "error TS2322: Type 'string' is not assignable to type 'number'",
  );
  expect(() => runSnippet(second)).toThrow('p.md:11 ended with 3');
  expect(shapeOf('took 12.5 s, 3 of 4  digest 0123abcd')).toBe(shapeOf('took 9.1 s, 1 of 2 digest fedcba98'));
  expect(shapeOf('3 commits')).not.toBe(shapeOf('3 verdicts'));
});
