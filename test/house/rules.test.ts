import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesNamedIn, promiseFaults, ruleFaults, rulesOf, sentencesOf, titlesOf } from './rules.ts';
import { parse, ROOT, textOf, treeFiles } from './source.ts';

const specs = treeFiles((path) => path.endsWith('SPEC.md'));
const rules = specs.flatMap((path) => rulesOf(path, textOf(path)));
const known = new Set(rules.map((rule) => rule.id));

test('[HSE12] [HSE13] rules have tests, and tests have rules', () => {
  const sources = treeFiles((path) => path.endsWith('.test.ts') || (path.endsWith('.ts') && path.includes('/testing/')));
  const titles = sources.flatMap((path) => titlesOf(parse(path)));
  expect(ruleFaults(rules, titles)).toEqual([]);
});

test('[HSE14] what a page promises names a rule, and what it names exists', () => {
  const pages = treeFiles((path) => /(?:^|\/)(?:README|ARCHITECTURE|SPEC)\.md$/.test(path) || /^docs\/.*\.md$/.test(path));
  const sentences = pages.flatMap((path) => sentencesOf(path, textOf(path)));
  expect(promiseFaults(sentences, known)).toEqual([]);
});

test('[HSE21] a file that a page links to or names exists', () => {
  const missing = treeFiles((path) => path.endsWith('.md')).flatMap((path) =>
    filesNamedIn(path, textOf(path))
      .filter((file) => !existsSync(join(ROOT, file)))
      .map((file) => `${path} names ${file}`),
  );
  expect(missing).toEqual([]);
});

test('[HSE15] links and names of files are found', () => {
  const page = 'a [b](../c.md#d), [e](https://example.org), [f](#g) `core/src/json.ts`\n\n```\n[h](i.md)\n```\n';
  expect(filesNamedIn('docs/x/y.md', page)).toEqual(['docs/c.md', 'packages/core/src/json.ts']);
});

test('[HSE15] a rule without a test, a test without a rule and a rule stated twice are noticed', () => {
  const spec = rulesOf('SPEC.md', '| rule | |\n|---|---|\n| AB1 | It holds. |\n| AB2 | It holds too. |\n- **AB3**: And this.\n');
  expect(spec.map((rule) => rule.id)).toEqual(['AB1', 'AB2', 'AB3']);
  const source = parse(
    'x.test.ts',
    "test('[AB1][AB2] a', f); test.each([1])('[AB3, CD4] %s', f); test('[BUG 7] b', f); check('AB1', 'c', f); it('d', f);",
  );
  const titles = titlesOf(source);
  expect(titles.map((title) => title.ids)).toEqual([['AB1', 'AB2'], ['AB3', 'CD4'], [], ['AB1'], []]);
  expect(ruleFaults(spec, titles)).toEqual([
    'x.test.ts: "[AB3, CD4] %s" names CD4, which no SPEC.md states',
    'x.test.ts: "d" begins with no id',
  ]);
  expect(ruleFaults(spec, titles.slice(0, 1))).toEqual(['AB3 of SPEC.md has no test']);
  expect(ruleFaults([...spec, ...spec.slice(0, 1)], titles.slice(0, 1))).toContain('AB1 is stated in SPEC.md and in SPEC.md');
});

test('[HSE15] a promise without a rule, or with one that does not exist, is noticed', () => {
  const page =
    '# Always\n\nNothing is lost (AB1). It is never late. Each is told once [ZZ9].\n\n```\nnever\n```\n\n| a | it always works [AB1] |\n\n- `never` is a word';
  const faults = promiseFaults(sentencesOf('p.md', page), new Set(['AB1']));
  expect(faults).toEqual([
    'p.md: "It is never late." promises and names no rule',
    'p.md: "Each is told once [ZZ9]." names ZZ9, which no SPEC.md states',
  ]);
});
