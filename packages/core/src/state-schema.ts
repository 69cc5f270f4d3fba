/**
 * State definitions: one declaration per field, plus the rules that tie fields together; and their compiled form.
 *
 * A definition that is unsound does not load: a field without a cap, a rule that reads an unknown field, an invariant that
 * fails on the initial state. The digest of a schema covers all that gives a log its meaning; the code of rules is covered
 * by `version`, which the author raises when a rule changes. SPEC: SCH1-SCH6, SCH13.
 */
import { TRUST_MAX } from './dot.ts';
import { checkShape } from './definition-shape.ts';
import { OplusError } from './error.ts';
import { declared, rolesOf } from './field-kind.ts';
import type { Field, FieldKind, FieldMeta, IntentOf, ViewOf } from './field-kind.ts';
import type { Json, JsonObject, Sha256 } from './json.ts';
import { canonical } from './json.ts';
import type { Computed } from './kinds/derived.ts';
import { FIELD_NAME_HINT, isFieldName } from './field-name.ts';
import { readStrictJson } from './strict-json.ts';
import { allFields, computeAfter, initialCells, viewsOf } from './views.ts';

export type Fields = { readonly [name: string]: Field };

/** What rules and programs read: the view of every field. */
export type Views<F extends Fields> = { readonly [K in keyof F]: ViewOf<F[K]> };

/** What a patch of this definition may ask for: `const patch: PatchOf<typeof todo.fields> = { ... }`. */
export type PatchOf<F extends Fields> = { readonly [K in keyof F]?: IntentOf<F[K]> };

/** What a rule may say: `true` or an empty list when all is well, one sentence, or several with their paths. */
export type RuleAnswer =
  | true
  | string
  | readonly { readonly path: string; readonly hint: string; readonly have?: Json; readonly want?: Json }[];

/** `touched` holds the JSON Pointers of the fields, and of the keys and rows in them, that this proposal changes. */
export type RuleContext<V> = {
  readonly before: V;
  readonly after: V;
  readonly agent: string;
  readonly role: string;
  readonly touched: readonly string[];
};

/**
 * A pure function over the fields it declares to read; it sees no others. Values are frozen, and the objects that hold them
 * are made for this one call, so nothing that a rule does reaches the state. A rule that throws refuses the proposal.
 */
export type Rule<F extends Fields> = {
  readonly reads: readonly (keyof F & string)[];
  readonly check: (context: RuleContext<Views<F>>) => RuleAnswer;
};

/**
 * A role's `priority` breaks ties: higher wins, and is admitted earlier. `trust` (0 to 100; 100 when left out) is written into
 * the provenance of all that its agents change.
 */
export type Role = { readonly priority: number; readonly trust?: number };

export type StateDefinition<F extends Fields = Fields> = {
  readonly name: string;
  readonly version: number;
  readonly fields: F;
  /** Roles by name; `{ agent: { priority: 0 } }` when left out. */
  readonly roles?: { readonly [role: string]: Role };
  /** Must hold at every revision, the initial state included. */
  readonly invariants?: { readonly [name: string]: Rule<F> };
  /** Must hold between the state before and after every proposal. */
  readonly transitions?: { readonly [name: string]: Rule<F> };
  /** By field, what must hold for a patch that erases something in it: an `unset`, a `drop`, a `remove`. */
  readonly protections?: { readonly [field in keyof F]?: Rule<F> };
  /** How many revisions a base may lie back; 65,536 when left out. */
  readonly horizon?: number;
  /** Most agents that may ever join; 1,024 when left out. */
  readonly agentsMax?: number;
};

/** Only names the definition's type; loading checks it. */
export function defineState<const F extends Fields>(definition: StateDefinition<F>): StateDefinition<F> {
  return definition;
}

/** A field kind with a line for people and models, the roles that may write it, or a limit on erasures. Throws `SCHEMA_INVALID`. */
export function field<V, I>(kind: Field<V, I>, meta: FieldMeta): Field<V, I> {
  const { writers } = meta;
  if (writers !== undefined && (!Array.isArray(writers) || writers.length === 0))
    throw invalid('', 'writers is no list of roles', 'Name the roles that may write, or leave writers out for all.');
  return { ...kind, meta };
}

