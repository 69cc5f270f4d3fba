/**
 * Types of leaf values: zod schemas of which a largest size can be computed.
 *
 * Every string needs a maximum length, every array a maximum count, every number a range, every object a closed list of
 * keys; transforms, references and open records do not load. Patterns are accepted in a dialect that cannot take long:
 * anchored, one character class at a time, and few ways to share a text among the repeats. What is wrong with a value is
 * said in our own words: verdicts are part of the log, and a library's wording may change. SPEC: SCH7-SCH12.
 */
import { z } from 'zod';
import type { Fault } from './error.ts';
import { fault, unsound } from './fault.ts';
import type { Json, JsonObject } from './json.ts';
import { canonical, clipped, frozen, isJsonObject, pointer, sameJson, utf8Bytes } from './json.ts';
import { sentence } from './type-words.ts';

/** A JSON Schema, as data. */
export type JsonSchema = JsonObject;

export type ValueType<T extends Json = Json> = {
  readonly zod: z.ZodType<T>;
  readonly jsonSchema: JsonSchema;
  /** Largest canonical text of a value, in UTF-8 bytes. */
  readonly bytesMax: number;
  readonly acceptsNull: boolean;
  /** What is wrong with a value, or `undefined`. */
  fault(value: Json): TypeFault | undefined;
};

/** `bound` when the value is of the right type but too large or too small. */
export type TypeFault = { readonly code: 'schema' | 'bound'; readonly message: string };

/**
 * Compiles a zod schema for a kind of that name. Throws a fault for each part of it without a bound, by its path in the value, and
 * for a type without a JSON form.
 */
export function valueType<T extends Json>(type: z.ZodType<T>, kind: string): ValueType<T> {
  const jsonSchema = jsonSchemaOf(type, kind);
  const faults: Fault[] = [];
  const bytesMax = bytesMaxOf(jsonSchema, '', ({ path, rule, hint }) => faults.push({ path, rule: `${kind}: ${rule}`, hint }));
  if (faults.length > 0) throw unsound(faults);
  return { zod: type, jsonSchema, bytesMax, acceptsNull: zodFault(type, null) === undefined, fault: faultOf(type, jsonSchema) };
}

/** The value, frozen. Throws a fault when it is not of the type. */
export function startValue<T extends Json>(type: ValueType, value: T | undefined, kind: string): T | undefined {
  if (value === undefined) return undefined;
  const wrong = type.fault(value);
  if (wrong === undefined) return frozen(JSON.parse(canonical(value)) as T);
  throw fault(`${kind}: the start value is not of its type: ${wrong.message}`, 'Change start or the type.');
}

/** What `.meta` says is words, never bounds. */
const NO_META = z.registry<Record<string, never>>();

/** A JSON Schema has no place for the flags of a pattern, so they would change what a log means and not its digest. */
function refuseFlags(type: z.core.$ZodType): void {
  for (const check of type._zod.def.checks ?? []) {
    const { pattern } = check._zod.def as { readonly pattern?: unknown };
    if (pattern instanceof RegExp && /[ims]/.test(pattern.flags)) throw new Error(`a pattern has the flags ${pattern.flags}`);
  }
}

/** A JSON Schema of a zod type without the dialect line. */
function jsonSchemaOf(type: z.ZodType, kind: string): JsonSchema {
  const schemaOf = (io: 'input' | 'output'): JsonSchema => {
    const { $schema: _, ...rest } = z.toJSONSchema(type, {
      io,
      reused: 'inline',
      cycles: 'throw',
      metadata: NO_META,
      override: ({ zodSchema }) => refuseFlags(zodSchema),
    });
    return rest as JsonSchema;
  };
  try {
    const schema = schemaOf('input');
    if (sameJson(schema, schemaOf('output'))) return schema;
    throw new Error('what it reads and what it gives differ');
  } catch (cause) {
    const hint = 'Give a zod type of plain values: no transforms, dates, maps or recursive types.';
    throw fault(`${kind}: a type has no JSON form`, hint, '', cause);
  }
}

/** A fast test for plain scalars, zod itself for the rest. */
function faultOf(type: z.ZodType, schema: JsonSchema): (value: Json) => TypeFault | undefined {
  const keys = isPlainType(type) ? Object.keys(schema).sort().join() : '';
  if (keys === 'maximum,minimum,type' && schema['type'] === 'integer') {
    const lo = schema['minimum'] as number;
    const hi = schema['maximum'] as number;
    return (value) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= lo && value <= hi ? undefined : zodFault(type, value);
  }
  if ((keys === 'maxLength,type' || keys === 'maxLength,minLength,type') && schema['type'] === 'string') {
    const charsMin = (schema['minLength'] ?? 0) as number;
    const charsMax = schema['maxLength'] as number;
    return (value) =>
      typeof value === 'string' && value.length >= charsMin && value.length <= charsMax ? undefined : zodFault(type, value);
  }
  return (value) => zodFault(type, value);
}

const PLAIN_CHECKS: readonly string[] = ['max_length', 'min_length', 'number_format', 'greater_than', 'less_than'];

/** True when the JSON Schema of the type says all that the type checks. */
function isPlainType(type: z.ZodType): boolean {
  const definition = type._zod.def as {
    readonly checks?: readonly z.core.$ZodCheck[];
    readonly coerce?: boolean;
    readonly check?: string;
  };
  const checks = [
    ...(definition.checks ?? []).map((check) => check._zod.def.check),
    ...(definition.check === undefined ? [] : [definition.check]),
  ];
  return definition.coerce !== true && checks.every((check) => PLAIN_CHECKS.includes(check));
}

