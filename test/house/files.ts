/**
 * What a file must look like: size, name, opening, and what must not stand in it.
 */
import { basename } from 'node:path';
import type { Source } from './source.ts';
import { literalOf, nodesOf } from './source.ts';
import type { Node } from './source.ts';

/** Most lines of one source file. */
export const LINES_MAX = 400;

/** Files whose format asks for a default export. */
const DEFAULT_EXPORTS: readonly string[] = ['vitest.config.ts'];

/** Faults of size, name and opening. */
export function shapeFaults(path: string, text: string): readonly string[] {
  const faults: string[] = [];
  const name = basename(path).replace(/(?:\.[a-z]+)+$/, '');
  const lines = text.split('\n').length - 1;
  if (lines > LINES_MAX) faults.push(`${path} has ${lines} lines, ${LINES_MAX} are allowed`);
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) faults.push(`${path} is not named in kebab-case`);
  if (CUPBOARDS.test(name)) faults.push(`${path} is named like a cupboard, not by its noun`);
  if (!isIndexOrTest(path) && !/^(?:#!.*\n)?\/\*\*/.test(text)) faults.push(`${path} does not begin with its module comment`);
  return faults;
}

/** Faults of exports and of declarations that the house does without. */
export function declarationFaults(source: Source): readonly string[] {
  const { path } = source;
  const faults = source.exportsAll.map((from) => `${path} exports everything of ${from}`);
  if (source.exports.some(({ name }) => name === 'default') && !DEFAULT_EXPORTS.includes(path))
    faults.push(`${path} has a default export`);
  for (const { type } of nodesOf(source.program)) {
    if (type === 'TSEnumDeclaration') faults.push(`${path} declares an enum`);
    if (type === 'TSModuleDeclaration') faults.push(`${path} declares a namespace`);
  }
  if (basename(path) === 'index.ts' && (source.program['body'] as readonly Node[]).some((node) => !isListing(node))) {
    faults.push(`${path} does more than list exports`);
  }
  return faults;
}

/** Tests that are skipped, focused, or have no body. */
export function idleTestFaults(source: Source): readonly string[] {
  const faults: string[] = [];
  for (const node of nodesOf(source.program)) {
    if (node.type !== 'CallExpression') continue;
    const callee = node['callee'] as Node;
    const name =
      callee.type === 'MemberExpression'
        ? ((callee['object'] as Node)['name'] as string | undefined)
        : (callee['name'] as string | undefined);
    if (name === undefined || !['test', 'it', 'describe'].includes(name)) continue;
    const idle = callee.type === 'MemberExpression' ? ((callee['property'] as Node)['name'] as string) : '';
    const title = literalOf((node['arguments'] as readonly Node[])[0]) ?? '';
    if (/^(?:skip|only|todo|skipIf|runIf|fails)$/.test(idle)) faults.push(`${source.path}: "${title}" is .${idle}`);
    const body = (node['arguments'] as readonly Node[]).at(-1)?.['body'] as Node | undefined;
    if (body?.type === 'BlockStatement' && (body['body'] as readonly Node[]).length === 0)
      faults.push(`${source.path}: "${title}" has no body`);
  }
  return faults;
}

/** Left-over marks, paths of one machine and addresses of package registries. The patterns are put together so as not to find themselves. */
export function wordFaults(path: string, text: string): readonly string[] {
  return FORBIDDEN.flatMap(({ what, pattern }) => {
    const found = pattern.exec(text);
    if (found === null) return [];
    return [`${path}:${text.slice(0, found.index).split('\n').length} holds ${what}`];
  });
}

const CUPBOARDS = /(?:^|-)(?:utils?|helpers?|manager|common|misc)(?:-|$)/;

const FORBIDDEN: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  {
    what: 'a left-over mark',
    pattern: new RegExp(`\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`),
  },
  {
    what: 'a path of one machine',
    pattern: new RegExp(`(?:^|[\\s"'\`(=])/(?:${['wo' + 'rk', 'ro' + 'ot', 'ho' + 'me', 'Us' + 'ers'].join('|')})/`),
  },
  {
    what: 'the address of a package registry',
    pattern: new RegExp(`https?://(?:${['regis' + 'try', 'pro' + 'xy', 'de' + 'b', 'fi' + 'les'].join('|')})\\.`),
  },
];

function isIndexOrTest(path: string): boolean {
  return basename(path) === 'index.ts' || path.endsWith('.test.ts');
}

function isListing(node: Node): boolean {
  return node.type === 'ExportNamedDeclaration' && node['declaration'] === null;
}
