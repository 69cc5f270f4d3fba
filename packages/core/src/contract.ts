/**
 * A state definition as a contract that other languages can read: JSON Schema of the state, with the merge rule of each field
 * beside it (`x-merge`), and the way back.
 *
 * What is data travels: types, caps, rules of merging, roles, horizon. What is code does not: the checks of invariants, the
 * functions of `derived` and `reduce`. A contract names them, and whoever reads it back hands them in again. The digest in it
 * says whether what was read back is the same definition. SPEC: XCT1-XCT5.
 */
import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import { kindOfDeclaration, ownOf, sound } from './contract-kinds.ts';
import type { ContractCode } from './contract-kinds.ts';
import { OplusError } from './error.ts';
import { declared } from './field-kind.ts';
import type { Field, FieldKind } from './field-kind.ts';
import type { Role, Rule, StateDefinition, StateSchema } from './state-schema.ts';
import { loadState } from './state-schema.ts';
import { strictSubset } from './strict-subset.ts';
import type { JsonSchema } from './value-type.ts';

type Fields = { readonly [name: string]: Field };

/** JSON Schema (2020-12) of the state as `stateJson` gives it, with `x-merge` at every field and `x-state` at the top. */
export function contractOf(schema: StateSchema): JsonObject {
  const { name, version, names, kinds, rules, protections, roles, horizon, agentsMax, digest } = schema;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    ...objectOf(names, (i) => ({
      ...(kinds[i] as FieldKind).valueSchema(),
      ...(kinds[i]?.meta?.doc === undefined ? {} : { description: kinds[i].meta.doc }),
      'x-merge': declared(kinds[i] as FieldKind),
    })),
    'x-state': {
      name,
      version,
      roles: Object.fromEntries([...roles].map(([role, of]) => [role, { ...of }])),
      rules: [...rules, ...protections.values()].map((rule) => ({
        sort: rule.sort,
        name: rule.name,
        reads: rule.reads.map((index) => names[index] as string),
      })),
      horizon,
      agentsMax,
      digest,
    },
  };
}

/** JSON Schema of a patch, in the strict subset of model servers: of all fields, or of those that a role may write. */
export function patchSchemaOf(schema: StateSchema, role?: string): JsonSchema {
  const writable = schema.kinds.flatMap((kind, i) => (mayWrite(kind, role) ? [i] : []));
  return objectOf(
    writable.map((i) => schema.names[i] as string),
    (at) => ({ anyOf: [strictSubset((schema.kinds[writable[at] as number] as FieldKind).modelSchema()), { type: 'null' }] }),
  );
}

/** JSON Schema of the state in the strict subset: keys that agents choose become lists of `{ key, value }` (`strictValue`). */
export function strictStateSchemaOf(schema: StateSchema): JsonSchema {
  return objectOf(schema.names, (i) => strictSubset((schema.kinds[i] as FieldKind).valueSchema()));
}

/**
 * The definition behind a contract. `code` gives what a contract cannot hold: the checks by name of their rule, the functions
 * by path of their field. Throws `SCHEMA_INVALID` at what is no contract, at what is missing, and when the digest shows that
 * something else came out.
 */
export function stateFromContract(contract: Json, sha256: StateSchema['sha256'], code: ContractCode = {}): StateSchema {
  const { properties, 'x-state': head } = isJsonObject(contract) ? contract : {};
  if (!isJsonObject(properties ?? null) || !isJsonObject(head ?? null)) throw invalid('', 'it is no contract of a state');
  const fields: { [name: string]: Field } = {};
  for (const [name, property] of Object.entries(properties as JsonObject)) {
    const declaration = isJsonObject(property) ? property['x-merge'] : undefined;
    if (declaration === undefined) throw invalid(`/properties/${name}`, `${name} has no x-merge`);
    const doc = (property as JsonObject)['description'];
    fields[name] = kindOfDeclaration(declaration, `/properties/${name}/x-merge`, name, { code, doc });
  }
  const { name, version, roles, rules, horizon, agentsMax, digest } = head as JsonObject;
  const definition = {
    name,
    version,
    fields,
    roles: roles as unknown as { readonly [role: string]: Role },
    ...rulesOf(rules, code),
    horizon,
    agentsMax,
  } as unknown as StateDefinition<Fields>;
  const schema = sound('', () => loadState(definition, sha256));
  if (schema.digest === digest) return schema;
  throw invalid('/x-state/digest', 'what the contract says gives another digest: it was changed, or made by another version');
}

function rulesOf(rules: Json | undefined, code: ContractCode): Partial<StateDefinition<Fields>> {
  const sorted: { [sort: string]: { [name: string]: Rule<Fields> } } = {};
  for (const [i, rule] of (Array.isArray(rules) ? (rules as readonly Json[]) : []).entries()) {
    const { sort, name, reads } = isJsonObject(rule) ? rule : {};
    const check = typeof name === 'string' ? ownOf(code.checks, name) : undefined;
    if (check === undefined) throw invalid(`/x-state/rules/${i}`, `the check of ${String(name)} is code: give it in checks`);
    const of = sort === 'protected' ? 'protections' : `${String(sort)}s`;
    (sorted[of] ??= {})[name as string] = { reads: reads as unknown as readonly string[], check };
  }
  return sorted as Partial<StateDefinition<Fields>>;
}

function mayWrite({ verbs, meta }: FieldKind, role: string | undefined): boolean {
  return verbs.length > 0 && (role === undefined || meta?.writers === undefined || meta.writers.includes(role));
}

function objectOf(names: readonly string[], schemaAt: (index: number) => JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name, i) => [name, schemaAt(i)])),
    required: names,
    additionalProperties: false,
  };
}

function invalid(path: string, message: string): OplusError {
  return new OplusError('SCHEMA_INVALID', `the contract: ${message}`, {
    path,
    hint: 'Make the contract again from the definition.',
  });
}
