import { rig } from '@oplus/agent/testing';
import { readPrompt, sayDecision } from '@oplus/agent';
import { stateJson } from '@oplus/core';
import type { JsonObject } from '@oplus/core';
import { afterEach, expect, test } from 'vitest';
import { openaiModel } from './openai-model.ts';
import { completion, failure, mockServer } from './testing/mock-server.ts';
import type { MockReply, MockRequest, MockServer } from './testing/mock-server.ts';

const open: MockServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** A small mind behind the mock: files the card that it reads in the prompt, in the form in which it was asked. */
function fileCard({ body }: MockRequest): MockReply {
  const [system = '', user = ''] = body.messages.map(({ content }) => content);
  const { state, observation, issues } = readPrompt({ system, user });
  const text = `seen after ${state['done'] as number}`;
  const card = observation.replace('Card ', '');
  const column = issues.some((issue) => issue['path'] === '/action/args/column') ? 3 : 12;
  const cards = { at: { [card]: { set: text } } };
  const action = { name: 'move', args: { card, column } };
  if (body.response_format?.type === 'json_schema') {
    const at = [{ key: card, change: { set: text, unset: null } }];
    const patch = { title: null, tags: { add: null, remove: null }, lead: null, done: { inc: 1 }, cards: { at, drop: null } };
    return completion(
      JSON.stringify({ reasoning: 'new card', patch, action: { name: 'move', args: { card, column, note: null } } }),
    );
  }
  if (body.response_format?.type === 'json_object')
    return completion(JSON.stringify({ reasoning: 'new card', patch: { done: { inc: 1 }, cards }, action }));
  return completion(sayDecision({ patch: { done: { inc: 1 }, cards }, action }));
}

test.each(['strict', 'object', 'fenced'] as const)(
  '[OAI14] a step over a server in the form %s ends in a commit and its action',
  async (form) => {
    const takes = { strict: ['json_schema', 'json_object'], object: ['json_object'], fenced: [] }[form] as readonly (
      | string
      | undefined
    )[];
    const server = await mockServer((request, i) => {
      const type = request.body.response_format?.type;
      if (type !== undefined && !takes.includes(type)) return failure(400, 'response_format is not supported');
      return i % 5 === 4 ? failure(503, 'busy') : fileCard(request);
    });
    open.push(server);
    const model = openaiModel({ model: 'tiny', baseURL: server.baseURL, environment: {}, pause: async () => undefined });
    const { agent, team, acts, trace } = await rig(model);
    for (const card of ['a', 'b', 'c']) {
      const result = await agent.step(`Card ${card}`);
      expect(result.attempts.map(({ end }) => end.kind)).toEqual(['unreadable', 'committed']);
      expect(result).toMatchObject({ outcome: 'acted', result: { kind: 'done' } });
    }
    const { done, cards } = stateJson(team.space()) as { readonly done: number; readonly cards: JsonObject };
    expect([done, cards]).toEqual([3, { a: 'seen after 0', b: 'seen after 1', c: 'seen after 2' }]);
    expect(acts.map(({ action, key }) => [action.args, key])).toEqual(
      ['a', 'b', 'c'].map((card, i) => [{ card, column: 3 }, `test/w1/${i + 1}`]),
    );
    expect(trace.events.filter((event) => event.kind === 'attempt').map((event) => [event.model, event.answer.form])).toEqual(
      Array.from({ length: 6 }, () => ['openai:tiny', form]),
    );
  },
);

test('[OAI14] a model that only rambles stalls its step and breaks nothing', async () => {
  const server = await mockServer(() => completion('Let me think about that. {"patch": ', { finish: 'length' }));
  open.push(server);
  const { agent, team } = await rig(openaiModel({ model: 'tiny', baseURL: server.baseURL, environment: {} }));
  expect(await agent.step('Card a')).toMatchObject({
    outcome: 'stalled',
    issues: [{ code: 'not_json', hint: expect.stringContaining('cut off') }],
  });
  expect(server.requests).toHaveLength(5);
  expect(team.space().revision).toBe(1);
});
