/**
 * `oplus show [dir]`: the state at a revision, whole or one field of it; and `oplus diff`: what changed between two.
 */
import { canonical, OplusError, pointerTokens, sameJson, stateJson } from '@oplus/core';
import type { Json, JsonObject } from '@oplus/core';
import { EXIT_FINDING } from '../failure.ts';
import { openHistory, readRevision } from '../history.ts';
import type { Terminal } from '../terminal.ts';

export type ShowOptions = { readonly at?: string; readonly path?: string };

export async function showCommand(terminal: Terminal, dir: string | undefined, options: ShowOptions): Promise<number> {
  const history = await openHistory(dir);
  const space = await history.at(options.at === undefined ? undefined : readRevision(options.at));
  const value = valueAt(stateJson(space), options.path ?? '');
  if (terminal.isJson) terminal.json({ ok: true, dir: history.dir, revision: space.revision, digest: space.state, path: options.path ?? '', value });
  else {
    terminal.out(terminal.colour.dim(`r${space.revision}  ${space.state}`));
    terminal.out(JSON.stringify(value, undefined, 2));
  }
  return 0;
}

/** Exit code 1 when there is a difference, as `diff` has it. */
export async function diffCommand(terminal: Terminal, dir: string | undefined, from: string, to: string | undefined): Promise<number> {
  const history = await openHistory(dir);
  const before = await history.at(readRevision(from));
  const after = await history.at(to === undefined ? undefined : readRevision(to));
  const changes = differences(stateJson(before), stateJson(after), '');
  if (terminal.isJson) terminal.json({ ok: true, dir: history.dir, from: before.revision, to: after.revision, changes });
  else {
    const { colour } = terminal;
    terminal.out(colour.dim(`r${before.revision} -> r${after.revision}: ${changes.length} changed`));
    for (const { path, before: was, after: is } of changes) {
      if (was !== undefined) terminal.out(colour.red(`- ${path} ${canonical(was)}`));
      if (is !== undefined) terminal.out(colour.green(`+ ${path} ${canonical(is)}`));
    }
  }
  return changes.length === 0 ? 0 : EXIT_FINDING;
}

type Change = { readonly path: string; readonly before?: Json; readonly after?: Json };

/** Leaf by leaf, paths ascending; lists are compared whole. */
export function differences(before: Json | undefined, after: Json | undefined, path: string): readonly Change[] {
  if (before !== undefined && after !== undefined && sameJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => differences(before[key], after[key], `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`));
  }
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function valueAt(state: JsonObject, path: string): Json {
  const tokens = pointerTokens(path);
  if (tokens === undefined) throw new OplusError('USAGE', `${path.slice(0, 64)} is not a path`, { hint: 'Write a JSON Pointer such as /shelves/S001.' });
  let value: Json = state;
  for (const token of tokens) {
    const below: Json | undefined = isObject(value) ? value[token] : undefined;
    if (below === undefined) {
      throw new OplusError('USAGE', `nothing stands at ${path}`, { hint: isObject(value) ? `There is ${Object.keys(value).slice(0, 12).join(', ') || 'nothing'}.` : 'That is a value without parts.' });
    }
    value = below;
  }
  return value;
}
