/**
 * The strict subset of JSON Schema that model servers enforce: closed objects, every key required, optional ones nullable.
 *
 * Keywords outside the subset are dropped, not translated: what they check is checked again when the answer is read. Bounds
 * at the edge of safe integers are dropped too, as some servers refuse large numbers. An object with keys of one's own choice
 * becomes a list of `{ key, value }`. SPEC: STS1-STS3.
 */
import type { Json, JsonObject } from './json.ts';
import { isJsonObject, sameJson } from './json.ts';

/** The schema in the strict subset. Same values as the original, plus null for its optional keys. */
export function strictSubset(schema: Json): JsonObject {
  if (!isJsonObject(schema)) return {};
  const strict: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(schema)) {
    if (KEPT.has(key) || (BOUNDS.has(key) && isModest(value))) strict[key] = value;
    else if (key === 'const') strict['enum'] = [value];
    else if (key === 'items') strict['items'] = strictSubset(value);
    else if ((key === 'anyOf' || key === 'oneOf') && Array.isArray(value))
      strict['anyOf'] = (value as readonly Json[]).map(strictSubset);
  }
  if (strict['enum'] !== undefined && strict['type'] === undefined) delete strict['pattern'];
  const free = freeValues(schema);
  if (free !== undefined) return { type: 'array', items: strictSubset(keyedItem(free)) };
  if (!isJsonObject(schema['properties'])) return strict;
  const required = requiredOf(schema);
  return {
    ...strict,
    properties: Object.fromEntries(
      Object.entries(schema['properties']).map(([key, child]) => {
        const strictChild = strictSubset(child);
        return [key, required.has(key) ? strictChild : orNull(strictChild)];
      }),
    ),
    required: Object.keys(schema['properties']),
    additionalProperties: false,
  };
}

/** A value of the original schema in the form that its strict subset has: a list where keys are free. */
export function strictValue(given: Json, value: Json): Json {
  const schema = choiceFor(given, value);
  if (!isJsonObject(schema)) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => strictValue(schema['items'] ?? {}, item));
  const free = freeValues(schema);
  if (!isJsonObject(value)) return value;
  if (free !== undefined) return Object.entries(value).map(([key, one]) => ({ key, value: strictValue(free, one) }));
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const known = Object.entries(value).map(([key, one]): [string, Json] => [
    key,
    Object.hasOwn(properties, key) ? strictValue(properties[key] as Json, one) : one,
  ]);
  const absent = Object.keys(properties).filter((key) => !Object.hasOwn(value, key));
  return Object.fromEntries([...known, ...absent.map((key): [string, Json] => [key, null])]);
}

/** An answer in the strict subset as the original schema has it: null under an optional key means that the key is left out. */
export function withoutOptionalNulls(given: Json, value: Json): Json {
  const schema = choiceFor(given, value);
  if (!isJsonObject(schema)) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => withoutOptionalNulls(schema['items'] ?? {}, item));
  const properties = schema['properties'];
  if (!isJsonObject(value) || !isJsonObject(properties)) return value;
  const required = requiredOf(schema);
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, child]) =>
          child !== null || required.has(key) || !Object.hasOwn(properties, key) || acceptsNull(properties[key] as Json),
      )
      .map(([key, child]) => [
        key,
        Object.hasOwn(properties, key) ? withoutOptionalNulls(properties[key] as Json, child) : child,
      ]),
  );
}

/** Of a schema that offers a choice the part that a value is of, as far as its keys and marks tell: the closest, else the schema. */
function choiceFor(schema: Json, value: Json): Json {
  if (choicesOf(schema) === undefined) return schema;
  const alike = flatChoices(schema).filter((choice) => choice['type'] === typeOf(value));
  if (alike.length < 2 || !isJsonObject(value)) return alike[0] ?? schema;
  const count = Object.keys(value).length;
  const shaped = alike.filter((choice) => isShaped(choice, value));
  return shaped.find(({ properties }) => Object.keys(properties as JsonObject).length === count) ?? shaped[0] ?? schema;
}

function choicesOf(schema: Json): readonly Json[] | undefined {
  const choices = isJsonObject(schema) ? (schema['anyOf'] ?? schema['oneOf']) : undefined;
  return Array.isArray(choices) ? (choices as readonly Json[]) : undefined;
}

function flatChoices(schema: Json): readonly JsonObject[] {
  return choicesOf(schema)?.flatMap(flatChoices) ?? (isJsonObject(schema) ? [schema] : []);
}

/** True when an object has the keys that a closed object must have, no others, and the values that mark it. */
function isShaped(choice: JsonObject, value: JsonObject): boolean {
  const { properties } = choice;
  if (!isJsonObject(properties)) return false;
  const required = requiredOf(choice);
  const isPart = ([key, part]: [string, Json]): boolean =>
    Object.hasOwn(properties, key) && ((part === null && !required.has(key)) || isMarked(properties[key] as Json, part));
  return Object.entries(value).every(isPart) && [...required].every((key) => Object.hasOwn(value, key));
}

/** False where a schema lists its values and this is none of them. */
function isMarked(schema: Json, value: Json): boolean {
  if (!isJsonObject(schema)) return true;
  if ('const' in schema) return sameJson(schema['const'], value);
  return !Array.isArray(schema['enum']) || (schema['enum'] as readonly Json[]).some((one) => sameJson(one, value));
}

/** True when null is a value of the schema. */
export function acceptsNull(schema: Json): boolean {
  if (!isJsonObject(schema)) return false;
  if (schema['type'] === 'null' || schema['const'] === null) return true;
  if (Array.isArray(schema['type']) && (schema['type'] as readonly Json[]).includes('null')) return true;
  if (Array.isArray(schema['enum']) && (schema['enum'] as readonly Json[]).includes(null)) return true;
  return choicesOf(schema)?.some(acceptsNull) === true;
}

/** The keys that an object schema requires. */
export function requiredOf(schema: JsonObject): ReadonlySet<string> {
  return new Set(Array.isArray(schema['required']) ? (schema['required'] as readonly string[]) : []);
}

const KEPT: ReadonlySet<string> = new Set(['type', 'enum', 'pattern', 'description', 'multipleOf', 'minItems', 'maxItems']);
const BOUNDS: ReadonlySet<string> = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']);

/** The schema of the values, where keys are free. */
function freeValues(schema: JsonObject): JsonObject | undefined {
  const free = schema['additionalProperties'];
  return free !== undefined && isJsonObject(free) ? free : undefined;
}

function keyedItem(value: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: { key: { type: 'string' }, value },
    required: ['key', 'value'],
    additionalProperties: false,
  };
}

function isModest(value: Json): boolean {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}

function orNull(schema: JsonObject): JsonObject {
  return acceptsNull(schema) ? schema : { anyOf: [schema, { type: 'null' }] };
}

function typeOf(value: Json): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}
