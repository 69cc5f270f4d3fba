/**
 * State definitions: one declaration per field, plus the rules that tie fields together; and their compiled form.
 *
 * A definition that is unsound does not load: a field without a cap, a rule that reads an unknown field, an invariant that
 * fails on the initial state. The digest of a schema covers all that gives a log its meaning; the code of rules is covered
 * by `version`, which the author raises when a rule changes. SPEC: SCH1-SCH6, SCH13.
 */
import { z } from 'zod';
import { checkedDefinition } from './definition-check.ts';
import { OplusError } from './error.ts';
import type { Fault } from './error.ts';
import { all, fault, fieldFrom, refuseFaults, soundKind } from './fault.ts';
import { declared } from './field-kind.ts';
import type { Field, FieldKind, FieldMeta, IntentOf, ViewOf } from './field-kind.ts';
import type { Json, Sha256 } from './json.ts';
import { canonical, clipped, compareText, pointer } from './json.ts';
import type { Computed } from './kinds/derived.ts';
import { checkOptions, NAMES } from './field-options.ts';
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

/** A field kind with a line for people and models, the roles that may write it, or a limit on erasures. */
export function field<V, I>(kind: Field<V, I>, meta: FieldMeta): Field<V, I> {
  return fieldFrom(() => {
    all(
      () => soundKind(kind),
      () =>
        checkOptions(
          'field',
          'Use field(kind, { doc, writers: ["role"], eraseMax: 1 }), each of the three if needed.',
          META,
          meta,
        ),
    );
    return { ...kind, meta };
  });
}

const META = z.object({ doc: z.string().optional(), writers: NAMES.optional(), eraseMax: z.int().min(0).optional() });

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

/** Compiles a definition. Throws `SCHEMA_INVALID` with all that is unsound: path, rule and hint of each fault. */
export function loadState<F extends Fields>(given: StateDefinition<F>, sha256: Sha256): StateSchema {
  const { faults, sound } = checkedDefinition(given);
  const schema = compiled(sound, sha256);
  refuseFaults([...faults, ...faultsAtStart(schema)]);
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

/** Of a definition without faults. */
function compiled(definition: StateDefinition, sha256: Sha256): StateSchema {
  const names = Object.keys(definition.fields).sort();
  const kinds = names.map((name) => definition.fields[name] as FieldKind);
  const indexOf = new Map(names.map((name, i) => [name, i]));
  const roles = new Map(Object.entries(definition.roles ?? { agent: { priority: 0 } }));
  const rules = [
    ...compileRules('invariant', definition.invariants ?? {}, indexOf),
    ...compileRules('transition', definition.transitions ?? {}, indexOf),
  ];
  const guards = (definition.protections ?? {}) as { readonly [field: string]: Rule<Fields> };
  const protections = new Map(compileRules('protected', guards, indexOf).map((rule) => [indexOf.get(rule.name) as number, rule]));
  const { horizon = 65_536, agentsMax = 1024 } = definition;
  const digest = sha256(
    canonical(declarationOf(definition, names, kinds, roles, [...rules, ...protections.values()], horizon, agentsMax)),
  );
  return {
    name: definition.name,
    version: definition.version,
    names,
    kinds,
    indexOf,
    rules,
    protections,
    computed: compileComputed(kinds, indexOf),
    roles,
    horizon,
    agentsMax,
    bytesMax: kinds.reduce((sum, kind, i) => sum + (names[i] as string).length + 4 + kind.bytesMax, 2),
    digest,
    id: digest.slice(0, 16),
    sha256,
  };
}

function compileComputed(kinds: readonly FieldKind[], indexOf: ReadonlyMap<string, number>): readonly CompiledComputation[] {
  return kinds.flatMap(({ computed }, index) =>
    computed === undefined ? [] : [{ index, reads: computed.reads.map((name) => indexOf.get(name) as number), computed }],
  );
}

function compileRules(
  sort: CompiledRule['sort'],
  rules: { readonly [name: string]: Rule<Fields> },
  indexOf: ReadonlyMap<string, number>,
): readonly CompiledRule[] {
  return Object.entries(rules)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, { reads, check }]) => ({
      name,
      sort,
      reads: reads.map((read) => indexOf.get(read) as number),
      undeclared: undeclaredBy(reads, indexOf),
      check: check as CompiledRule['check'],
    }));
}

/** A rule that read a field which it does not declare would not be asked when that field changes. */
function undeclaredBy(reads: readonly string[], indexOf: ReadonlyMap<string, number>): object {
  const others = [...indexOf.keys()].filter((name) => !reads.includes(name));
  const traps = others.map((name) => {
    const get = (): never => {
      throw fault(`it reads ${name}, which it does not declare`, `Add ${name} to its reads.`);
    };
    return [name, { get }] as const;
  });
  return Object.create(null, Object.fromEntries(traps)) as object;
}

/** What cannot be computed at the start, or else the invariants that do not hold there. */
function faultsAtStart(schema: StateSchema): readonly Fault[] {
  const cells = initialCells(schema);
  const { fault: wrong } = computeAfter(schema, cells, allFields(schema));
  if (wrong !== undefined) {
    const path = pointer('fields', schema.names[wrong.index] as string);
    return [{ path, rule: 'it cannot be computed on the initial state', hint: wrong.hint }];
  }
  return schema.rules.flatMap((rule) => (rule.sort === 'invariant' ? faultsOfInvariant(schema, cells, rule) : []));
}

function faultsOfInvariant(schema: StateSchema, cells: readonly unknown[], rule: CompiledRule): readonly Fault[] {
  const path = pointer('invariants', rule.name);
  const views = viewsOf(schema, cells, rule.reads, rule.undeclared);
  try {
    const answer = rule.check({ before: views, after: views, agent: '', role: '', touched: [] });
    if (isFine(answer)) return [];
    const said = typeof answer === 'string' ? `: ${answer}` : '';
    return [{ path, rule: `${rule.name} fails on the initial state${said}`, hint: 'Change the start values or the invariant.' }];
  } catch (cause) {
    const [undeclared] = cause instanceof OplusError ? (cause.faults ?? []) : [];
    if (undeclared !== undefined) return [{ ...undeclared, path, rule: `${rule.name}: ${undeclared.rule}` }];
    const said = cause instanceof Error ? `: ${clipped(cause.message, 160)}` : '';
    const hint = 'A rule answers on every state: true, a text, or a list of what is wrong.';
    return [{ path, rule: `${rule.name}: it throws on the initial state${said}`, hint }];
  }
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
