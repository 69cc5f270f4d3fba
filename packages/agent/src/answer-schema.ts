/**
 * JSON Schema of a whole answer, `{reasoning, patch, action}`, generated from a state definition and a skill's actions.
 */
import { strictSubset } from '@oplus/core';
import type { JsonObject, StateSchema } from '@oplus/core';
import type { Skill, SkillAction } from './skill.ts';

/**
 * The schema in the strict subset: every object closed, every key required, what may be left out nullable. Reasoning comes
 * first, so that a model that writes key by key thinks before it decides. Fields that the role may not write are left out.
 */
export function answerSchema(schema: StateSchema, skill: Pick<Skill, 'role' | 'actions'>): JsonObject {
  const writable = writableFields(schema, skill.role);
  return {
    type: 'object',
    properties: {
      reasoning: { type: 'string' },
      patch: {
        type: 'object',
        properties: Object.fromEntries(
          writable.map((index) => [
            schema.names[index] as string,
            orNull(strictSubset(schema.kinds[index]?.modelSchema() ?? {})),
          ]),
        ),
        required: writable.map((index) => schema.names[index] as string),
        additionalProperties: false,
      },
      action: { anyOf: [...Object.entries(skill.actions).map(([name, action]) => actionSchema(name, action)), { type: 'null' }] },
    },
    required: ['reasoning', 'patch', 'action'],
    additionalProperties: false,
  };
}

/** Indexes of the fields that a role may write. */
export function writableFields(schema: StateSchema, role: string): readonly number[] {
  return schema.kinds.flatMap((kind, index) =>
    kind.meta?.writers === undefined || kind.meta.writers.includes(role) ? [index] : [],
  );
}

function actionSchema(name: string, action: SkillAction): JsonObject {
  return {
    type: 'object',
    properties: { name: { type: 'string', enum: [name] }, args: strictSubset(action.argsSchema) },
    required: ['name', 'args'],
    additionalProperties: false,
  };
}

function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] };
}
