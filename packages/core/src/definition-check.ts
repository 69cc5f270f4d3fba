/**
 * What is unsound in a state definition: all of it at once, each fault with its path.
 *
 * Fields, roles and rules are checked one by one, then what ties them together: a rule reads fields, a field names roles. What
 * rests on something that is unsound itself is left out, so that no fault is told twice. SPEC: SCH1-SCH4, SCH14, SCH15, SCH17.
 */
import { shapeFaults } from './definition-shape.ts';
import { TRUST_MAX } from './dot.ts';
import type { Fault } from './error.ts';
import { faultsIn, placedAt, soundKind } from './fault.ts';
import { partsOf, placesOf } from './field-kind.ts';
import type { FieldKind } from './field-kind.ts';
import { FIELD_NAME_HINT, isFieldName } from './field-name.ts';
import { canonical, pointer } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import type { Fields, Rule, StateDefinition } from './state-schema.ts';
import { readStrictJson } from './strict-json.ts';

/** The faults of a definition, and the part of it that can be compiled: all of it when there are none. */
export type Checked = { readonly faults: readonly Fault[]; readonly sound: StateDefinition };

/** Checks all but what only a compiled definition shows: whether it holds at the start. */
export function checkedDefinition(given: unknown): Checked {
  const definition = recordOf(given);
  const [fields, roles] = [recordOf(definition['fields']), recordOf(definition['roles'] ?? { agent: { priority: 0 } })];
  const names = Object.keys(fields).sort();
  const kinds = new Map(
    names.flatMap((name) => {
      const given = fields[name];
      return faultsIn(() => soundKind(given)).length === 0 ? [[name, given as FieldKind] as const] : [];
    }),
  );
  const faults = [
    ...shapeFaults(given),
    ...names.flatMap((name) => faultsOfField(name, fields[name], kinds.get(name))),
    ...Object.entries(roles).flatMap(([name, role]) => faultsOfRole(name, recordOf(role))),
    ...[...kinds].flatMap(([name, kind]) => [
      ...faultsOfComputed(name, kind, names, kinds),
      ...strangersIn(name, kind, Object.keys(roles)),
    ]),
    ...(names.length === 0 ? [] : RULE_SORTS).flatMap((sort) =>
      Object.entries(recordOf(definition[sort])).flatMap(([name, rule]) => faultsOfRule(sort, name, recordOf(rule), names)),
    ),
  ];
  return { faults, sound: faults.length === 0 ? (given as StateDefinition) : soundPart(definition, kinds, faults) };
}

type Parts = { readonly [name: string]: unknown };

const RULE_SORTS = ['invariants', 'transitions', 'protections'] as const;

/** The fields without faults, and the invariants that read only those: enough to see which of them fail at the start. */
function soundPart(definition: Parts, kinds: ReadonlyMap<string, FieldKind>, faults: readonly Fault[]): StateDefinition {
  const isSound = (place: string): boolean => !faults.some(({ path }) => path === place || path.startsWith(`${place}/`));
  const isThere = (name: string): boolean =>
    isSound(pointer('fields', name)) && (kinds.get(name)?.computed?.reads.every(isThere) ?? kinds.has(name));
  const rules = Object.entries(recordOf(definition['invariants'])) as [string, Rule<Fields>][];
  return {
    name: 'part',
    version: 1,
    fields: Object.fromEntries([...kinds].filter(([name]) => isThere(name))),
    invariants: Object.fromEntries(
      rules.filter(([name, rule]) => isSound(pointer('invariants', name)) && rule.reads.every(isThere)),
    ),
  };
}

function faultsOfField(name: string, given: unknown, kind: FieldKind | undefined): readonly Fault[] {
  const path = pointer('fields', name);
  return [
    ...(isFieldName(name) ? [] : [{ path, rule: `${name} cannot be the name of a field`, hint: FIELD_NAME_HINT }]),
    ...(kind === undefined
      ? faultsIn(() => placedAt(path, () => soundKind(given)))
      : [...misplacedIn(kind, path), ...unsendableIn(name, kind, path)]),
  ];
}

/** What stands below a field is neither computed nor counted. */
function misplacedIn(kind: FieldKind, path: string): readonly Fault[] {
  return placesOf(kind, path)
    .slice(1)
    .flatMap(([place, { computed, meta }]) => [
      ...(computed === undefined ? [] : [{ path: place, ...MISPLACED.derived }]),
      ...(meta?.eraseMax === undefined ? [] : [{ path: place, ...MISPLACED.eraseMax }]),
    ]);
}

