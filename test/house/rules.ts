/**
 * Rules, titles and promises: what each SPEC.md states, what each test checks, and which sentence rests on which rule.
 */
import { dirname, join } from 'node:path';
import type { Source } from './source.ts';
import { literalOf, nodesOf } from './source.ts';
import type { Node } from './source.ts';

/** A numbered rule and the SPEC.md that states it. */
export type RuleAt = { readonly id: string; readonly path: string };

/** The title of one test. Ids that are not rules (a bug report, a bad input) are not among `ids`. */
export type Title = { readonly path: string; readonly text: string; readonly ids: readonly string[] };

/** A sentence of a page, without its code. */
export type Sentence = { readonly path: string; readonly text: string };

/** The rules of a SPEC.md: rows of a table, or items of a list, that begin with an id. */
export function rulesOf(path: string, text: string): readonly RuleAt[] {
  return [...text.matchAll(RULE_LINE)].map(([, id]) => ({ id: id as string, path }));
}

/** The titles of the tests in a module, and of the checks that a contract suite lists (`check('ID', …)`, `{ rule: 'ID', title: … }`). */
export function titlesOf(source: Source): readonly Title[] {
  const titles: Title[] = [];
  for (const node of nodesOf(source.program)) {
    if (node.type === 'ObjectExpression') titles.push(...listedCheck(source.path, node));
    if (node.type !== 'CallExpression') continue;
    const [first, second] = node['arguments'] as readonly Node[];
    const callee = nameOf(node['callee'] as Node);
    const text = literalOf(first);
    if (text === undefined) continue;
    const isRegistered = second !== undefined && (callee === 'test' || callee === 'it');
    if (callee === 'check' && RULE_ID.test(text)) titles.push({ path: source.path, text: literalOf(second) ?? '', ids: [text] });
    else if (isRegistered || (TITLE_START.test(text) && callee !== 'describe'))
      titles.push({ path: source.path, text, ids: titleIds(text) });
  }
  return titles;
}

/** What is wrong between rules and titles: rules without a test, ids twice, titles without an id or with an unknown one. */
export function ruleFaults(rules: readonly RuleAt[], titles: readonly Title[]): readonly string[] {
  const known = new Map<string, string>();
  const faults: string[] = [];
  for (const { id, path } of rules) {
    const first = known.get(id);
    if (first === undefined) known.set(id, path);
    else faults.push(`${id} is stated in ${first} and in ${path}`);
  }
  const tested = new Set(titles.flatMap((title) => title.ids));
  for (const [id, path] of known) if (!tested.has(id)) faults.push(`${id} of ${path} has no test`);
  for (const { path, text, ids } of titles) {
    if (!TITLE_START.test(text) && ids.length === 0) faults.push(`${path}: "${text}" begins with no id`);
    for (const id of ids) if (!known.has(id)) faults.push(`${path}: "${text}" names ${id}, which no SPEC.md states`);
  }
  return faults;
}

