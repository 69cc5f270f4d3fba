/**
 * docs/cases.md: which test shows which collected case, made from the titles of the tests, so that the page cannot lie.
 *
 * As a program it writes the page: `npm run cases`.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { titlesOf } from '../house/rules.ts';
import { literalOf, nodesOf, parse, ROOT, textOf, treeFiles } from '../house/source.ts';
import type { Node, Source } from '../house/source.ts';
import { allCases } from './case-list.ts';
import type { Case } from './case-list.ts';

/** A test that shows a case: its file and its whole title. */
export type Showing = { readonly id: string; readonly path: string; readonly title: string };

/** Where the page stands. */
export const CASE_PAGE = 'docs/cases.md';

/** What the tests and the contract suites of the tree show. */
export function showings(): readonly Showing[] {
  const paths = treeFiles((path) => path.endsWith('.test.ts') || (path.endsWith('.ts') && path.includes('/testing/')));
  const naming = paths.filter((path) => /BUG \d|SURPRISE \d|BI-\d/.test(textOf(path)));
  return naming.toSorted().flatMap((path) => showingsIn(parse(path)));
}

/** The cases that the titles of a module name; a table of tests that have their case in `id` counts row by row. */
export function showingsIn(source: Source): readonly Showing[] {
  const plain = titlesOf(source).map(
    ({ text, ids }) =>
      `${ids
        .filter((id) => !text.includes(id))
        .map((id) => `[${id}]`)
        .join('')}${text}`,
  );
  return [...plain, ...tableTitles(source)].flatMap((title) =>
    [...title.matchAll(CASE_ID)].map(([, id]) => ({ id: id as string, path: source.path, title })),
  );
}

/** What is wrong between cases and tests: neither a test nor a reason, both, or a title with a number that is in no collection. */
export function caseFaults(cases: readonly Case[], shown: readonly Showing[]): readonly string[] {
  const ids = new Set(shown.map(({ id }) => id));
  const known = new Set(cases.map(({ id }) => id));
  return [
    ...cases.flatMap(({ id, reason }) => {
      if (ids.has(id)) return reason === undefined ? [] : [`${id} is shown by a test, and has a reason why it is not`];
      return reason === undefined ? [`${id} has neither a test nor a reason`] : [];
    }),
    ...shown.flatMap(({ id, path, title }) =>
      known.has(id) ? [] : [`${path}: "${title}" names ${id}, which is in no collection`],
    ),
  ];
}

/** The whole page. */
export function casePage(): string {
  const cases = allCases();
  const shown = showings();
  const section = (collection: Case['collection'], heads: string): string =>
    [
      heads,
      ...cases
        .filter((one) => one.collection === collection)
        .map((one) =>
          rowOf(
            one,
            shown.filter(({ id }) => id === one.id),
          ),
        ),
    ].join('\n');
  return `# Cases

What went wrong elsewhere, and which test shows what happens here. Each case has a number that stands in the titles of its tests; numbers have
gaps. Made from the titles by \`npm run cases\`; a test compares it with them and fails for a case that has neither a test nor a reason [HSE22].

## Public reports

Bugs of frameworks, stores and tools for agents, restated as small trials.

${section('report', '| case | report | shown by |\n|---|---|---|')}

## Known surprises

What systems that merge have surprised their users with.

${section('surprise', '| case | reports | shown by |\n|---|---|---|')}

## Hostile inputs

Attacks on what reads messages, patches and definitions, and a few harmless inputs that must pass [GTE7].

${section('input', '| case | shown by |\n|---|---|')}
`;
}

const CASE_ID = /\[(BUG \d+|SURPRISE \d+|BI-\d+)\]/g;

function rowOf({ id, collection, reports, reason }: Case, shown: readonly Showing[]): string {
  const tests = shown.map(({ path, title }) => `${plainTitle(title)} ([${basename(path, '.ts')}](../${path}))`);
  const cells = [id, ...(collection === 'input' ? [] : [reports.map(linkOf).join(' ')]), reason ?? tests.join('<br>')];
  return `| ${cells.join(' | ')} |`;
}

function linkOf(report: string): string {
  const [repository = '', number] = report.split('#');
  return `[${report}](https://github.com/${repository}${number === undefined ? '' : `/issues/${number}`})`;
}

/** The title with its rules and without its cases, as Markdown. */
function plainTitle(title: string): string {
  return title
    .replaceAll(CASE_ID, '')
    .replaceAll('%s', '…')
    .trim()
    .replaceAll(/[|`_*<]/g, (character) => `\\${character}`);
}

/** Titles of `test.for([{ id, … }, …])('[$id] …')` and the like, one for each row. */
function tableTitles(source: Source): readonly string[] {
  const titles: string[] = [];
  for (const node of nodesOf(source.program)) {
    if (node.type !== 'CallExpression' || (node['callee'] as Node).type !== 'CallExpression') continue;
    const title = literalOf((node['arguments'] as readonly Node[])[0]);
    const [table] = (node['callee'] as Node)['arguments'] as readonly Node[];
    if (title === undefined || !title.includes('[$id]') || table?.type !== 'ArrayExpression') continue;
    for (const row of table['elements'] as readonly Node[]) {
      const members = membersOf(row);
      titles.push(title.replaceAll(/\$(\w+)/g, (whole, name: string) => members.get(name) ?? whole));
    }
  }
  return titles;
}

/** The properties of an object literal that are text. */
function membersOf(object: Node): ReadonlyMap<string, string> {
  const members = ((object['properties'] ?? []) as readonly Node[]).filter(({ type }) => type === 'Property');
  return new Map(
    members.flatMap((member): readonly (readonly [string, string])[] => {
      const value = literalOf(member['value'] as Node);
      return value === undefined ? [] : [[(member['key'] as Node)['name'] as string, value]];
    }),
  );
}

if (import.meta.main) writeFileSync(join(ROOT, CASE_PAGE), casePage());
