/**
 * A short notation for JSON shapes, as prompts show them: `{"at"?: {<key>: {"set": string}}, "drop"?: [string]}`.
 *
 * The notation of a patch is read off the kind itself: a kind says its verbs as a strict schema, and how it turns an answer
 * in that schema into a patch (`fromModel`). Putting a null, or a keyed item, at one place of an answer and looking where it
 * comes out shows what may be left out and what becomes an object with free keys. No kind needs to be known here.
 */
import type { FieldKind, Json, JsonObject } from '@oplus/core';
import { acceptsNull, canonical, isJsonObject, requiredOf } from '@oplus/core';

/** Notation of a schema as it stands; optional keys carry a question mark. */
export function notationOf(schema: Json): string {
  return write(schema, AS_IT_STANDS);
}

/** Notation of the patch of a field: what its verbs take when they are written by hand. */
export function patchNotation(kind: FieldKind): string {
  return write(
    kind.modelSchema(),
    placeOf(
      kind,
      (inner) => inner,
      (answer) => answer,
    ),
  );
}

/** Most values of an enumeration that are written out. */
const VALUES_MAX = 12;

/** What is known about one place of a schema. */
type Place = {
  readonly isLeftOut: (key: string, schema: JsonObject) => boolean;
  readonly isFlag: (key: string) => boolean;
  readonly isWrapper: boolean;
  readonly isKeyed: boolean;
  property(key: string): Place;
  item(): Place;
};

const AS_IT_STANDS: Place = {
  isLeftOut: (key, schema) => !requiredOf(schema).has(key),
  isFlag: () => false,
  isWrapper: false,
  isKeyed: false,
  property: () => AS_IT_STANDS,
  item: () => AS_IT_STANDS,
};

/** A place inside the answers of a kind: `wrap` builds an answer around a value there, `read` finds it in the patch. */
function placeOf(kind: FieldKind, wrap: (inner: Json) => Json, read: (patch: Json | undefined) => Json | undefined): Place {
  const comesOut = (inner: Json): Json | undefined => read(kind.fromModel(wrap(inner)));
  const keyed = comesOut([{ key: PROBE, change: {} }]);
  const isKeyed = isJsonObject(keyed) && PROBE in keyed;
  const memberOf = (value: Json | undefined, key: string): Json | undefined => (isJsonObject(value) ? value[key] : undefined);
  return {
    isLeftOut: (key, schema) => memberOf(comesOut({ [key]: null }), key) === undefined || !requiredOf(schema).has(key),
    isFlag: (key) => memberOf(comesOut({ [key]: false }), key) === undefined,
    isWrapper: comesOut({ value: null }) === null,
    isKeyed,
    property: (key) =>
      placeOf(
        kind,
        (inner) => wrap({ [key]: inner }),
        (patch) => memberOf(read(patch), key),
      ),
    item: () =>
      isKeyed
        ? placeOf(
            kind,
            (inner) => wrap([{ key: PROBE, change: inner }]),
            (patch) => memberOf(read(patch), PROBE),
          )
        : placeOf(
            kind,
            (inner) => wrap([inner]),
            (patch) => itemOf(read(patch)),
          ),
  };
}

const PROBE = 'k';

function itemOf(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? (value as readonly Json[])[0] : undefined;
}

function write(schema: Json, place: Place): string {
  if (!isJsonObject(schema)) return 'any value';
  if ('const' in schema) return canonical(schema['const'] as Json);
  if (Array.isArray(schema['enum'])) return writeValues(schema['enum'] as readonly Json[]);
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return (choices as readonly Json[]).map((choice) => write(choice, place)).join(' | ');
  switch (schema['type']) {
    case 'object':
      return writeObject(schema, place);
    case 'array':
      return writeArray(schema, place);
    case 'string':
      return `string${rangeOf(schema['minLength'], schema['maxLength'], ' of ', ' characters')}${typeof schema['pattern'] === 'string' ? ` like /${schema['pattern']}/` : ''}`;
    case 'integer':
    case 'number':
      return `${schema['type']}${rangeOf(modest(schema['minimum']), modest(schema['maximum']), ' ', '')}`;
    default:
      return typeof schema['type'] === 'string' ? schema['type'] : 'any value';
  }
}

function writeObject(schema: JsonObject, place: Place): string {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const keys = Object.keys(properties);
  if (place.isWrapper && keys.length === 1 && keys[0] === 'value') return write(properties['value'] as Json, AS_IT_STANDS);
  const members = keys.map((key) => {
    const isLeftOut = place.isLeftOut(key, schema);
    const child = properties[key] as Json;
    const shown = isLeftOut && acceptsNull(child) ? withoutNull(child) : child;
    const isFlag = isJsonObject(shown) && shown['type'] === 'boolean' && place.isFlag(key);
    return `${JSON.stringify(key)}${isLeftOut ? '?' : ''}: ${isFlag ? 'true' : write(shown, place.property(key))}`;
  });
  return `{${members.join(', ')}}`;
}

function writeArray(schema: JsonObject, place: Place): string {
  const items = schema['items'] ?? {};
  const keyed = place.isKeyed && isJsonObject(items) && isJsonObject(items['properties']) ? items['properties'] : undefined;
  if (keyed !== undefined) return `{<${write(keyed['key'] ?? {}, AS_IT_STANDS)}>: ${write(keyed['change'] ?? {}, place.item())}}`;
  const count = rangeOf(schema['minItems'], schema['maxItems'], ' ', ' items');
  return `[${write(items, place.item())}, ...]${count}`;
}

function writeValues(values: readonly Json[]): string {
  const shown = values.slice(0, VALUES_MAX).map((value) => canonical(value));
  return values.length > VALUES_MAX ? `${shown.join(' | ')} | ... (${values.length} values)` : shown.join(' | ');
}

function withoutNull(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const key = Array.isArray(schema['anyOf']) ? 'anyOf' : 'oneOf';
  const choices = schema[key];
  if (!Array.isArray(choices)) return schema;
  const rest = (choices as readonly Json[]).filter((choice) => !(isJsonObject(choice) && choice['type'] === 'null'));
  return rest.length === 1 ? (rest[0] as Json) : { ...schema, [key]: rest };
}

function rangeOf(lo: Json | undefined, hi: Json | undefined, before: string, after: string): string {
  if (typeof lo === 'number' && lo > 0 && typeof hi === 'number') return `${before}${lo} to ${hi}${after}`;
  if (typeof hi === 'number')
    return typeof lo === 'number' && after === '' ? `${before}${lo} to ${hi}` : `${before}up to ${hi}${after}`;
  return typeof lo === 'number' && lo !== 0 ? `${before}from ${lo}${after}` : '';
}

function modest(value: Json | undefined): Json | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}
