/**
 * `oplus show [dir]`: the state at a revision, whole or one part of it; and `oplus diff`: what changed between two.
 */
import { nearestWord } from '@oplus/agent';
import { canonical, OplusError, pointer, pointerTokens, sameJson, stateJson } from '@oplus/core';
import type { Json, JsonObject } from '@oplus/core';
import { EXIT_FINDING } from '../failure.ts';
import { readRevision, UNFINISHED, withHistory } from '../history.ts';
import type { HistoryOptions } from '../history.ts';
import type { Terminal } from '../terminal.ts';

export type ShowOptions = HistoryOptions & { readonly at?: string; readonly path?: string };

export async function showCommand(terminal: Terminal, dir: string | undefined, options: ShowOptions): Promise<number> {
  const path = options.path ?? '';
  const tokens = readPath(path);
  const at = options.at === undefined ? undefined : readRevision(options.at);
  return withHistory(dir, options, async (history) => {
    const [space] = await history.states([at]);
    if (space === undefined) throw new OplusError('INVARIANT', 'one state was asked for');
    const value = valueAt(stateJson(space), tokens);
    const { revision, state: digest } = space;
    if (!history.isFinished) terminal.note(UNFINISHED);
    if (terminal.isJson)
      terminal.json({ v: 1, ok: true, dir: history.dir, finished: history.isFinished, revision, digest, path, value });
    else {
      terminal.out(terminal.colour.dim(`r${revision}  ${digest}`));
      terminal.out(JSON.stringify(value, undefined, 2));
    }
    return 0;
  });
}

export type DiffOptions = HistoryOptions & { readonly from: string; readonly to?: string };

/** Exit code 1 when there is a difference, as `diff` has it. */
export async function diffCommand(terminal: Terminal, dir: string | undefined, options: DiffOptions): Promise<number> {
  const revisions = [readRevision(options.from), options.to === undefined ? undefined : readRevision(options.to)];
  return withHistory(dir, options, async (history) => {
    const [before, after] = await history.states(revisions);
    if (before === undefined || after === undefined) throw new OplusError('INVARIANT', 'two states were asked for');
    const changes = differences(stateJson(before), stateJson(after), []);
    const [from, to] = [before.revision, after.revision];
    if (!history.isFinished) terminal.note(UNFINISHED);
    if (terminal.isJson) terminal.json({ v: 1, ok: true, dir: history.dir, finished: history.isFinished, from, to, changes });
    else {
      const { colour } = terminal;
      terminal.out(colour.dim(`r${from} -> r${to}: ${changes.length} changed`));
      for (const { path, before: was, after: is } of changes) {
        if (was !== undefined) terminal.out(colour.red(`- ${path} ${canonical(was)}`));
        if (is !== undefined) terminal.out(colour.green(`+ ${path} ${canonical(is)}`));
      }
    }
    return changes.length === 0 ? 0 : EXIT_FINDING;
  });
}

/** The tokens of a JSON Pointer. Throws `USAGE` for anything else. */
export function readPath(path: string): readonly string[] {
  const tokens = pointerTokens(path);
  if (tokens !== undefined) return tokens;
  throw new OplusError('USAGE', `${path.slice(0, 64)} is not a path`, { hint: 'Write a JSON Pointer such as /shelves/S001.' });
}

type Change = { readonly path: string; readonly before?: Json; readonly after?: Json };

/** Leaf by leaf, paths ascending; lists are compared whole. */
function differences(before: Json | undefined, after: Json | undefined, path: readonly string[]): readonly Change[] {
  if (before !== undefined && after !== undefined && sameJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
    return keys.flatMap((key) => differences(before[key], after[key], [...path, key]));
  }
  return [{ path: pointer(...path), ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function valueAt(state: JsonObject, tokens: readonly string[]): Json {
  let value: Json = state;
  for (const [depth, token] of tokens.entries()) {
    const below: Json | undefined = isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
    if (below === undefined) throw nothingAt(value, tokens.slice(0, depth), token);
    value = below;
  }
  return value;
}

function nothingAt(value: Json, above: readonly string[], token: string): OplusError {
  const message = `nothing stands at ${pointer(...above, token).slice(0, 128)}`;
  if (!isObject(value)) return new OplusError('USAGE', message, { hint: 'That is a value without parts.' });
  const keys = Object.keys(value);
  const near = nearestWord(token, keys);
  const some = `There is ${keys.slice(0, KEYS_SHOWN).join(', ') || 'nothing'}${keys.length > KEYS_SHOWN ? ' and more' : ''}.`;
  return new OplusError('USAGE', message, { hint: near === undefined ? some : `Did you mean ${pointer(...above, near)}?` });
}

const KEYS_SHOWN = 12;
