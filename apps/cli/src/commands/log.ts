/**
 * `oplus log [dir]`: who proposed what, and what came of it; newest last.
 */
import { nearestWord } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import type { Decided, JsonObject, Sealed, SystemEvent } from '@oplus/core';
import { agentNames, UNFINISHED, withHistory } from '../history.ts';
import type { History, HistoryOptions } from '../history.ts';
import type { Terminal } from '../terminal.ts';
import { fieldsOf, verdictLines } from '../verdict-text.ts';
import { readPath } from './show.ts';

export type LogOptions = HistoryOptions & { readonly agent?: string; readonly rejected?: boolean; readonly path?: string };

export async function logCommand(terminal: Terminal, dir: string | undefined, options: LogOptions): Promise<number> {
  if (options.path !== undefined) readPath(options.path);
  return withHistory(dir, options, async (history) => {
    checkAgent(history, options.agent);
    const write = terminal.isJson ? jsonWriter(terminal) : lineWriter(terminal, history);
    const isFiltered = options.agent !== undefined || options.rejected === true || options.path !== undefined;
    if (!history.isFinished) terminal.note(UNFINISHED);
    for await (const sealed of history.rounds()) {
      if (!isFiltered) for (const event of sealed.events) write.event(sealed, event);
      for (const decided of sealed.decided) if (isWanted(decided, options)) write.decided(sealed, decided);
    }
    return 0;
  });
}

type Writer = { event(sealed: Sealed, event: SystemEvent): void; decided(sealed: Sealed, decided: Decided): void };

function jsonWriter(terminal: Terminal): Writer {
  return {
    event: ({ revision }, event) => terminal.json({ v: 1, revision, event }),
    decided: ({ revision }, { admitted, verdict }) => terminal.json({ v: 1, revision, proposal: admitted.proposal, verdict }),
  };
}

/** Columns: revision, dot, verdict, base where it was not the newest, action, fields; below it what there is to say of each path. */
function lineWriter(terminal: Terminal, { run }: History): Writer {
  const { colour } = terminal;
  const dotChars = Math.max(...agentNames(run.agents).map((name) => name.length)) + 1 + String(run.steps).length;
  const head = (revision: number, who: string, what: string): string =>
    `r${String(revision).padEnd(REVISION_CHARS)} ${who.padEnd(dotChars)}  ${what.padEnd(VERDICT_CHARS)}`;
  const below = (text: string): void => terminal.out(`${' '.repeat(REVISION_CHARS + 2)}${text}`);
  return {
    event: ({ revision }, event) => {
      const who = event.kind === 'join' || event.kind === 'leave' ? event.agent : '';
      terminal.out(colour.dim(`${head(revision, who, event.kind)}${detailOf(event)}`.trimEnd()));
    },
    decided: ({ revision }, { admitted, verdict }) => {
      const { agent, n, base, patch, action } = admitted.proposal;
      const isCommitted = verdict.kind === 'committed';
      const on = base.revision < revision - 1 ? `on r${base.revision}` : '';
      const said = action === undefined ? '' : actionText(action.name, action.args);
      const line = head(revision, `${agent}#${n}`, isCommitted ? 'committed' : 'rejected');
      const painted = isCommitted
        ? line.replace('committed', colour.green('committed'))
        : line.replace('rejected', colour.yellow('rejected'));
      terminal.out(
        `${painted}  ${on.padEnd(BASE_CHARS)}  ${said.padEnd(ACTION_CHARS)}  ${colour.dim(fieldsOf(patch).join(' '))}`.trimEnd(),
      );
      for (const text of verdictLines(verdict, colour)) below(text);
    },
  };
}

const REVISION_CHARS = 5;
const VERDICT_CHARS = 9;
const BASE_CHARS = 3 + REVISION_CHARS;
const ACTION_CHARS = 40;

function actionText(name: string, args: JsonObject): string {
  const said = Object.entries(args).map(([arg, value]) => `${arg}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [name, ...said].join(' ');
}

function checkAgent({ run }: History, agent: string | undefined): void {
  const names = agentNames(run.agents);
  if (agent === undefined || names.includes(agent)) return;
  const near = nearestWord(agent, names);
  throw new OplusError('USAGE', `no agent of this run is called ${agent.slice(0, 64)}`, {
    hint: near === undefined ? `The agents are ${names.join(', ')}.` : `Did you mean ${near}?`,
  });
}

function isWanted({ admitted, verdict }: Decided, { agent, rejected, path }: LogOptions): boolean {
  const { proposal } = admitted;
  if (agent !== undefined && proposal.agent !== agent) return false;
  if (rejected === true && verdict.kind === 'committed') return false;
  return (
    path === undefined ||
    fieldsOf(proposal.patch).some((one) => `${one}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${one}/`))
  );
}

function detailOf(event: SystemEvent): string {
  if (event.kind === 'genesis') return `  schema ${event.schema.slice(0, 16)}`;
  return event.kind === 'expire' ? `  ${event.path}, number ${event.token}: ${event.cause}` : '';
}