const MISPLACED = {
  derived: { rule: 'a derived field stands below another field', hint: 'A derived field stands at the top of a state.' },
  eraseMax: {
    rule: 'an eraseMax stands below a field, where nothing counts',
    hint: 'Erasures are counted for a whole field: give eraseMax to the field, which counts what is below it too.',
  },
};

/** Why the gate would turn away what the declaration asks for: hidden text, odd keys, too much depth. Told where it is deepest. */
function unsendableIn(name: string, kind: FieldKind, path: string): readonly Fault[] {
  const below = partsOf(kind, path).flatMap(([place, part]) => unsendableIn(name, part, place));
  if (below.length > 0) return below;
  const sent = kind.samples().map((intent): Json => ({ patch: { [name]: intent } }));
  for (const value of [...textsIn(kind.declaration()), ...sent]) {
    const read = readStrictJson(canonical(value));
    if (!read.ok)
      return [{ path, rule: `nobody could write it: ${read.fault.message}`, hint: 'Use values that a message can carry.' }];
  }
  return [];
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value as JsonObject).flatMap(textsIn) : [];
}

function faultsOfComputed(
  name: string,
  { computed }: FieldKind,
  names: readonly string[],
  kinds: ReadonlyMap<string, FieldKind>,
): readonly Fault[] {
  const path = pointer('fields', name);
  if (computed?.reads.length === 0)
    return [{ path, rule: 'it is computed from nothing', hint: 'Name the fields that it reads in from.' }];
  return (computed?.reads ?? []).flatMap((read): readonly Fault[] => {
    if (!names.includes(read))
      return [{ path, rule: `it is computed from ${read}, which is no field`, hint: `The fields are ${names.join(', ')}.` }];
    if (kinds.get(read)?.computed === undefined) return [];
    const hint = 'Compute it from the fields behind that one.';
    return [{ path, rule: `it is computed from ${read}, which is derived itself`, hint }];
  });
}

/** The roles that a field and what is below it name and that are not declared, each at its place. */
function strangersIn(name: string, kind: FieldKind, roles: readonly string[]): readonly Fault[] {
  if (roles.length === 0) return [];
  return placesOf(kind, pointer('fields', name)).flatMap(([path, part]) =>
    [...new Set([...(part.meta?.writers ?? []), ...(part.roles ?? [])])]
      .filter((role) => !roles.includes(role))
      .map((role) => ({ path, rule: `no role is called ${role}`, hint: `The roles are ${roles.join(', ')}.` })),
  );
}

function faultsOfRole(name: string, { priority, trust = TRUST_MAX }: Parts): readonly Fault[] {
  const path = pointer('roles', name);
  const isRole = /^[a-z][a-z0-9-]{0,31}$/.test(name) && Number.isSafeInteger(priority);
  const isTrust = Number.isSafeInteger(trust) && (trust as number) >= 0 && (trust as number) <= TRUST_MAX;
  const role = { rule: `${name} is not a role with a whole priority`, hint: 'Use a small-letter name and { priority: 0 }.' };
  const worth = { rule: `the trust of ${name} is ${shown(trust)}`, hint: `Give a whole number from 0 to ${TRUST_MAX}.` };
  return [...(isRole ? [] : [{ path, ...role }]), ...(isTrust ? [] : [{ path, ...worth }])];
}

function faultsOfRule(
  sort: (typeof RULE_SORTS)[number],
  name: string,
  { check, reads }: Parts,
  names: readonly string[],
): readonly Fault[] {
  const path = pointer(sort, name);
  const fields = `The fields are ${names.join(', ')}.`;
  const read = Array.isArray(reads) ? (reads as readonly unknown[]) : [];
  return [
    ...(sort !== 'protections' || names.includes(name) ? [] : [{ path, rule: `no field is called ${name}`, hint: fields }]),
    ...(typeof check === 'function' ? [] : [{ path, rule: `${name} has no check`, hint: RULE_HINT }]),
    ...(read.length > 0 ? [] : [{ path, rule: `${name} reads no field`, hint: 'Declare the fields that the rule reads.' }]),
    ...read
      .filter((one) => !names.includes(one as string))
      .map((one) => ({ path, rule: `${name} reads ${shown(one)}, which is no field`, hint: fields })),
  ];
}

const RULE_HINT = 'A rule is { reads: [...], check: (context) => true | "what is wrong" }.';

function shown(value: unknown): string {
  return typeof value === 'object' || typeof value === 'function' ? `a value of type ${typeof value}` : String(value);
}

/** The object that was given, and an empty one for what is none: that it is none is told with the shape. */
function recordOf(given: unknown): Parts {
  return typeof given === 'object' && given !== null && !Array.isArray(given) ? (given as Parts) : {};
}
