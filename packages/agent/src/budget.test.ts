import type { Json } from '@oplus/core';
import { expect, test } from 'vitest';
import type { ModelRequest } from './model.ts';
import { messagesOf } from './model.ts';
import { readPrompt, sayDecision } from './scripted-model.ts';
import { boardSkill, cannedModel, rig } from './testing/index.ts';

const say = (patch: Json) => sayDecision({ patch: patch as never, action: null });
const seen = (request: ModelRequest | undefined) => readPrompt(messagesOf(request as ModelRequest, 'fenced'));

test('[TOK3] nothing is sent above the budget, and the error says where the tokens are', async () => {
  const model = cannedModel([say({})]);
  const { agent } = await rig(model, { skill: boardSkill({ tokensMax: 560 }) });
  await expect(agent.step('go')).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(
      /^the prompt of w1 has \d+ tokens, 560 are allowed: procedure \d+, state \d+, observation \d+$/,
    ),
  });
  expect(model.requests).toEqual([]);
});

test('[TOK4] a large observation reaches the model as an excerpt', async () => {
  const model = cannedModel([say({})]);
  const { agent, trace, blobs } = await rig(model);
  const flood = Array.from({ length: 9_000 }, (_, i) => `telemetry ${i}`).join('\n');
  await agent.step(flood);
  const [event] = trace.events;
  const artefact = event?.kind === 'attempt' ? event.observation.artefact : undefined;
  expect(blobs.text(artefact as string)).toBe(flood);
  expect(seen(model.requests[0]).observation).toContain(`kept as artefact ${artefact}`);
});

test('[TOK6] when the issues are too much, fewer are shown', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`unknown${i}`, { set: 'x' }]));
  const room = await rig(cannedModel([say(wrong), say({})]), { skill: boardSkill({ tokensMax: 4_000 }) });
  const plenty = (await room.agent.step('go')).attempts.map(({ tokens }) => tokens);
  const tokensMax = (plenty[0]?.total ?? 0) + 200;
  const model = cannedModel([say(wrong), say({})]);
  const tight = await rig(model, { skill: boardSkill({ tokensMax }) });
  const result = await tight.agent.step('go');
  expect(result.attempts.every(({ tokens }) => tokens.total <= tokensMax)).toBe(true);
  expect(plenty[1]?.total).toBeGreaterThan(tokensMax);
  expect(seen(model.requests[1]).issues.at(-1)).toHaveProperty('more');
});
