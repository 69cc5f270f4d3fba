/**
 * What a server with strict schemas would do, for tests: check that a schema is in the subset, and write answers that fit it.
 */
import { isJsonObject } from '@oplus/core';
import type { Json, JsonObject } from '@oplus/core';
import { sha256 } from '../digest.ts';

/** JSON Pointers of what is outside the strict subset; empty when all is inside. */
export function subsetFaults(schema: Json, path: string = ''): readonly string[] {
  if (!isJsonObject(schema)) return [path];
  const faults: string[] = Object.keys(schema).flatMap((key) => (KEYWORDS.has(key) ? [] : [`${path}/${key}`]));
  for (const key of ['minimum', 'maximum'])
    if (Math.abs(Number(schema[key] ?? 0)) >= Number.MAX_SAFE_INTEGER) faults.push(`${path}/${key}`);
  if (schema['type'] === 'object') {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    if (JSON.stringify(schema['required']) !== JSON.stringify(Object.keys(properties))) faults.push(`${path}/required`);
    if (schema['additionalProperties'] !== false) faults.push(`${path}/additionalProperties`);
    for (const [key, child] of Object.entries(properties)) faults.push(...subsetFaults(child, `${path}/properties/${key}`));
  }
  if (schema['items'] !== undefined) faults.push(...subsetFaults(schema['items'], `${path}/items`));
  if (Array.isArray(schema['anyOf']))
    for (const [i, choice] of (schema['anyOf'] as readonly Json[]).entries())
      faults.push(...subsetFaults(choice, `${path}/anyOf/${i}`));
  if (schema['type'] === undefined && schema['anyOf'] === undefined && schema['enum'] === undefined) faults.push(path);
  return faults;
}

/** An answer that fits a schema of the strict subset, drawn from a seed. */
export function instanceOf(schema: JsonObject, seed: number): Json {
  let drawn = 0;
  const draw = (below: number): number => {
    drawn += 1;
    return Number.parseInt(sha256(`${seed}/${drawn}`).slice(0, 8), 16) % below;
  };
  const write = (part: Json): Json => {
    if (!isJsonObject(part)) return null;
    if (Array.isArray(part['enum'])) return part['enum'][draw(part['enum'].length)] as Json;
    if (Array.isArray(part['anyOf'])) return write(part['anyOf'][draw(part['anyOf'].length)] as Json);
    switch (part['type']) {
      case 'object':
        return Object.fromEntries(Object.entries(part['properties'] as JsonObject).map(([key, child]) => [key, write(child)]));
      case 'array':
        return Array.from(
          { length: Math.max(Number(part['minItems'] ?? 0), draw(1 + Math.min(3, Number(part['maxItems'] ?? 3)))) },
          () => write(part['items'] ?? {}),
        );
      case 'string':
        return ['', 'a', 'b2', 'some words'][draw(4)] as string;
      case 'boolean':
        return draw(2) === 1;
      case 'integer':
      case 'number': {
        const lo = Number(part['minimum'] ?? -5);
        return lo + draw(Math.max(1, Math.min(10, Number(part['maximum'] ?? lo + 9) - lo + 1)));
      }
      default:
        return null;
    }
  };
  return write(schema);
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'type properties required additionalProperties items anyOf enum pattern description multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems'.split(
    ' ',
  ),
);
