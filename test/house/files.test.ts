import { expect, test } from 'vitest';
import { declarationFaults, idleTestFaults, LINES_MAX, shapeFaults, wordFaults } from './files.ts';
import { parse, textOf, treeFiles } from './source.ts';

const code = treeFiles((path) => path.endsWith('.ts'));

test('[HSE8] sources have at most 400 lines, a kebab-case noun as name, and begin with their module comment', () => {
  expect(code.flatMap((path) => shapeFaults(path, textOf(path)))).toEqual([]);
});

test('[HSE9] no default exports, no export of everything, no enums, no namespaces; an index lists names', () => {
  expect(code.flatMap((path) => declarationFaults(parse(path)))).toEqual([]);
});

test('[HSE10] no left-over marks, no paths of one machine, no registry addresses', () => {
  const texts = treeFiles((path) => !/\.(?:png|jpg|gz|db|bin|woff2?)$/.test(path));
  expect(texts.flatMap((path) => wordFaults(path, textOf(path)))).toEqual([]);
});

test('[HSE11] no test is skipped, focused or empty', () => {
  const tests = code.filter((path) => path.endsWith('.test.ts'));
  expect(tests.flatMap((path) => idleTestFaults(parse(path)))).toEqual([]);
});

test('[HSE15] planted faults of shape and declaration are noticed', () => {
  expect(shapeFaults('a/string-utils.ts', '/** A. */\n')).toEqual([
    'a/string-utils.ts is named like a cupboard, not by its noun',
  ]);
  expect(shapeFaults('a/fooBar.ts', "import 'x';\n")).toEqual([
    'a/fooBar.ts is not named in kebab-case',
    'a/fooBar.ts does not begin with its module comment',
  ]);
  expect(shapeFaults('a/foo.test.ts', '\n'.repeat(LINES_MAX))).toEqual([]);
  expect(shapeFaults('a/foo.test.ts', '\n'.repeat(LINES_MAX + 1))).toHaveLength(1);
  const faults = declarationFaults(
    parse('a/index.ts', "export * from './b.ts'; export default 1; enum E { A } namespace N { export const b = 1; }"),
  );
  expect(faults).toEqual([
    'a/index.ts exports everything of ./b.ts',
    'a/index.ts has a default export',
    'a/index.ts declares an enum',
    'a/index.ts declares a namespace',
    'a/index.ts does more than list exports',
  ]);
  expect(declarationFaults(parse('a/index.ts', "export { b } from './b.ts'; export type { C } from './c.ts';"))).toEqual([]);
});

test('[HSE15] planted marks, paths, addresses and idle tests are noticed', () => {
  const mark = ['TO', 'DO'].join('');
  expect(wordFaults('a.ts', `a\n// ${mark}: later`)).toEqual(['a.ts:2 holds a left-over mark']);
  expect(wordFaults('a.ts', `read '/${'ho' + 'me'}/me/x'`)).toEqual(['a.ts:1 holds a path of one machine']);
  expect(wordFaults('a.ts', `https://${'regis' + 'try'}.example.org/x`)).toEqual([
    'a.ts:1 holds the address of a package registry',
  ]);
  expect(wordFaults('a.ts', `see docs/${'ho' + 'me'}/me`)).toEqual([]);
  const idle = parse(
    'a.test.ts',
    `test.${'sk' + 'ip'}('[A1] a', () => { b(); }); describe.${'on' + 'ly'}('c', () => { d(); }); test('[A2] e', () => {}); test('[A3] f', () => { g(); });`,
  );
  expect(idleTestFaults(idle)).toEqual([
    `a.test.ts: "[A1] a" is .${'sk' + 'ip'}`,
    `a.test.ts: "c" is .${'on' + 'ly'}`,
    'a.test.ts: "[A2] e" has no body',
  ]);
});
