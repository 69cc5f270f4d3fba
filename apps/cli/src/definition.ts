/**
 * State definitions by name of a skill, or by file: a module that exports one, or a contract as JSON.
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isJsonObject, loadState, OplusError, stateFromContract } from '@oplus/core';
import type { Json, StateDefinition, StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { taskOf } from './catalogue.ts';

/** A definition that is loaded. Of a contract the rules are names alone: their checks are code, and stand for nothing here. */
export type Definition = { readonly schema: StateSchema; readonly isContract: boolean };

/**
 * Loads a definition: of a skill by its name, of a module (`file.ts`, or `file.ts#name` where it exports several), of a
 * contract. Throws `SKILL_UNKNOWN`, `USAGE` for a file that is not there or holds no definition, and `SCHEMA_INVALID` with what
 * is unsound in it.
 */
export async function definitionOf(name: string): Promise<Definition> {
  if (!/[./\\]/.test(name)) return { schema: loadState(taskOf(name).definition, sha256), isContract: false };
  const [file = '', exported] = name.split('#');
  const path = resolve(file);
  if (!existsSync(path))
    throw new OplusError('USAGE', 'there is no such file', {
      path,
      hint: 'Name a skill, a module or a contract: warehouse, src/state.ts',
    });
  if (path.endsWith('.json')) {
    const contract = contractIn(path);
    return { schema: stateFromContract(contract, sha256, { checks: standInsFor(contract) }), isContract: true };
  }
  return { schema: loadState(await definitionIn(path, exported), sha256), isContract: false };
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

/** Checks that let everything pass, one for each rule that the contract names. */
function standInsFor(contract: Json): { readonly [rule: string]: () => true } {
  const head = isJsonObject(contract) ? contract['x-state'] : undefined;
  const rules =
    head !== undefined && isJsonObject(head) && Array.isArray(head['rules']) ? (head['rules'] as readonly Json[]) : [];
  return Object.fromEntries(rules.map((rule) => [isJsonObject(rule) ? String(rule['name']) : '', () => true as const]));
}

async function definitionIn(path: string, name: string | undefined): Promise<StateDefinition> {
  let exported: { readonly [name: string]: unknown };
  try {
    exported = (await import(pathToFileURL(path).href)) as typeof exported;
  } catch (cause) {
    throw placed(cause, path);
  }
  const found = Object.entries(exported).filter(([key, value]) => isDefinition(value) && (name === undefined || key === name));
  const [first, second] = found;
  if (first === undefined) {
    const message =
      name === undefined ? 'the module exports no state definition' : `the module exports no state definition called ${name}`;
    throw new OplusError('USAGE', message, { path, hint: 'Export what defineState({ name, version, fields }) gives.' });
  }
  if (second === undefined) return first[1] as StateDefinition;
  throw new OplusError('USAGE', `the module exports ${found.length} state definitions`, {
    path,
    hint: `Say which: ${found.map(([key]) => `${relative('.', path)}#${key}`).join(', ')}`,
  });
}

/** What looks like one, also with a slip in it: loading says what is wrong. */
function isDefinition(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'version' in value && ('name' in value || 'fields' in value);
}

/** Why a module did not load, with the line of it where that happened. */
function placed(cause: unknown, file: string): OplusError {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const line = error.stack?.split('\n').find((one) => one.includes(file));
  const at = /:(\d+)(:\d+)?\)?$/.exec(line ?? '');
  const path = `${relative('.', file)}${at === null ? '' : `:${at[1]}${at[2] ?? ''}`}`;
  if (cause instanceof OplusError) {
    const { code, message, hint, faults } = cause;
    return new OplusError(code, message, {
      path,
      ...(hint === undefined ? {} : { hint }),
      ...(faults === undefined ? {} : { faults }),
      cause,
    });
  }
  const [reason = ''] = error.message.split('\n');
  return new OplusError('USAGE', `the module cannot be loaded: ${error.name}: ${reason}`, {
    path,
    hint: 'Mend the module; with --debug the whole error is shown.',
    cause,
  });
}
