/**
 * Altered state definitions: that of a skill with another kind, or other options, in some places.
 *
 * A place is a path as `oplus schema explain` has it: `/shelves`, or `/shelves/*` for what stands under each of its keys.
 */
import { nearestWord } from '@oplus/agent';
import { contractOf, explainState, isJsonObject, kindOfDeclaration, loadState, OplusError, pointerTokens } from '@oplus/core';
import type { Field, Json, JsonObject, StateDefinition, StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';

/** What changes at a path: another kind with the options that stand there, or options to lay over them. */
export type Alteration = { readonly path: string; readonly options: JsonObject };

/** `/shelves/*=lww`, or `/budget={"hi":20}`. Throws `USAGE` for anything else. */
export function readAlteration(text: string): Alteration {
  const at = text.indexOf('=');
  const [path, said] = [text.slice(0, at), text.slice(at + 1)];
  const options = said.startsWith('{') ? objectIn(said) : KIND_PATTERN.test(said) ? { kind: said } : undefined;
  if (at > 0 && options !== undefined && (pointerTokens(path) ?? []).length > 0) return { path, options };
  throw new OplusError('USAGE', `${text.slice(0, 64)} is not a change of a field`, {
    hint: 'Write a path and a kind, or a path and options: /shelves/*=lww, /budget={"hi":20}',
  });
}

/**
 * The definition with these changes, loaded. Throws `USAGE` for a path where nothing stands or options that no kind takes, and
 * `SCHEMA_INVALID` when what comes out is unsound.
 */
export function alteredState(definition: StateDefinition, schema: StateSchema, changes: readonly Alteration[]): StateSchema {
  const { properties } = contractOf(schema) as { readonly properties: { readonly [name: string]: JsonObject } };
  const altered = new Map<string, Json>();
  for (const { path, options } of changes) {
    const [name = '', ...below] = pointerTokens(path) ?? [];
    const before = altered.get(name) ?? properties[name]?.['x-merge'];
    const after = isJsonObject(before ?? null) ? laidOver(before as JsonObject, below, options) : undefined;
    if (after === undefined) throw nothingAt(path, schema);
    altered.set(name, after);
  }
  const fields = Object.fromEntries(
    [...altered].map(([name, declaration]) => [name, fieldOf(declaration, name, properties[name]?.['description'])]),
  );
  return loadState({ ...definition, fields: { ...definition.fields, ...fields } }, sha256);
}

const KIND_PATTERN = /^[a-z][a-z-]*$/;

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The declaration with the options laid over what stands below the tokens; `undefined` when nothing stands there. */
function laidOver(declaration: JsonObject, [token, ...rest]: readonly string[], options: JsonObject): JsonObject | undefined {
  if (token === undefined) return { ...declaration, ...options };
  if (token !== '*') return undefined;
  const { of, cells } = declaration;
  if (isJsonObject(of ?? null)) {
    const after = laidOver(of as JsonObject, rest, options);
    return after === undefined ? undefined : { ...declaration, of: after };
  }
  const [name = '', ...below] = rest;
  const cell = isJsonObject(cells ?? null) && Object.hasOwn(cells as JsonObject, name) ? (cells as JsonObject)[name] : undefined;
  const after = isJsonObject(cell ?? null) ? laidOver(cell as JsonObject, below, options) : undefined;
  return after === undefined ? undefined : { ...declaration, cells: { ...(cells as JsonObject), [name]: after } };
}

function fieldOf(declaration: Json, name: string, doc: Json | undefined): Field {
  try {
    return kindOfDeclaration(declaration, `/${name}`, name, { code: {}, doc });
  } catch (cause) {
    const message = cause instanceof OplusError ? cause.message : 'the kind does not take these options';
    throw new OplusError('USAGE', `${name} cannot be altered so: ${message.replace(/^the contract: /, '')}`, {
      path: `/${name}`,
      hint: 'The kinds and their options stand in the README of @oplus/core; rules of your own go with --definition.',
      cause,
    });
  }
}

function nothingAt(path: string, schema: StateSchema): OplusError {
  const paths = explainState(schema).map((field) => field.path);
  const near = nearestWord(path, paths);
  return new OplusError('USAGE', `the state has no field ${path.slice(0, 64)}`, {
    hint: near === undefined ? `The fields are ${paths.join(', ')}.` : `Did you mean ${near}?`,
  });
}
