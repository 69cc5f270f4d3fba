import { expect, test } from 'vitest';
import { modelFromName } from './model-name.ts';

const ENVIRONMENT = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };

test.each(['openai:gpt-5-mini', 'openai:llama3.2:3b', 'openai:org/model@rev', 'openai:openai:x'])(
  '[OAI13] %s is a model',
  (name) => {
    expect(modelFromName(name, { environment: ENVIRONMENT }).id).toBe(name);
  },
);

test.each([
  ['opnai:gpt-5', 'Did you mean openai:gpt-5?'],
  ['OpenAI:gpt-5', 'Did you mean openai:gpt-5?'],
  ['openai/gpt-5', 'Did you mean openai:gpt-5?'],
  ['gpt-5-mini', 'Did you mean openai:gpt-5-mini?'],
  ['llama3:8b', 'Write openai:<name>.'],
  ['openai:', 'Write openai:<name>.'],
  ['openai', 'Write openai:<name>.'],
  ['', 'Write openai:<name>.'],
])('[OAI13] %j is told how to spell it', (name, suggestion) => {
  expect(() => modelFromName(name, { environment: ENVIRONMENT })).toThrow(
    expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining(suggestion) }),
  );
});

test('[OAI13] a missing key is the error of the model, not of its name', () => {
  expect(() => modelFromName('openai:gpt-5', { environment: {} })).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('no API key') }),
  );
});