/** The sentences of a page: prose and cells, without fenced code and headings; of a SPEC.md the prose alone, as its tables are rules and words. */
export function sentencesOf(path: string, markdown: string): readonly Sentence[] {
  const prose = markdown
    .replaceAll(FENCE, '\n')
    .replaceAll(path.endsWith('SPEC.md') ? /^\|.*$/gm : RULE_ROW, '\n')
    .replaceAll(/^#.*$/gm, '\n')
    .replaceAll(/^\|(.*)\|\s*$/gm, (_, row: string) => `\n\n${row.replaceAll('|', '\n\n')}\n\n`)
    .replaceAll(/^\s*(?:[-*]|\d+\.) /gm, '\n\n');
  return prose.split(/\n\s*\n/).flatMap((paragraph) =>
    paragraph
      .replaceAll(/\s+/g, ' ')
      .split(/(?<=[.!?:;])\s+(?=[A-Z`*([])/)
      .map((text) => ({ path, text: text.trim() }))
      .filter(({ text }) => text !== ''),
  );
}

/** Promises without a rule, and rules that do not exist. */
export function promiseFaults(sentences: readonly Sentence[], known: ReadonlySet<string>): readonly string[] {
  return sentences.flatMap(({ path, text }) => {
    const named = [...text.matchAll(NAMED)].flatMap(([, ids]) => (ids as string).split(/,\s*|\s+and\s+/));
    const unknown = named
      .filter((id) => RULE_ID.test(id) && !known.has(id))
      .map((id) => `${path}: "${text}" names ${id}, which no SPEC.md states`);
    const promises = PROMISE.test(text.replaceAll(/`[^`]*`/g, ''));
    const rests = named.some((id) => known.has(id));
    return promises && !rests && unknown.length === 0 ? [`${path}: "${text}" promises and names no rule`] : unknown;
  });
}

/** Files that a page links to or names, from the top folder. Links to other sites and within a page are left out. */
export function filesNamedIn(path: string, markdown: string): readonly string[] {
  const prose = markdown.replaceAll(FENCE, '\n');
  const linked = [...prose.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, link]) => link as string)
    .filter((link) => !/^[a-z]+:/.test(link));
  const named = [...prose.matchAll(/`([a-z-]+\/src\/[a-z0-9/.-]+\.ts)`/g)].map(([, file]) => `packages/${file as string}`);
  return [...linked.map((link) => join(dirname(path), link)), ...named];
}

const FENCE = /^(```|~~~)[\s\S]*?^\1.*$/gm;
const ID = '[A-Z]{1,5}\\d{1,3}';
const RULE_ID = new RegExp(`^${ID}$`);
const RULE_LINE = new RegExp(`^(?:\\|\\s*|[-*]\\s+)(?:\\*\\*|\`)?(${ID})(?:\\*\\*|\`)?\\s*(?:\\||:|\\.)`, 'gm');
const RULE_ROW = new RegExp(`^(?:\\|\\s*|[-*]\\s+)(?:\\*\\*|\`)?${ID}(?:\\*\\*|\`)?\\s*(?:\\||:|\\.).*$`, 'gm');
const TITLE_START = /^\[(?:[A-Z]{1,5}\d{1,3}|BUG \d+|BI-\d+|[^\]]*\$\{\}[^\]]*|%s|\$\w+)[^\]]*\]/;
const NAMED = new RegExp(`[[(](${ID}(?:(?:,\\s*|\\s+and\\s+)${ID})*)[\\])]`, 'g');
const SUBJECT =
  'proposals?|verdicts?|commits?|entry|entries|records?|revisions?|appends?|operations?|writes?|actions?|replicas?|followers?';
const PROMISE = new RegExp(
  `\\b(?:never|always|exactly once|exactly one|guarantee[sd]?|survives?|(?:nothing|no [a-z ]{1,40}) is (?:ever )?lost|loses? nothing|leaves? no mark|same digest|every (?:[a-z]+ed )?(?:${SUBJECT}))\\b`,
  'i',
);

/** The ids of the leading groups in brackets: `[LOG1][SQL2]`, `[LOG1, LOG2]`. */
function titleIds(text: string): readonly string[] {
  const [leading] = /^(?:\[[^\]]*\]\s*)*/.exec(text) ?? [''];
  return [...leading.matchAll(/\[([^\]]*)\]/g)]
    .flatMap(([, group]) => (group as string).split(/[,\s]+/))
    .filter((id) => RULE_ID.test(id));
}

/** A check written as an object with `rule` and `title`. */
function listedCheck(path: string, node: Node): readonly Title[] {
  const members = new Map<string, string | undefined>();
  for (const member of node['properties'] as readonly Node[]) {
    if (member.type === 'Property') members.set(nameOf(member['key'] as Node), literalOf(member['value'] as Node));
  }
  const [rule, title] = [members.get('rule'), members.get('title')];
  return rule !== undefined && title !== undefined && RULE_ID.test(rule) ? [{ path, text: title, ids: [rule] }] : [];
}

function nameOf(callee: Node): string {
  if (callee.type === 'Identifier') return callee['name'] as string;
  if (callee.type === 'MemberExpression') return nameOf(callee['object'] as Node);
  if (callee.type === 'CallExpression') return nameOf(callee['callee'] as Node);
  return '';
}
