/**
 * `oplus log [dir]`: who proposed what, and what came of it; newest last.
 */
import type { Decided, SystemEvent } from '@oplus/core';
import { openHistory } from '../history.ts';
import type { Terminal } from '../terminal.ts';

export type LogOptions = { readonly agent?: string; readonly rejected?: boolean; readonly path?: string };

export async function logCommand(terminal: Terminal, dir: string | undefined, options: LogOptions): Promise<number> {
  const history = await openHistory(dir);
  const isFiltered = options.agent !== undefined || options.rejected === true || options.path !== undefined;
  for await (const { sealed } of history.rounds()) {
    if (!isFiltered) for (const event of sealed.events) writeEvent(terminal, sealed.revision, event);
    for (const decided of sealed.decided) if (isWanted(decided, options)) writeDecided(terminal, sealed.revision, decided);
  }
  return 0;
}

function isWanted({ admitted, verdict }: Decided, { agent, rejected, path }: LogOptions): boolean {
  const { proposal } = admitted;
  if (agent !== undefined && proposal.agent !== agent) return false;
  if (rejected === true && verdict.kind === 'committed') return false;
  return path === undefined || fieldsOf(proposal.patch).some((field) => field === path || path.startsWith(`${field}/`) || field.startsWith(`${path}/`));
}

/** `/shelves/S001`: fields and the keys below their verbs. */
function fieldsOf(patch: { readonly [field: string]: unknown }): readonly string[] {
  return Object.entries(patch).flatMap(([field, verbs]) => {
    const keys = Object.values(verbs as object).flatMap((value) => (typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []));
    return keys.length === 0 ? [`/${field}`] : keys.map((key) => `/${field}/${key}`);
  });
}

function writeEvent(terminal: Terminal, revision: number, event: SystemEvent): void {
  if (terminal.isJson) terminal.json({ revision, event });
  else terminal.out(terminal.colour.dim(`r${revision}  ${event.kind}${event.kind === 'genesis' ? ` schema ${event.schema.slice(0, 16)}` : ` ${event.agent}`}`));
}

function writeDecided(terminal: Terminal, revision: number, { admitted, verdict }: Decided): void {
  const { proposal } = admitted;
  if (terminal.isJson) {
    terminal.json({ revision, proposal, verdict });
    return;
  }
  const { colour } = terminal;
  const isCommitted = verdict.kind === 'committed';
  const behind = revision - 1 - proposal.base.revision;
  const action = proposal.action === undefined ? '' : `  ${proposal.action.name}(${Object.entries(proposal.action.args)
          .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
          .join(', ')})`;
  terminal.out(
    `r${revision}  ${proposal.agent}#${proposal.n}  ${isCommitted ? colour.green('committed') : colour.yellow('rejected ')}${action}  ${colour.dim(
      `${fieldsOf(proposal.patch).join(' ')}${behind > 0 ? `  on r${proposal.base.revision}` : ''}`,
    )}`,
  );
  if (verdict.kind === 'rejected') {
    for (const issue of verdict.issues) {
      const have = issue.have === undefined ? '' : `, there is ${JSON.stringify(issue.have)}`;
      const by = issue.by === undefined ? '' : ` by ${issue.by}`;
      terminal.out(`      ${colour.yellow(issue.code)} ${issue.path} (${issue.rule})${have}${by}: ${issue.hint}`);
    }
  } else {
    for (const [path, outcome] of Object.entries(verdict.outcomes ?? {})) terminal.out(`      ${outcome.kind} ${path}${outcome.kind === 'superseded' ? ` by ${outcome.by}` : ''}`);
  }
}
