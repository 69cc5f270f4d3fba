/**
 * Skills: what an agent follows (the procedure), what it sees (a projection of the state), what it may do (actions) and how
 * large its prompt may be. Immutable for a run; the digest of the procedure stands in every line of the trace.
 */
import type { Fields, Json, JsonObject, Projection, Reader, StateDefinition } from '@oplus/core';
import { isJsonObject, OplusError } from '@oplus/core';
import { z } from 'zod';
import type { SkillFile } from './skill-file.ts';

/** What an agent may do in the world. `premises` names the fields (JSON Pointers) on which the action relies without writing them. */
export type ActionDefinition = {
  readonly description: string;
  /** A closed object: `z.strictObject({...})`. */
  readonly args: z.ZodType;
  readonly premises?: (args: JsonObject, reader: Omit<Reader, 'focus'>) => readonly string[];
};

/** An action with the JSON Schema of its arguments. */
export type SkillAction = ActionDefinition & { readonly argsSchema: JsonObject };

/** What one role of a team follows. */
export type Skill = {
  readonly name: string;
  readonly description: string;
  /** Body of the `SKILL.md`. */
  readonly procedure: string;
  readonly procedureDigest: string;
  readonly state: StateDefinition;
  readonly role: string;
  /** The whole state when left out. */
  readonly projection?: Projection;
  readonly actions: { readonly [name: string]: SkillAction };
  /** C: most tokens of one prompt, procedure, view, observation and issues together. */
  readonly tokensMax: number;
  /** Most tokens of one observation; what is larger becomes an artefact with an excerpt. */
  readonly observationTokensMax: number;
};

/** `observationTokensMax` is a quarter of `tokensMax` when left out. */
export type SkillDefinition<F extends Fields> = {
  readonly file: SkillFile;
  readonly state: StateDefinition<F>;
  readonly role: string;
  readonly projection?: Projection<F>;
  readonly actions?: { readonly [name: string]: ActionDefinition };
  readonly tokensMax: number;
  readonly observationTokensMax?: number;
};

/** Checks and joins a skill's file and its code. Throws `SCHEMA_INVALID` for a role that the state has not, for arguments that are no closed object, and for budgets that are no whole numbers. */
export function defineSkill<const F extends Fields>(definition: SkillDefinition<F>): Skill {
  const { file, state, role, projection, tokensMax } = definition;
  const roles = Object.keys(state.roles ?? { agent: {} });
  if (!roles.includes(role))
    throw invalid('/role', `the state ${state.name} has no role ${role}`, `Its roles are ${roles.join(', ')}.`);
  const observationTokensMax = definition.observationTokensMax ?? Math.floor(tokensMax / 4);
  checkBudget('tokensMax', tokensMax, TOKENS_MIN);
  checkBudget('observationTokensMax', observationTokensMax, OBSERVATION_TOKENS_MIN);
  const actions = Object.entries(definition.actions ?? {}).map(([name, action]) => [name, compile(name, action)] as const);
  return {
    name: file.name,
    description: file.description,
    procedure: file.procedure,
    procedureDigest: file.procedureDigest,
    state: state as unknown as StateDefinition,
    role,
    ...(projection === undefined ? {} : { projection: projection as unknown as Projection }),
    actions: Object.fromEntries(actions),
    tokensMax,
    observationTokensMax,
  };
}

const TOKENS_MIN = 256;
const OBSERVATION_TOKENS_MIN = 64;
const ACTION_PATTERN = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

function compile(name: string, action: ActionDefinition): SkillAction {
  const path = `/actions/${name}`;
  if (!ACTION_PATTERN.test(name))
    throw invalid(
      path,
      `${name} cannot be the name of an action`,
      'Use up to 64 letters, digits, - and _, beginning with a letter.',
    );
  let argsSchema: JsonObject;
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(action.args, { io: 'input', reused: 'inline', cycles: 'throw' });
    argsSchema = schema as JsonObject;
  } catch (cause) {
    throw invalid(
      path,
      `the arguments of ${name} have no JSON form`,
      'Use plain values: no dates, maps or recursive types.',
      cause,
    );
  }
  const open = openObject(argsSchema, path);
  if (argsSchema['type'] !== 'object' || open !== undefined) {
    throw invalid(
      open ?? path,
      `the arguments of ${name} are not a closed object`,
      'Use z.strictObject({...}), in nested objects too.',
    );
  }
  return { ...action, argsSchema };
}

/** Path of the first object inside that accepts keys it does not name. */
function openObject(schema: Json, path: string): string | undefined {
  if (Array.isArray(schema)) {
    for (const [i, item] of (schema as readonly Json[]).entries()) {
      const found = openObject(item, `${path}/${i}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isJsonObject(schema)) return undefined;
  if (schema['type'] === 'object' && schema['additionalProperties'] !== false) return path;
  const below: readonly (readonly [string, Json | undefined])[] = [
    ...(isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : []),
    ...['items', 'anyOf', 'oneOf', 'allOf', 'prefixItems'].map((key) => [key, schema[key]] as const),
  ];
  for (const [key, child] of below) {
    const found = child === undefined ? undefined : openObject(child, `${path}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkBudget(name: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw invalid(`/${name}`, `${name} is ${value}`, `Give a whole number of tokens, at least ${min}.`);
}

function invalid(path: string, message: string, hint: string, cause?: unknown): OplusError {
  return new OplusError('SCHEMA_INVALID', message, { path, hint, cause });
}
