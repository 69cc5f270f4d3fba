/**
 * The tree as data: its files, and what a source imports, exports and calls.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

/** Absolute path of the repository's top folder. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/** A node of a syntax tree, as far as we look into it. */
export type Node = { readonly type: string; readonly [member: string]: unknown };

/** What one module imports. `isType` holds when all of it is erased. */
export type Import = { readonly from: string; readonly isType: boolean };

/** One name that a module exports. */
export type Export = { readonly name: string; readonly isType: boolean };

/** A parsed module. */
export type Source = {
  readonly path: string;
  readonly text: string;
  readonly program: Node;
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
  /** Modules of which everything is exported again. */
  readonly exportsAll: readonly string[];
};

/** Paths, from the top folder, of every file that matches and is tracked or could be: what git ignores is left out. */
export function treeFiles(matches: (path: string) => boolean = () => true): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(listed.split('\0'))].filter((path) => path !== '' && matches(path) && existsSync(join(ROOT, path)));
}

/** Text of a file of the tree. */
export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Parsed JSON of a file of the tree. */
export function jsonOf(path: string): { readonly [member: string]: unknown } {
  return JSON.parse(textOf(path)) as { readonly [member: string]: unknown };
}

/** Parses a module. Throws for a syntax error. */
export function parse(path: string, text: string = textOf(path)): Source {
  const { program, module, errors } = parseSync(path, text);
  const [first] = errors;
  if (first !== undefined) throw new Error(`${path}: ${first.message}`);
  const imports = module.staticImports.map(({ moduleRequest, entries }) => ({
    from: moduleRequest.value,
    isType: entries.length > 0 && entries.every((entry) => entry.isType),
  }));
  const entries = module.staticExports.flatMap((statement) => statement.entries);
  const exported = entries.filter((entry) => entry.moduleRequest !== null);
  return {
    path,
    text,
    program: program as unknown as Node,
    imports: [
      ...imports,
      ...exported.map((entry) => ({ from: entry.moduleRequest?.value ?? '', isType: entry.isType })),
      // What is computed when the program runs names no package here.
      ...module.dynamicImports
        .filter(({ moduleRequest }) => /^['"]/.test(text.slice(moduleRequest.start)))
        .map(({ moduleRequest }) => ({ from: text.slice(moduleRequest.start + 1, moduleRequest.end - 1), isType: false })),
    ],
    exports: entries
      .filter((entry) => entry.exportName.kind !== 'None')
      .map((entry) => ({ name: entry.exportName.name ?? 'default', isType: entry.isType })),
    exportsAll: exported
      .filter((entry) => entry.importName.kind === 'AllButDefault' || entry.importName.kind === 'All')
      .map((entry) => entry.moduleRequest?.value ?? ''),
  };
}

/** Every node of a tree, parents before children. */
export function* nodesOf(node: unknown): Generator<Node> {
  if (Array.isArray(node)) {
    for (const one of node) yield* nodesOf(one);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && typeof node.type === 'string') yield node as Node;
  for (const value of Object.values(node)) if (typeof value === 'object') yield* nodesOf(value);
}

/** The text of a string or template literal, with `${}` for each hole; `undefined` for another node. */
export function literalOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined;
  if (node?.type !== 'TemplateLiteral') return undefined;
  const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
  return quasis.map(({ value }) => value.cooked).join('${}');
}
