/**
 * Values of a type, the simplest first: what explanations, checkers and laws try.
 *
 * An enumeration, not a generator: no seed, the same list on every platform, so the first counterexample that a checker meets
 * is also the smallest. Source: Runciman et al. 2008, "SmallCheck and Lazy SmallCheck". SPEC: SMP1-SMP3.
 */
import type { Json, JsonObject } from './json.ts';
import { canonical, isJsonObject } from './json.ts';
import type { JsonSchema, ValueType } from './value-type.ts';

/** Up to `count` different values of a JSON Schema as `valueType` makes them, the simplest first. O(count x size). */
export function samplesOf(schema: JsonSchema, count: number): readonly Json[] {
  return distinct(candidates(schema, count), count);
}

/** As `samplesOf`, of a type that may check more than its JSON Schema says: fewer values where most are not of it. */
export function samplesOfType(type: ValueType, count: number): readonly Json[] {
  return samplesOf(type.jsonSchema, count * SPARE)
    .filter((value) => type.fault(value) === undefined)
    .slice(0, count);
}

/** How many values a type has at most, `Infinity` when that is not worth counting. */
export function cardinalityOf(schema: JsonSchema): number {
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return (choices as readonly JsonSchema[]).reduce((sum, choice) => sum + cardinalityOf(choice), 0);
  if ('const' in schema) return 1;
  if (Array.isArray(schema['enum'])) return (schema['enum'] as readonly Json[]).length;
  switch (schema['type']) {
    case 'null':
      return 1;
    case 'boolean':
      return 2;
    case 'integer': {
      const { lo, hi } = rangeOf(schema);
      return Math.max(0, Math.floor(hi) - Math.ceil(lo) + 1);
    }
    case 'object': {
      const required = (schema['required'] ?? []) as readonly string[];
      return Object.entries((schema['properties'] ?? {}) as { readonly [key: string]: JsonSchema }).reduce(
        (product, [key, property]) => product * (cardinalityOf(property) + (required.includes(key) ? 0 : 1)),
        1,
      );
    }
    default:
      return Infinity;
  }
}

/** How many candidates are looked at for one value. */
const SPARE = 6;

const WHOLE: readonly number[] = [0, 1, 2, -1, 3, 5, 7, 10, -2, 4, 6, 8, 9, 100];
const FRACTIONS: readonly number[] = [0.1, 0.2, 0.7, 0.5];
const TEXTS: readonly string[] = ['a', 'b', 'ab', 'c', '', 'ba', 'x1', 'a-b', 'abc'];

function candidates(schema: JsonSchema, count: number): readonly Json[] {
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return interleaved((choices as readonly JsonSchema[]).map((choice) => samplesOf(choice, count)));
  if ('const' in schema) return [schema['const'] as Json];
  if (Array.isArray(schema['enum'])) return schema['enum'] as readonly Json[];
  switch (schema['type']) {
    case 'null':
      return [null];
    case 'boolean':
      return [true, false];
    case 'integer':
      return numbersOf(schema, WHOLE, count);
    case 'number':
      return numbersOf(schema, [0, ...FRACTIONS, ...WHOLE], count);
    case 'string':
      return textsOf(schema, count);
    case 'array':
      return listsOf(schema, count);
    case 'object':
      return objectsOf(schema, count);
    default:
      return [];
  }
}

function rangeOf(schema: JsonSchema): { readonly lo: number; readonly hi: number } {
  const step = schema['type'] === 'integer' ? 1 : Number.EPSILON;
  const above = schema['exclusiveMinimum'];
  const below = schema['exclusiveMaximum'];
  const lo = typeof above === 'number' ? above + step : ((schema['minimum'] ?? -Infinity) as number);
  const hi = typeof below === 'number' ? below - step : ((schema['maximum'] ?? Infinity) as number);
  return { lo, hi };
}

function numbersOf(schema: JsonSchema, usual: readonly number[], count: number): readonly Json[] {
  const { lo, hi } = rangeOf(schema);
  const multiple = schema['multipleOf'];
  const near = Number.isFinite(lo) ? Array.from({ length: count }, (_, i) => Math.ceil(lo) + i) : [];
  return [...usual, ...near, hi]
    .map((value) => (typeof multiple === 'number' ? value * multiple : value))
    .filter((value) => value >= lo && value <= hi && (schema['type'] === 'number' || Number.isSafeInteger(value)));
}

