/**
 * docs/errors.md, made from the doc comments beside the lists of codes, so that a page and a source cannot part.
 *
 * As a program it writes the page: `npm run errors`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from './source.ts';
import { literalOf, nodesOf, parse, ROOT, textOf } from './source.ts';

/** One documented code. `later` says whether the same call, or the same patch, may succeed later. */
export type CodeRow = { readonly code: string; readonly when: string; readonly later: string };

/** Where the page stands. */
export const ERROR_PAGE = 'docs/errors.md';

/** The members of a union of string literals, in order. Throws when the module has no such type. */
export function membersOfUnion(path: string, typeName: string): readonly string[] {
  for (const node of nodesOf(parse(path).program)) {
    if (node.type !== 'TSTypeAliasDeclaration' || (node['id'] as Node)['name'] !== typeName) continue;
    return [...nodesOf(node['typeAnnotation'])].flatMap((one) => literalOf(one) ?? []);
  }
  throw new Error(`${path} declares no type ${typeName}`);
}

/** The rows of the list in the comment above `ErrorCode`: `- \`CODE\`: when (later).` */
export function errorRows(): readonly CodeRow[] {
  const lines = commentAbove('packages/core/src/error.ts', 'ErrorCode').replaceAll(/\n(?!- )/g, ' ');
  return [...lines.matchAll(/^- `([A-Z_]+)`: (.*) \(((?:yes|no)\b[^()]*)\)\.?\s*$/gm)].map(([, code, when, later]) => ({
    code: code as string,
    when: when as string,
    later: later as string,
  }));
}

/** The rows of the table in the comment above `IssueCode`; a row of several codes gives several rows. */
export function issueRows(): readonly CodeRow[] {
  const rows = [
    ...commentAbove('packages/core/src/issue.ts', 'IssueCode').matchAll(/^\| (`.*?) \| (.*) \| ((?:yes|no)\b[^|]*) \|$/gm),
  ];
  return rows.flatMap(([, codes, when, later]) =>
    [...(codes as string).matchAll(/`([a-z0-9_]+)`/g)].map(([, code]) => ({
      code: code as string,
      when: when as string,
      later: (later as string).trim(),
    })),
  );
}

/** The whole page. */
export function errorPage(): string {
  return `# Errors and issues

Made from the sources by \`npm run errors\`; a test compares it with them [HSE17].

## Errors

Operating trouble is thrown as \`OplusError\` with one of these codes. Match on \`code\`: messages are for people and may change. A \`hint\`
says what to do next.

| code | when | may the same call succeed later? |
|---|---|---|
${errorRows()
  .map((row) => rowText(row, `<a id="${row.code.toLowerCase()}"></a>`))
  .join('\n')}

## Issues

A refused proposal is no error: it is answered with issues, all of them at once. Each names the path, the rule, what is there, what was
asked for, and a recovery: \`re-read\`, \`wait\`, \`claim-again\`, \`change\`, \`stop\` or \`never\`. Match on \`code\` and \`recovery\`. Verdicts are part of the log, their
hints too: a core that words a hint otherwise folds an older log to other bytes, and says so [RPL3].

| code | when | may the same patch succeed later? |
|---|---|---|
${issueRows()
  .map((row) => rowText(row))
  .join('\n')}
`;
}

/** The command prints the address of a row, hence the anchor. */
function rowText({ code, when, later }: CodeRow, anchor = ''): string {
  return `| ${anchor}\`${code}\` | ${when} | ${later} |`;
}

/** The comment right above a declared type, without its stars. */
function commentAbove(path: string, typeName: string): string {
  const text = textOf(path);
  const end = text.indexOf(`export type ${typeName} `);
  const start = text.lastIndexOf('/**', end);
  if (end < 0 || start < 0) throw new Error(`${path} has no comment above ${typeName}`);
  return text
    .slice(start + 3, text.lastIndexOf('*/', end))
    .replaceAll(/^ ?\*? ?/gm, '')
    .replaceAll(/^\s*\* ?/gm, '');
}

if (import.meta.main) writeFileSync(join(ROOT, ERROR_PAGE), errorPage());
