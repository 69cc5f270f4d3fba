/**
 * The page of the field kinds, made by running an example of each.
 *
 * As a program it writes docs/kinds.md: `npm run kinds`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import * as core from '@oplus/core';
import type { Field, JsonObject, Told } from '@oplus/core';
import { smallTeam } from '@oplus/core/testing';
import { loadDocumentKind } from '@oplus/fields-document';
import { z } from 'zod';
import { ROOT } from '../house/source.ts';
import { KIND_EXAMPLES } from './kind-examples.ts';
import type { KindExample } from './kind-examples.ts';

/** The whole page. Runs every example. */
export async function kindPage(): Promise<string> {
  const { document } = await loadDocumentKind();
  const sections = KIND_EXAMPLES.map((example) => sectionOf(example, fieldOf(example.code, document)));
  return `${HEAD}${sections.map(({ row }) => row).join('\n')}\n\n${NOTES}\n${sections.map(({ text }) => text).join('\n')}`;
}

const HEAD = `# Field kinds

A field says once what it holds, how large it may get, and what becomes of two values that are written at once. Pick the kind whose sentence fits;
the rest follows. *Grade A* means that the same proposals give the same value in any order and any cut into rounds; *grade B*, that inside a round no
order matters, and across rounds the log decides and remembers [T1] [T2]. A field that an invariant or a transition reads counts as B [XPL5], and so does
a patch that also writes such a field: it is accepted or refused whole. \`oplus schema explain <skill>\` says the same of your own definition.

| kind | verbs | grade | known as |
|---|---|---|---|
`;

const NOTES = `Each example below is run: ana and bo write on the same view, and both verdicts come from one sealed round. The names come from \`@oplus/core\`, \`z\` from
\`zod\`, and \`document\` from \`@oplus/fields-document\`: \`const { document } = await loadDocumentKind()\`. Made by \`npm run kinds\`.

| you need | take |
|---|---|
| a shared budget | \`quota\`; dealt out beforehand: \`quota\` in escrow mode |
| a task or a lock, one agent at a time | \`claim\`, with \`leaseMs\` if holders may die |
| what two agents found and may disagree on | \`multi\` |
| a status that moves forward only | \`lattice\`; one that moves along a table: \`machine\` |
| a text that many edit | \`text\`; notes of any shape: \`document\` |
| something that is revoked for good | a \`grow-set\` of what is revoked |
| a leaderboard | \`top-k\` of entries; one best score an agent: \`map\` of \`max\` |
| a vote | \`vote\` |
| rows that come and go | \`records\`; values by key: \`map\` |
`;

function sectionOf(example: KindExample, field: Field): { readonly row: string; readonly text: string } {
  const { title = example.kind, plain, known, code } = example;
  const { verbs, grade } = field;
  const anchor = title.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  const row = `| [${title}](#${anchor}) | ${verbs.map((verb) => `\`${verb}\``).join(' ') || 'none'} | ${grade.letter} | ${known} |`;
  const text = `## ${title}

${plain} Known as: ${known}.

\`\`\`ts
${code}
\`\`\`

Verbs: ${verbs.length === 0 ? 'none' : verbs.map((verb) => `\`${verb}\``).join(', ')}. Grade ${grade.letter}: ${grade.why}.

\`\`\`text
${linesOf(example, field).join('\n')}
\`\`\`
`;
  return { row, text };
}

function linesOf({ kind, before = [], atOnce, roles = ['agent', 'agent'] }: KindExample, field: Field): readonly string[] {
  const isDerived = kind === 'derived';
  const fields = isDerived ? { done: core.counter(), field } : { field };
  const written = isDerived ? 'done' : 'field';
  const team = smallTeam(
    { fields, roles: { lead: { priority: 1 }, agent: { priority: 0 } } },
    ['ana', 'bo'].map((agent, i) => `${agent}:${roles[i] as string}`),
  );
  for (const [agent, patch] of before) {
    const verdict = team.ask(agent, { [written]: patch });
    if (verdict.kind !== 'committed') throw new Error(`${kind}: ${JSON.stringify(verdict)}`);
  }
  const start = team.state['field'];
  const [one, other] = atOnce.map((patch, i) => ({
    agent: ['ana', 'bo'][i] as string,
    patch: { [written]: patch } as JsonObject,
  }));
  const verdicts = team.round(one as NonNullable<typeof one>, other as NonNullable<typeof other>);
  const told = verdicts.map((verdict, i): Told => {
    const base = { agent: ['ana', 'bo'][i] as string, patch: atOnce[i] as JsonObject, verdict: verdict.kind };
    if (verdict.kind === 'rejected') return { ...base, issues: verdict.issues };
    return verdict.outcomes === undefined ? base : { ...base, outcomes: verdict.outcomes };
  });
  return [
    `on ${core.canonical(start ?? null)}`,
    ...told.map(core.toldLine),
    `leaves ${core.canonical(team.state['field'] ?? null)}`,
  ];
}

function fieldOf(code: string, document: unknown): Field {
  const scope: { readonly [name: string]: unknown } = { ...core, document, z };
  return (compileFunction(`return ${code};`, Object.keys(scope)) as (...given: readonly unknown[]) => Field)(
    ...Object.values(scope),
  );
}

if (import.meta.main) writeFileSync(join(ROOT, 'docs/kinds.md'), await kindPage());