function textsOf(schema: JsonSchema, count: number): readonly Json[] {
  const least = (schema['minLength'] ?? 0) as number;
  const most = (schema['maxLength'] ?? Infinity) as number;
  const patterns = patternsOf(schema);
  const numbered = Array.from({ length: count }, (_, i) => `v${i}`);
  const made = patterns.length === 0 ? [] : matchesOf(patterns[0] as string, count);
  return [...TEXTS, ...numbered, ...made]
    .map((text) => text.padEnd(Math.min(least, FILLED_MAX), 'a'))
    .filter((text) => text.length <= most && text.length >= least && patterns.every((one) => isMatch(one, text)));
}

function patternsOf(schema: JsonSchema): readonly string[] {
  const parts = Array.isArray(schema['allOf']) ? [schema, ...(schema['allOf'] as readonly JsonSchema[])] : [schema];
  return parts.map((part) => part['pattern']).filter((pattern) => typeof pattern === 'string');
}

const PIECE = /(\[(?:[^\]\\]|\\.)+\]|\\[dw.-]|[A-Za-z0-9_@:-])(?:\{(\d+)(?:,\d*)?\}|([?*+]))?/g;
/** How far a text or a list is filled up to the length that it must have. A type that wants more has no samples. */
const FILLED_MAX = 4096;
const ALPHABET = 'ab0A1-_.:@cdefghijklmnopqrstuvwxyz23456789BCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Also where a pattern has an escape that only the older reading of patterns knows, such as `\-`, or is too large to be tried. */
function isMatch(pattern: string, text: string): boolean {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags).test(text);
    } catch {
      continue;
    }
  }
  return false;
}

/** Texts that a pattern of the quick dialect matches: each piece by its first fitting characters, as often as it must. */
function matchesOf(pattern: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => {
    let text = '';
    for (const [, piece = '', least, sign] of pattern.slice(1, -1).matchAll(PIECE)) {
      const fitting = ALPHABET.split('').filter((char) => isMatch(`^${piece}$`, char));
      const times = least === undefined ? (sign === '?' || sign === '*' ? 0 : 1) : Math.min(Number(least), FILLED_MAX);
      text += (fitting[i % Math.max(1, fitting.length)] ?? '').repeat(times);
    }
    return text;
  });
}

function listsOf(schema: JsonSchema, count: number): readonly Json[] {
  const least = (schema['minItems'] ?? 0) as number;
  const most = (schema['maxItems'] ?? Infinity) as number;
  const items = isJsonObject(schema['items']) ? samplesOf(schema['items'], count) : [];
  const lists: (readonly Json[])[] = [[], ...items.map((item) => [item])];
  for (const [i, item] of items.entries()) lists.push([item, items[(i + 1) % items.length] as Json]);
  const [first] = items;
  return lists
    .map((list) =>
      list.length < least && first !== undefined
        ? [...list, ...Array<Json>(Math.min(least, FILLED_MAX) - list.length).fill(first)]
        : list,
    )
    .filter((list) => list.length <= most && list.length >= least);
}

/** One property moves at a time away from its simplest value, then all together. */
function objectsOf(schema: JsonSchema, count: number): readonly Json[] {
  const properties = Object.entries((schema['properties'] ?? {}) as { readonly [key: string]: JsonSchema });
  const values = properties.map(([key, property]) => [key, samplesOf(property, count)] as const);
  if (values.some(([, samples]) => samples.length === 0)) return [];
  const at = (pick: (index: number) => number): JsonObject =>
    Object.fromEntries(values.map(([key, samples], index) => [key, samples[pick(index) % samples.length] as Json]));
  const objects = [at(() => 0)];
  for (let step = 1; step < count; step += 1) {
    for (const moved of values.keys()) objects.push(at((index) => (index === moved ? step : 0)));
    objects.push(at(() => step));
  }
  return objects;
}

function interleaved(lists: readonly (readonly Json[])[]): readonly Json[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => (i < list.length ? [list[i] as Json] : []))).flat();
}

function distinct(values: readonly Json[], count: number): readonly Json[] {
  const seen = new Set<string>();
  const kept: Json[] = [];
  for (const value of values) {
    const text = canonical(value);
    if (seen.has(text)) continue;
    seen.add(text);
    kept.push(value);
    if (kept.length === count) break;
  }
  return kept;
}
