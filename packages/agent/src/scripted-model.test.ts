import { stateJson } from '@oplus/core';
import { expect, test } from 'vitest';
import { scriptedModel } from './scripted-model.ts';
import { rig } from './testing/index.ts';

test('[SCR1] the scripted model decides from the text of its prompt alone', async () => {
  const percepts: unknown[] = [];
  const model = scriptedModel((percept) => (percepts.push(percept), { patch: {}, action: null }));
  const request = {
    procedure: 'P',
    format: { fenced: 'F', object: '', strict: '' },
    answerSchema: {},
    state: 'lead\n--- begin state 0123456789abcdef ---\n{"done":3}\n--- end state 0123456789abcdef ---',
    observation: 'lead\n--- begin observation 0123456789abcdef ---\ntwo\nlines\n--- end observation 0123456789abcdef ---',
    issues: 'lead\n--- begin issues 0123456789abcdef ---\n{"code":"held"}\n{"more":2}\n--- end issues 0123456789abcdef ---',
  };
  expect(await model.complete(request)).toEqual(await model.complete({ ...request }));
  expect(percepts).toEqual(
    Array.from({ length: 2 }, () => ({
      procedure: 'P\n\nF',
      state: { done: 3 },
      observation: 'two\nlines',
      issues: [{ code: 'held' }, { more: 2 }],
    })),
  );
});

test('[SCR2] its answers are read like those of any model', async () => {
  const { agent, team } = await rig(
    scriptedModel(() => ({
      reasoning: 'text\n```\nwith a block\n```',
      patch: { tags: { add: ['```'] } },
      action: null,
      why: 'because',
    })),
  );
  expect(await agent.step('go')).toMatchObject({ outcome: 'committed' });
  expect(stateJson(team.space())['tags']).toEqual(['```']);
});

test('[SCR3] a prompt without its blocks is an error', async () => {
  const model = scriptedModel(() => ({ patch: {}, action: null }));
  const request = {
    procedure: '',
    format: { fenced: '', object: '', strict: '' },
    answerSchema: {},
    state: '{"done":1}',
    observation: 'x',
    issues: '',
  };
  await expect(model.complete(request)).rejects.toMatchObject({ code: 'INVARIANT' });
});
