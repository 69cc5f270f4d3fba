/**
 * Reading the verbs of a patch, and their JSON Schema in the strict subset of model servers.
 */
import type { Complain } from './field-kind.ts';
import type { Json, JsonObject } from './json.ts';
import { clipped, frozen, isJsonObject } from './json.ts';
import { malformed } from './refusal.ts';
import type { JsonSchema, ValueType } from './value-type.ts';

/** The verbs object of a field, if it is one and names only these verbs, at least one. Complains otherwise. */
export function readVerbs(
  intent: Json,
  rule: string,
  verbs: readonly string[],
  path: string,
  complain: Complain,
): JsonObject | undefined {
  if (!isJsonObject(intent)) {
    complain(path, malformed(rule, `A patch of this field is an object with one of: ${verbs.join(', ')}.`, intent));
    return undefined;
  }
  const named = Object.keys(intent);
  const unknown = named.find((verb) => !verbs.includes(verb));
  if (unknown !== undefined || named.length === 0) {
    complain(
      path,
      malformed(
        rule,
        `${unknown === undefined ? 'No verb' : `No verb "${clipped(unknown, 40)}"`} here; use: ${verbs.join(', ')}.`,
      ),
    );
    return undefined;
  }
  return intent;
}

/** As `readVerbs`, for kinds that take exactly one verb at a time. */
export function readOneVerb(
  intent: Json,
  rule: string,
  verbs: readonly string[],
  path: string,
  complain: Complain,
): { readonly verb: string; readonly value: Json } | undefined {
  const read = readVerbs(intent, rule, verbs, path, complain);
  if (read === undefined) return undefined;
  const named = Object.keys(read);
  if (named.length > 1) {
    complain(path, malformed(rule, `One verb at a time; you gave ${named.join(' and ')}.`));
    return undefined;
  }
  const verb = named[0] as string;
  return { verb, value: read[verb] as Json };
}

/** Complains unless the value has the type; a value that has it is frozen, because the state will hold it. */
export function isOfType(type: ValueType, value: Json, rule: string, path: string, complain: Complain): boolean {
  const fault = type.fault(value);
  if (fault !== undefined) {
    complain(path, { ...malformed(rule, `It ${fault.message}.`, value), code: fault.code });
    return false;
  }
  frozen(value);
  return true;
}

/** A list of values of one type, at most as many as a patch may hold. Complains about the first that is not of it. */
export function readList(
  type: ValueType,
  value: Json | undefined,
  rule: string,
  path: string,
  complain: Complain,
): readonly Json[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    complain(path, malformed(rule, 'This takes a list of values.', value));
    return undefined;
  }
  const items = value as readonly Json[];
  return items.every((item, i) => isOfType(type, item, rule, `${path}/${i}`, complain)) ? items : undefined;
}

/** Complains about the first name that stands twice in one patch: its verbs would depend on an order that nobody gave. */
export function isOnceEach(names: readonly string[], rule: string, path: string, complain: Complain): boolean {
  if (names.length < 2) return true;
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) {
      complain(path, malformed(rule, 'A value, a key or an id stands once in a patch, under one verb.', name));
      return false;
    }
    seen.add(name);
  }
  return true;
}

/** A closed object whose keys are all required and may be null. */
export function strictObject(properties: { readonly [key: string]: JsonSchema }): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, nullable(schema)])),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** A value that a model may also leave out by saying null. */
export function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** The object without its null members; anything else as it is. */
export function withoutNulls(answer: Json): Json {
  if (!isJsonObject(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
}