/** @internal A rule with its reads as indexes of fields. */
export type CompiledRule = {
  readonly name: string;
  readonly sort: 'invariant' | 'transition' | 'protected';
  readonly reads: readonly number[];
  /** What the views of the rule inherit: fields that it does not declare throw when they are read. */
  readonly undeclared: object;
  readonly check: (context: RuleContext<{ readonly [name: string]: unknown }>) => RuleAnswer;
};

/** @internal A computed field with its sources as indexes of fields. */
export type CompiledComputation = { readonly index: number; readonly reads: readonly number[]; readonly computed: Computed };

/** A definition, checked and ready. Fields stand in ascending order of their names. */
export type StateSchema = {
  readonly name: string;
  readonly version: number;
  readonly names: readonly string[];
  readonly kinds: readonly FieldKind[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly rules: readonly CompiledRule[];
  /** By index of the field, what its erasures must satisfy. */
  readonly protections: ReadonlyMap<number, CompiledRule>;
  /** The fields that are computed from others. */
  readonly computed: readonly CompiledComputation[];
  readonly roles: ReadonlyMap<string, Role>;
  readonly horizon: number;
  readonly agentsMax: number;
  /** Largest canonical text of the whole state as JSON, in UTF-8 bytes. */
  readonly bytesMax: number;
  /** SHA-256 of the declaration. */
  readonly digest: string;
  /** The first 16 hex digits of the digest: what travels with every proposal. */
  readonly id: string;
  readonly sha256: Sha256;
};

/** Compiles a definition. Throws `SCHEMA_INVALID` with the path of what is unsound and a hint. */
export function loadState<F extends Fields>(given: StateDefinition<F>, sha256: Sha256): StateSchema {
  checkShape(given);
  const definition = given as unknown as StateDefinition<Fields>;
  const names = Object.keys(definition.fields).sort();
  if (names.length === 0) throw invalid('', 'a state without fields', 'Declare at least one field.');
  const kinds = names.map((name) => checkedField(name, definition.fields[name]));
  const indexOf = new Map(names.map((name, i) => [name, i]));
  const roles = new Map(Object.entries(definition.roles ?? { agent: { priority: 0 } }));
  checkRoles(names, kinds, roles);
  const rules = [
    ...compileRules('invariant', definition.invariants ?? {}, indexOf),
    ...compileRules('transition', definition.transitions ?? {}, indexOf),
  ];
  const protections = new Map(
    compileRules('protected', protectionsOf(definition), indexOf).map((rule) => [indexOf.get(rule.name) as number, rule]),
  );
  const computed = compileComputed(names, kinds, indexOf);
  wholeNumber('/version', definition.version);
  const horizon = wholeNumber('/horizon', definition.horizon ?? 65_536);
  const agentsMax = wholeNumber('/agentsMax', definition.agentsMax ?? 1024);
  const digest = sha256(
    canonical(declarationOf(definition, names, kinds, roles, [...rules, ...protections.values()], horizon, agentsMax)),
  );
  const bytesMax = kinds.reduce((sum, kind, i) => sum + (names[i] as string).length + 4 + kind.bytesMax, 2);
  const schema: StateSchema = {
    name: definition.name,
    version: definition.version,
    names,
    kinds,
    indexOf,
    rules,
    protections,
    computed,
    roles,
    horizon,
    agentsMax,
    bytesMax,
    digest,
    id: digest.slice(0, 16),
    sha256,
  };
  checkStart(schema);
  return schema;
}

/** True when a rule found nothing wrong. */
export function isFine(answer: RuleAnswer): boolean {
  return answer === true || (Array.isArray(answer) && answer.length === 0);
}

/** True when the definition has a field whose overflow becomes artefacts: somebody must store them. */
export function hasSpills(schema: StateSchema): boolean {
  const spills = (kind: FieldKind): boolean => kind.spills === true || Object.values(kind.parts ?? {}).some(spills);
  return schema.kinds.some(spills);
}

function invalid(path: string, message: string, hint: string, cause?: unknown): OplusError {
  return new OplusError('SCHEMA_INVALID', message, { path, hint, cause });
}

function checkedField(name: string, kind: FieldKind | undefined): FieldKind {
  if (!isFieldName(name)) throw invalid(`/fields/${name}`, `${name} cannot be the name of a field`, FIELD_NAME_HINT);
  if (typeof kind?.fold !== 'function' || !Number.isFinite(kind.bytesMax)) {
    throw invalid(
      `/fields/${name}`,
      `${name} is not a field kind with a cap`,
      'Use the kinds of this package: cas(type), counter(), set(type, { cap }), ...',
    );
  }
  const unsendable = unsendableIn(name, kind);
  if (unsendable !== undefined)
    throw invalid(`/fields/${name}`, `nobody could write ${name}: ${unsendable}`, 'Use values that a message can carry.');
  if (Object.values(kind.parts ?? {}).some(holdsComputed))
    throw invalid(`/fields/${name}`, `${name} holds a derived field below it`, 'A derived field stands at the top of a state.');
  if (Object.values(kind.parts ?? {}).some(limitsErasures))
    throw invalid(
      `/fields/${name}`,
      `${name} has an eraseMax below it, where nothing counts`,
      'Erasures are counted for a whole field: give eraseMax to the field, which counts what is below it too.',
    );
  const { eraseMax } = kind.meta ?? {};
  if (eraseMax !== undefined && (!Number.isSafeInteger(eraseMax) || eraseMax < 0))
    throw invalid(
      `/fields/${name}`,
      `${name} has no whole eraseMax`,
      'Give how many things one patch may erase: { eraseMax: 1 }.',
    );
  return kind;
}

/** Why the gate would turn away what the declaration asks for: hidden text, odd keys, too much depth. */
function unsendableIn(name: string, kind: FieldKind): string | undefined {
  const sent = kind.samples().map((intent): Json => ({ patch: { [name]: intent } }));
  for (const value of [...textsIn(kind.declaration()), ...sent]) {
    const read = readStrictJson(canonical(value));
    if (!read.ok) return read.fault.message;
  }
  return undefined;
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value as JsonObject).flatMap(textsIn) : [];
}

