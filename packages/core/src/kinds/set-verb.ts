/**
 * The verb `set` of kinds that hold one value: how a model says it, and what a foreign patch means by it.
 *
 * Where `null` is a value of the type, a model says the value inside `{ value }`, because its own `null` means that it leaves
 * the verb out.
 */
import { changed } from '../change.ts';
import type { Change } from '../change.ts';
import type { Complain } from '../field-kind.ts';
import { strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { isJsonObject, sameJson } from '../json.ts';
import { malformed } from '../refusal.ts';
import type { JsonSchema, ValueType } from '../value-type.ts';

/** JSON Schema of what a model writes: `set`, and verbs that are flags. */
export function setSchema(type: ValueType, flags: readonly string[]): JsonSchema {
  const set = type.acceptsNull
    ? { ...strictObject({ value: type.jsonSchema }), properties: { value: type.jsonSchema } }
    : type.jsonSchema;
  return strictObject({ set, ...Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' }])) });
}

/** The patch behind an answer in that schema: nulls and flags that say false dropped, the value of `set` unwrapped. */
export function setFromModel(type: ValueType, flags: readonly string[], answer: Json): Json {
  const verbs = withoutNulls(answer);
  if (!isJsonObject(verbs)) return verbs;
  const { set, ...others } = verbs;
  const value = type.acceptsNull && isJsonObject(set) && 'value' in set ? (set['value'] as Json) : set;
  const said = Object.entries(others).filter(([verb, flag]) => flag !== false || !flags.includes(verb));
  return { ...Object.fromEntries(said), ...(value === undefined ? {} : { set: value }) };
}

/**
 * The value that a change asks for in a field that shows `{ value, ... }`: nothing but `value` may differ, or be given alone.
 * `value` is absent when it is removed. Gives `undefined` when nothing would change, and after a complaint.
 */
export function assignedValue(
  shown: JsonObject,
  change: Change,
  type: ValueType,
  rule: string,
  path: string,
  complain: Complain,
): { readonly value?: Json } | undefined {
  const wanted = changed(shown, change);
  if (wanted === undefined) return {};
  if (sameJson(wanted, shown)) return undefined;
  if (!isJsonObject(wanted) || !Object.entries(wanted).every(([key, part]) => isLeftAlone(shown, key, part))) {
    complain(path, malformed(rule, `Of what it shows, value alone can be set: {set: value}.`, wanted));
    return undefined;
  }
  const { value } = wanted;
  return value === undefined || (value === null && !type.acceptsNull) ? {} : { value };
}

/** Rivals go when a value is set, so a patch may say so. */
function isLeftAlone(shown: JsonObject, key: string, part: Json): boolean {
  if (key === 'value') return true;
  return Object.hasOwn(shown, key) && (sameJson(part, shown[key]) || (key === 'rivals' && sameJson(part, [])));
}
