/**
 * Types of leaf values: zod schemas of which a largest size can be computed.
 *
 * Every string needs a maximum length, every array a maximum count, every number a range, every object a closed list of
 * keys; transforms, references and open records do not load. Patterns are accepted in a dialect that matches in linear
 * time: anchored, one character class at a time, at most one unbounded repeat.
 */
import { z } from 'zod';
import { OplusError } from './error.ts';
import type { Json, JsonObject } from './json.ts';
import { canonical, isJsonObject, utf8Bytes } from './json.ts';

/** A JSON Schema, as data. */
export type JsonSchema = JsonObject;

export type ValueType<T extends Json = Json> = {
  readonly zod: z.ZodType<T>;
  readonly jsonSchema: JsonSchema;
  /** Largest canonical text of a value, in UTF-8 bytes. */
  readonly bytesMax: number;
  readonly acceptsNull: boolean;
  /** What is wrong with a value, or `undefined`. */
  fault(value: Json): string | undefined;
};

/** Compiles a zod schema. Throws `SCHEMA_INVALID` at `path` when values of it have no bound or no JSON form. */
export function valueType<T extends Json>(type: z.ZodType<T>, path: string): ValueType<T> {
  const jsonSchema = jsonSchemaOf(type, path);
  const bytesMax = bytesMaxOf(jsonSchema, path);
  return { zod: type, jsonSchema, bytesMax, acceptsNull: type.safeParse(null).success, fault: faultOf(type, jsonSchema) };
}

/** A JSON Schema of a zod type without the dialect line. */
export function jsonSchemaOf(type: z.ZodType, path: string): JsonSchema {
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(type, { io: 'input', reused: 'inline', cycles: 'throw' });
    return rest as JsonSchema;
  } catch (cause) {
    throw new OplusError('SCHEMA_INVALID', `a type at ${path} has no JSON form`, {
      path,
      hint: 'Use plain values: no transforms, dates, maps or recursive types.',
      cause,
    });
  }
}

/** A fast test for the plain scalars, zod itself for the rest. */
function faultOf(type: z.ZodType, schema: JsonSchema): (value: Json) => string | undefined {
  const keys = Object.keys(schema).sort().join();
  if (keys === 'maximum,minimum,type' && schema['type'] === 'integer') {
    const lo = schema['minimum'] as number;
    const hi = schema['maximum'] as number;
    return (value) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= lo && value <= hi ? undefined : zodFault(type, value);
  }
  if (keys === 'maxLength,type' && schema['type'] === 'string') {
    const charsMax = schema['maxLength'] as number;
    return (value) => (typeof value === 'string' && value.length <= charsMax ? undefined : zodFault(type, value));
  }
  return (value) => zodFault(type, value);
}

function zodFault(type: z.ZodType, value: Json): string | undefined {
  const parsed = type.safeParse(value);
  if (parsed.success) return undefined;
  return parsed.error.issues.map((issue) => `${issue.path.length === 0 ? '' : `${issue.path.join('.')}: `}${issue.message}`).join('; ');
}

function bytesMaxOf(schema: JsonSchema, path: string): number {
  const unbounded = (what: string, hint: string): never => {
    throw new OplusError('SCHEMA_INVALID', `${what} at ${path} has no cap`, { path, hint });
  };
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return Math.max(...(choices as JsonSchema[]).map((choice) => bytesMaxOf(choice, path)));
  if ('const' in schema) return utf8Bytes(canonical(schema['const'] as Json));
  if (Array.isArray(schema['enum'])) return Math.max(...(schema['enum'] as Json[]).map((value) => utf8Bytes(canonical(value))));
  switch (schema['type']) {
    case 'null':
      return 4;
    case 'boolean':
      return 5;
    case 'integer':
    case 'number': {
      if (!isNumber(schema['minimum'] ?? schema['exclusiveMinimum']) || !isNumber(schema['maximum'] ?? schema['exclusiveMaximum'])) {
        unbounded('a number', 'Give it a range: z.int().min(0).max(100).');
      }
      return 25;
    }
    case 'string': {
      const charsMax = schema['maxLength'];
      if (!isNumber(charsMax)) return unbounded('a string', 'Give it a length: z.string().max(200).');
      if (typeof schema['pattern'] === 'string' && !isLinearPattern(schema['pattern'])) {
        throw new OplusError('SCHEMA_INVALID', `the pattern at ${path} is outside the linear dialect`, {
          path,
          hint: 'Use anchored character classes: ^[a-z][a-z0-9-]{0,31}$',
        });
      }
      return charsMax * 3 + 2;
    }
    case 'array': {
      const itemsMax = schema['maxItems'];
      if (!isNumber(itemsMax)) return unbounded('an array', 'Give it a count: z.array(...).max(8).');
      if (!isJsonObject(schema['items'])) return unbounded('an array', 'Give its items one type.');
      return 2 + itemsMax * (bytesMaxOf(schema['items'], path) + 1);
    }
    case 'object': {
      const properties = schema['properties'];
      if (!isJsonObject(properties) || schema['additionalProperties'] !== false) {
        return unbounded('an object', 'Use z.strictObject({...}); for free keys use the field kind map or records.');
      }
      return Object.entries(properties).reduce(
        (sum, [key, value]) => sum + utf8Bytes(canonical(key)) + 2 + bytesMaxOf(value as JsonSchema, path),
        2,
      );
    }
    default:
      return unbounded('a value', 'Name its type.');
  }
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === 'number';
}

const PATTERN_PIECE = /(?:\[(?:[^\]\\]|\\.)+\]|\\[dw.-]|[A-Za-z0-9_@:-])(\{\d+(?:,\d*)?\}|[?*+])?/y;

function isLinearPattern(pattern: string): boolean {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return false;
  const body = pattern.slice(1, -1);
  let unboundedCount = 0;
  PATTERN_PIECE.lastIndex = 0;
  while (PATTERN_PIECE.lastIndex < body.length) {
    const match = PATTERN_PIECE.exec(body);
    if (match === null) return false;
    if (match[1] !== undefined && /[*+]|,\}/.test(match[1])) unboundedCount += 1;
  }
  return unboundedCount <= 1;
}
