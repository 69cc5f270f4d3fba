/**
 * State definitions by name of a skill, or by file: a module that exports one, or a contract as JSON.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadState, OplusError, stateFromContract } from '@oplus/core';
import type { Json, StateDefinition, StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { taskOf } from './catalogue.ts';

/**
 * The definition, loaded. Throws `SKILL_UNKNOWN`, `USAGE` for a file that is not there or holds no definition, and
 * `SCHEMA_INVALID` with what is unsound in it.
 */
export async function schemaOf(name: string): Promise<StateSchema> {
  const path = resolve(name);
  const isFile = /[./\\]/.test(name);
  if (!isFile) return loadState(taskOf(name).definition, sha256);
  if (!existsSync(path))
    throw new OplusError('USAGE', 'there is no such file', {
      path,
      hint: 'Name a skill, a module or a contract: warehouse, src/state.ts',
    });
  if (path.endsWith('.json')) return stateFromContract(contractIn(path), sha256);
  return loadState(await definitionIn(path), sha256);
}

function contractIn(path: string): Json {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json;
  } catch (cause) {
    throw new OplusError('USAGE', 'the file is not JSON', {
      path,
      hint: 'Write a contract with: oplus schema json <skill>',
      cause,
    });
  }
}

async function definitionIn(path: string): Promise<StateDefinition> {
  let exported: { readonly [name: string]: unknown };
  try {
    exported = (await import(pathToFileURL(path).href)) as typeof exported;
  } catch (cause) {
    if (cause instanceof OplusError) throw placed(cause, path);
    throw new OplusError('USAGE', 'the module cannot be loaded', { path, hint: 'Run it with node to see why.', cause });
  }
  const found = Object.values(exported).find(isDefinition);
  if (found !== undefined) return found;
  throw new OplusError('USAGE', 'the module exports no state definition', {
    path,
    hint: 'Export what defineState({ ... }) gives.',
  });
}

function isDefinition(value: unknown): value is StateDefinition {
  return typeof value === 'object' && value !== null && 'name' in value && 'version' in value && 'fields' in value;
}

/** What a kind finds wrong while it is written down, with the line where it stands. */
function placed(error: OplusError, file: string): OplusError {
  const line = error.stack?.split('\n').find((one) => one.includes(file));
  const at = /:(\d+):(\d+)\)?$/.exec(line ?? '');
  const path = `${relative('.', file)}${at === null ? '' : `:${at[1]}:${at[2]}`}`;
  const { message, hint } = error;
  return new OplusError(error.code, message, { path, ...(hint === undefined ? {} : { hint }), cause: error });
}