function holdsComputed(kind: FieldKind): boolean {
  return kind.computed !== undefined || Object.values(kind.parts ?? {}).some(holdsComputed);
}

function limitsErasures(kind: FieldKind): boolean {
  return kind.meta?.eraseMax !== undefined || Object.values(kind.parts ?? {}).some(limitsErasures);
}

function protectionsOf(definition: StateDefinition<Fields>): { readonly [name: string]: Rule<Fields> } {
  const protections = definition.protections ?? {};
  for (const name of Object.keys(protections)) {
    if (Object.hasOwn(definition.fields, name)) continue;
    throw invalid(
      `/protections/${name}`,
      `no field is called ${name}`,
      `The fields are ${Object.keys(definition.fields).join(', ')}.`,
    );
  }
  return protections as { readonly [name: string]: Rule<Fields> };
}

function compileComputed(
  names: readonly string[],
  kinds: readonly FieldKind[],
  indexOf: ReadonlyMap<string, number>,
): readonly CompiledComputation[] {
  return kinds.flatMap((kind, index) => {
    const { computed } = kind;
    if (computed === undefined) return [];
    const path = `/fields/${names[index] as string}`;
    const reads = computed.reads.map((name) => {
      const read = indexOf.get(name);
      if (read === undefined)
        throw invalid(path, `it is computed from ${name}, which is no field`, `The fields are ${names.join(', ')}.`);
      if (kinds[read]?.computed !== undefined)
        throw invalid(
          path,
          `it is computed from ${name}, which is derived itself`,
          'Compute it from the fields behind that one.',
        );
      return read;
    });
    if (reads.length === 0) throw invalid(path, 'it is computed from nothing', 'Name the fields that it reads in from.');
    return [{ index, reads, computed }];
  });
}

function checkRoles(names: readonly string[], kinds: readonly FieldKind[], roles: ReadonlyMap<string, Role>): void {
  for (const [role, { priority, trust = TRUST_MAX }] of roles) {
    if (!Number.isSafeInteger(trust) || trust < 0 || trust > TRUST_MAX)
      throw invalid(`/roles/${role}`, `the trust of ${role} is ${trust}`, `Give a whole number from 0 to ${TRUST_MAX}.`);
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(role) || !Number.isSafeInteger(priority)) {
      throw invalid(
        `/roles/${role}`,
        `${role} is not a role with a whole priority`,
        'Use a small-letter name and { priority: 0 }.',
      );
    }
  }
  kinds.forEach((kind, i) => {
    const stranger = rolesOf(kind).find((role) => !roles.has(role));
    if (stranger !== undefined)
      throw invalid(
        `/fields/${names[i] ?? ''}`,
        `no role is called ${stranger}`,
        `The roles are ${[...roles.keys()].join(', ')}.`,
      );
  });
}

