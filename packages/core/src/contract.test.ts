import { expect, test } from 'vitest';
import { z } from 'zod';
import { patchSchemaOf } from './contract.ts';
import { counter } from './kinds/counter.ts';
import { derived } from './kinds/derived.ts';
import { cas } from './kinds/register.ts';
import { field } from './state-schema.ts';
import { smallTeam } from './testing/index.ts';

test('[STS1] the schema of a patch has the fields that a role may write, each or null, and none that is computed', () => {
  const done = counter();
  const { schema } = smallTeam({
    fields: {
      done,
      half: derived(z.int().min(-9).max(9), { from: { done }, compute: () => 1 }),
      title: field(cas(z.string().max(9)), { writers: ['lead'] }),
    },
    roles: { lead: { priority: 1 }, agent: { priority: 0 } },
  });
  const whole = patchSchemaOf(schema);
  expect(whole).toMatchObject({ type: 'object', required: ['done', 'title'], additionalProperties: false });
  expect(patchSchemaOf(schema, 'lead')).toEqual(whole);
  const own = patchSchemaOf(schema, 'agent');
  expect(own).toMatchObject({ type: 'object', required: ['done'], additionalProperties: false });
  expect(own['properties']).toEqual({ done: { anyOf: [expect.objectContaining({ type: 'object' }), { type: 'null' }] } });
});