function zodFault(type: z.ZodType, value: Json): TypeFault | undefined {
  let parsed: z.ZodSafeParseResult<unknown>;
  try {
    parsed = type.safeParse(value);
  } catch {
    return { code: 'schema', message: 'the type cannot check this value' };
  }
  if (parsed.success)
    return isUnchanged(value, parsed.data) ? undefined : { code: 'schema', message: 'the type would change this value' };
  const { issues } = parsed.error;
  const isBound = issues.every((issue) => issue.code === 'too_big' || issue.code === 'too_small');
  return { code: isBound ? 'bound' : 'schema', message: issues.slice(0, 8).map(sentence).join('; ') };
}

function isUnchanged(value: Json, parsed: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === parsed;
  return typeof parsed === 'object' && parsed !== null && sameJson(value, parsed as Json);
}

/** Tells what has no bound, by its path in the value; that then counts as empty. */
function bytesMaxOf(schema: JsonSchema, path: string, tell: (fault: Fault) => void): number {
  const unbounded = (what: string, hint: string): number => {
    tell({ path, rule: `${what} has no cap`, hint });
    return 0;
  };
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return Math.max(...(choices as JsonSchema[]).map((choice) => bytesMaxOf(choice, path, tell)));
  if ('const' in schema) return utf8Bytes(canonical(schema['const'] as Json));
  if (Array.isArray(schema['enum'])) return Math.max(...(schema['enum'] as Json[]).map((value) => utf8Bytes(canonical(value))));
  switch (schema['type']) {
    case 'null':
      return 4;
    case 'boolean':
      return 5;
    case 'integer':
    case 'number': {
      const isRange =
        isNumber(schema['minimum'] ?? schema['exclusiveMinimum']) && isNumber(schema['maximum'] ?? schema['exclusiveMaximum']);
      return isRange ? 25 : unbounded('a number', 'Give it a range: z.int().min(0).max(100).');
    }
    case 'string': {
      const charsMax = schema['maxLength'];
      if (!isNumber(charsMax)) return unbounded('a string', 'Give it a length: z.string().max(200).');
      for (const slow of patternsOf(schema).filter((pattern) => !isQuickPattern(pattern))) {
        const hint = 'Use anchored character classes with few repeats: ^[a-z][a-z0-9-]{0,31}$';
        tell({ path, rule: `the pattern is outside the quick dialect: ${clipped(slow, 80)}`, hint });
      }
      return charsMax * 3 + 2;
    }
    case 'array': {
      const itemsMax = schema['maxItems'];
      const { items } = schema;
      const itemBytesMax = isJsonObject(items ?? null)
        ? bytesMaxOf(items as JsonSchema, `${path}/*`, tell)
        : unbounded('an array', 'Give its items one type.');
      if (!isNumber(itemsMax)) return unbounded('an array', 'Give it a count: z.array(...).max(8).');
      return 2 + itemsMax * (itemBytesMax + 1);
    }
    case 'object': {
      const properties = schema['properties'];
      if (!isJsonObject(properties) || schema['additionalProperties'] !== false) {
        return unbounded('an object', 'Use z.strictObject({...}); for free keys use the field kind map or records.');
      }
      return Object.entries(properties).reduce(
        (sum, [key, value]) =>
          sum + utf8Bytes(canonical(key)) + 2 + bytesMaxOf(value as JsonSchema, `${path}${pointer(key)}`, tell),
        2,
      );
    }
    default:
      return unbounded('a value', 'Name its type.');
  }
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Several patterns of one string stand under `allOf`. */
function patternsOf(schema: JsonSchema): readonly string[] {
  const parts = Array.isArray(schema['allOf']) ? [schema, ...(schema['allOf'] as readonly JsonSchema[])] : [schema];
  return parts.map((part) => part['pattern']).filter((pattern) => typeof pattern === 'string');
}

const PATTERN_PIECE = /(?:\[(?:[^\]\\]|\\.)+\]|\\[dw.-]|[A-Za-z0-9_@:-])(?:\{(\d+)(,)?(\d*)\}|([?*+]))?/y;

/** What a repeat without an upper end counts for: it may stand alone, beside nothing else that repeats. */
const PATTERN_CHARS_MAX = 4_096;
/**
 * Most ways in which the repeats of a pattern may share one text: what a backtracking matcher tries at worst, for each of the
 * hundreds of texts that one message may hold.
 */
const PATTERN_WAYS_MAX = 4_096;

function isQuickPattern(pattern: string): boolean {
  if (!pattern.startsWith('^') || !pattern.endsWith('$') || pattern.length < 2) return false;
  const body = pattern.slice(1, -1);
  let ways = 1;
  PATTERN_PIECE.lastIndex = 0;
  while (PATTERN_PIECE.lastIndex < body.length) {
    const match = PATTERN_PIECE.exec(body);
    if (match === null) return false;
    ways *= waysOf(match);
  }
  return ways <= PATTERN_WAYS_MAX;
}

/** In how many lengths one piece may match. */
function waysOf([, least, comma, most, sign]: RegExpExecArray): number {
  if (sign === '?') return 2;
  if (sign !== undefined) return PATTERN_CHARS_MAX;
  if (least === undefined || comma === undefined) return 1;
  return most === '' ? PATTERN_CHARS_MAX : Math.max(1, Number(most) - Number(least) + 1);
}