function compileRules(
  sort: CompiledRule['sort'],
  rules: { readonly [name: string]: Rule<Fields> },
  indexOf: ReadonlyMap<string, number>,
): readonly CompiledRule[] {
  return Object.keys(rules)
    .sort()
    .map((name) => {
      const rule = rules[name] as Rule<Fields>;
      const path = `/${sort === 'protected' ? 'protection' : sort}s/${name}`;
      if (typeof rule.check !== 'function')
        throw invalid(path, `${name} has no check`, 'A rule is { reads: [...], check: (context) => true | "what is wrong" }.');
      if (!Array.isArray(rule.reads) || rule.reads.length === 0)
        throw invalid(path, `${name} reads no field`, 'Declare the fields that the rule reads.');
      const reads = rule.reads.map((read) => {
        const index = indexOf.get(read);
        if (index === undefined)
          throw invalid(path, `${name} reads ${read}, which is no field`, `The fields are ${[...indexOf.keys()].join(', ')}.`);
        return index;
      });
      return { name, sort, reads, undeclared: undeclaredBy(rule.reads, indexOf), check: rule.check as CompiledRule['check'] };
    });
}

/** A rule that read a field which it does not declare would not be asked when that field changes. */
function undeclaredBy(reads: readonly string[], indexOf: ReadonlyMap<string, number>): object {
  const others = [...indexOf.keys()].filter((name) => !reads.includes(name));
  const traps = others.map((name) => {
    const get = (): never => {
      throw invalid('', `it reads ${name}, which it does not declare`, `Add ${name} to its reads.`);
    };
    return [name, { get }] as const;
  });
  return Object.create(null, Object.fromEntries(traps)) as object;
}

function checkStart(schema: StateSchema): void {
  const cells = initialCells(schema);
  const { fault } = computeAfter(schema, cells, allFields(schema));
  if (fault !== undefined)
    throw invalid(`/fields/${schema.names[fault.index] as string}`, 'it cannot be computed on the initial state', fault.hint);
  for (const rule of schema.rules) {
    if (rule.sort !== 'invariant') continue;
    const views = viewsOf(schema, cells, rule.reads, rule.undeclared);
    let answer: RuleAnswer;
    try {
      answer = rule.check({ before: views, after: views, agent: '', role: '', touched: [] });
    } catch (cause) {
      const { message, hint } =
        cause instanceof OplusError ? cause : { message: 'it throws on the initial state', hint: undefined };
      const fix = hint ?? 'A rule answers on every state: true, a text, or a list of what is wrong.';
      throw invalid(`/invariants/${rule.name}`, `${rule.name}: ${message}`, fix, cause);
    }
    if (!isFine(answer)) {
      throw invalid(
        `/invariants/${rule.name}`,
        `${rule.name} fails on the initial state${typeof answer === 'string' ? `: ${answer}` : ''}`,
        'Change the start values or the invariant.',
      );
    }
  }
}

function wholeNumber(path: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw invalid(path, `${path.slice(1)} is ${value}`, 'Give a whole number of at least 1.');
  return value;
}

function declarationOf(
  definition: StateDefinition<Fields>,
  names: readonly string[],
  kinds: readonly FieldKind[],
  roles: ReadonlyMap<string, Role>,
  rules: readonly CompiledRule[],
  horizon: number,
  agentsMax: number,
): Json {
  return {
    name: definition.name,
    version: definition.version,
    fields: Object.fromEntries(kinds.map((kind, i) => [names[i] as string, declared(kind)])),
    roles: Object.fromEntries(
      [...roles].map(([role, { priority, trust }]) => [role, trust === undefined ? priority : { priority, trust }]),
    ),
    rules: rules.map((rule) => [rule.sort, rule.name, rule.reads.map((index) => names[index] as string)]),
    horizon,
    agentsMax,
  };
}
