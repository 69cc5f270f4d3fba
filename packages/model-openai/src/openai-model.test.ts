import { answerFormat, answerSchema, promptOf, sha256 } from '@oplus/agent';
import type { ModelRequest } from '@oplus/agent';
import { boardSkill, boardState, subsetFaults } from '@oplus/agent/testing';
import { loadState, OplusError } from '@oplus/core';
import type { Json } from '@oplus/core';
import { afterEach, expect, test } from 'vitest';
import { backoffMs, realPause } from './backoff.ts';
import { openaiModel } from './openai-model.ts';
import type { Notice, OpenaiOptions } from './openai-model.ts';
import { completion, failure, mockServer } from './testing/mock-server.ts';
import type { MockReply, MockRequest, MockServer } from './testing/mock-server.ts';

const KEY = 'sk-test-4711-very-secret';
const skill = boardSkill();
const board = loadState(boardState, sha256);
const request: ModelRequest = promptOf({
  agent: 'w1',
  procedure: skill.procedure,
  format: answerFormat(board, skill),
  answerSchema: answerSchema(board, skill),
  state: '{"done":3}',
  observation: 'Card arrived.',
  issues: [],
});
const GOOD = '{"reasoning":"r","patch":{},"action":null}';

const open: MockServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** A model on a mock server, with its notices and the pauses it asked for. */
async function modelOn(reply: (request: MockRequest, index: number) => MockReply, over: Partial<OpenaiOptions> = {}) {
  const server = await mockServer(reply);
  open.push(server);
  const notices: Notice[] = [];
  const pauses: number[] = [];
  const model = openaiModel({
    model: 'mock',
    baseURL: server.baseURL,
    apiKey: KEY,
    environment: {},
    pause: async (delayMs) => void pauses.push(delayMs),
    onNotice: (notice) => notices.push(notice),
    ...over,
  });
  return { model, server, notices, pauses };
}

async function errorOf(promise: Promise<unknown>): Promise<OplusError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OplusError);
  return error as OplusError;
}

test('[OAI1] the strict request carries the schema, the procedure and the data, and nothing else', async () => {
  const { model, server } = await modelOn(() => completion(GOOD));
  expect(model.id).toBe('openai:mock');
  expect(await model.complete(request)).toEqual({ text: GOOD, form: 'strict', finish: 'stop' });
  const [{ path, headers, body }] = server.requests as [MockRequest];
  expect(path).toBe('/v1/chat/completions');
  expect(headers.authorization).toBe(`Bearer ${KEY}`);
  expect(Object.keys(body).sort()).toEqual(['messages', 'model', 'response_format', 'temperature']);
  expect(body).toMatchObject({
    model: 'mock',
    temperature: 0,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true } },
  });
  expect(body.messages).toEqual([
    { role: 'system', content: `${skill.procedure}\n\n${request.format.strict}` },
    { role: 'user', content: `${request.state}\n\n${request.observation}` },
  ]);
  const schema = body.response_format?.json_schema?.schema as Json;
  expect(subsetFaults(schema)).toEqual([]);
  expect(schema).toEqual(request.answerSchema);
});

test('[OAI1] what is asked for goes along', async () => {
  const { model, server } = await modelOn(() => completion(GOOD), { temperature: 0.5, seed: 7, answerTokensMax: 99 });
  await model.complete(request);
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0.5, seed: 7, max_tokens: 99 });
});

test('[OAI2] a server without strict schemas is asked in JSON mode, and remembered', async () => {
  const { model, server, notices } = await modelOn(({ body }) =>
    body.response_format?.type === 'json_schema' ? failure(400, 'json_schema is not supported') : completion(GOOD),
  );
  expect(await model.complete(request)).toMatchObject({ form: 'object', text: GOOD });
  expect(await model.complete(request)).toMatchObject({ form: 'object' });
  expect(server.requests.map(({ body }) => body.response_format?.type)).toEqual(['json_schema', 'json_object', 'json_object']);
  expect(server.requests[1]?.body.messages[0]?.content).toContain(request.format.object);
  expect(notices).toEqual([
    { kind: 'weaker-form', from: 'strict', to: 'object', why: 'status 400: json_schema is not supported' },
  ]);
});

test('[OAI2] a server without any form is asked for fenced text, and remembered', async () => {
  const { model, server } = await modelOn(({ body }) =>
    body.response_format === undefined
      ? completion(`I think.\n\`\`\`json\n{"patch":{},"action":null}\n\`\`\``)
      : failure(422, 'unknown key', { param: 'response_format.type' }),
  );
  expect(await model.complete(request)).toMatchObject({ form: 'fenced' });
  expect(await model.complete(request)).toMatchObject({ form: 'fenced' });
  expect(server.requests.map(({ body }) => body.response_format?.type)).toEqual([
    'json_schema',
    'json_object',
    undefined,
    undefined,
  ]);
  expect(server.requests.at(-1)?.body.messages[0]?.content).toContain(request.format.fenced);
});

test('[OAI2] when every form is refused the model is not to blame for its form', async () => {
  const { model, server } = await modelOn((_, i) => (i < 3 ? failure(400, 'messages must alternate') : completion(GOOD)));
  expect(await errorOf(model.complete(request))).toMatchObject({
    code: 'MODEL_REFUSED',
    message: expect.stringContaining('status 400: messages must alternate'),
    hint: expect.any(String),
  });
  expect(server.requests).toHaveLength(3);
  expect(await model.complete(request)).toMatchObject({ form: 'strict' });
});

test('[OAI3] a server that ignores the form is understood all the same', async () => {
  const { model } = await modelOn(() => completion('Sure!\n```json\n{"patch":{},"action":null}\n```'));
  expect(await model.complete(request)).toMatchObject({
    form: 'strict',
    finish: 'stop',
    text: expect.stringContaining('```json'),
  });
});

test.each<[string, MockReply]>([
  ['429', failure(429, 'slow down')],
  ['500', failure(500, 'oops')],
  ['503 without a body', { status: 503, body: '' }],
  ['408', failure(408, 'late')],
  ['a lost connection', { broken: true }],
  ['an answer that is no JSON', { body: '{"choices": [' }],
])('[OAI4] %s is retried, visibly, and then succeeds', async (_, reply) => {
  const { model, server, notices, pauses } = await modelOn((_request, i) => (i < 2 ? reply : completion(GOOD)));
  expect(await model.complete(request)).toMatchObject({ text: GOOD, form: 'strict' });
  expect(server.requests).toHaveLength(3);
  expect(new Set(server.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(notices.map((notice) => notice.kind === 'retry' && notice.retry)).toEqual([1, 2]);
  expect(pauses).toHaveLength(2);
});

test('[OAI4] retries are bounded, then nobody answers', async () => {
  const { model, server, pauses } = await modelOn(() => failure(500, 'oops'), { retriesMax: 3 });
  expect(await errorOf(model.complete(request))).toMatchObject({
    code: 'MODEL_UNREACHABLE',
    message: expect.stringContaining('status 500: oops, after 3 retries'),
  });
  expect(server.requests).toHaveLength(4);
  expect(pauses).toHaveLength(3);
});

test('[OAI4] nobody at the address is one clear error with a hint', async () => {
  const { model, server } = await modelOn(() => completion(GOOD), { retriesMax: 1 });
  await server.close();
  const error = await errorOf(model.complete(request));
  expect(error).toMatchObject({ code: 'MODEL_UNREACHABLE', message: expect.stringContaining('no connection (ECONNREFUSED)') });
  expect(error.hint).toContain(server.baseURL);
});

test('[OAI5] delays double, are spread by the request, and are the same for the same request', () => {
  const delays = [0, 1, 2, 3, 9].map((retry) => backoffMs(retry, 'a', 30_000));
  for (const [i, ms] of [500, 1_000, 2_000, 4_000, 30_000].entries()) {
    expect(delays[i]).toBeGreaterThanOrEqual(ms / 2);
    expect(delays[i]).toBeLessThanOrEqual(ms);
  }
  expect([0, 1, 2, 3, 9].map((retry) => backoffMs(retry, 'a', 30_000))).toEqual(delays);
  expect(new Set(Array.from({ length: 50 }, (_, i) => backoffMs(3, `agent ${i}`, 30_000))).size).toBeGreaterThan(40);
});

test.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after-ms': '7500' }, 7_500],
  [{ date: 'Mon, 30 Nov 2026 10:00:00 GMT', 'retry-after': 'Mon, 30 Nov 2026 10:00:09 GMT' }, 9_000],
])('[OAI5] it waits what the server asks for: %j', async (headers, delayMs) => {
  const { model, pauses, notices } = await modelOn((_, i) =>
    i === 0 ? failure(429, 'slow down', { headers }) : completion(GOOD),
  );
  await model.complete(request);
  expect(pauses).toEqual([delayMs]);
  expect(notices).toEqual([{ kind: 'retry', retry: 1, delayMs, why: 'status 429: slow down' }]);
});

test.each(['soon', '-3', ''])('[OAI5] a wait of %j is none', async (after) => {
  const { model, pauses } = await modelOn((_, i) =>
    i === 0 ? failure(429, 'slow down', { headers: { 'retry-after': after } }) : completion(GOOD),
  );
  await model.complete(request);
  expect(pauses[0]).toBeLessThanOrEqual(500);
});

test('[OAI5] a server that asks to wait too long is given up on at once', async () => {
  const { model, server, pauses } = await modelOn(() => failure(429, 'tomorrow', { headers: { 'retry-after': '3600' } }));
  expect(await errorOf(model.complete(request))).toMatchObject({
    code: 'MODEL_UNREACHABLE',
    hint: expect.stringContaining('3600 s'),
  });
  expect([server.requests.length, pauses.length]).toEqual([1, 0]);
});

test.each(['at once', 'after headers'] as const)(
  '[OAI6] a server that falls silent %s is left after the time-out',
  async (silent) => {
    const { model, server } = await modelOn((_, i) => (i === 0 ? { silent } : completion(GOOD)), { timeoutMs: 1_000 });
    expect(await model.complete(request)).toMatchObject({ text: GOOD });
    expect(server.requests).toHaveLength(2);
    const silentForEver = await modelOn(() => ({ silent }), { timeoutMs: 50, retriesMax: 1 });
    expect(await errorOf(silentForEver.model.complete(request))).toMatchObject({
      code: 'MODEL_UNREACHABLE',
      message: expect.stringContaining('no answer within 50 ms'),
    });
  },
);

test.each([
  [failure(401, 'no', { code: 'invalid_api_key' }), 'OPENAI_API_KEY'],
  [failure(401, 'no'), 'OPENAI_API_KEY'],
  [failure(403, 'no'), 'may not use'],
  [failure(404, 'no such model'), '/v1'],
  [failure(429, 'pay first', { code: 'insufficient_quota' }), 'credit'],
  [failure(400, 'too long', { code: 'context_length_exceeded' }), 'tokensMax'],
  [failure(400, 'wrong', { param: 'messages' }), 'does not take'],
])('[OAI7] what is refused for good is refused at once, with a hint', async (reply, hint) => {
  const { model, server, pauses } = await modelOn(() => reply);
  expect(await errorOf(model.complete(request))).toMatchObject({ code: 'MODEL_REFUSED', hint: expect.stringContaining(hint) });
  expect([server.requests.length, pauses.length]).toEqual([1, 0]);
});

test.each<[string, MockReply, object]>([
  ['a cut-off answer', completion('{"reas', { finish: 'length' }), { text: '{"reas', finish: 'length' }],
  ['a declined answer', completion(null, { refusal: 'I cannot.' }), { text: 'I cannot.', finish: 'refused' }],
  ['a filtered answer', completion('', { finish: 'content_filter' }), { text: '', finish: 'filtered' }],
  ['an answer without text', completion(null), { text: '', finish: 'stop' }],
  ['text parts', completion([{ type: 'text', text: '{"a"' }, { type: 'text', text: ':1}' }, null]), { text: '{"a":1}' }],
  ['thoughts in front', completion(`<think>\nI wonder {"patch"...\n</think>\n\n${GOOD}`), { text: `\n\n${GOOD}` }],
  [
    'usage',
    completion(GOOD, { usage: { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 } }),
    { usage: { promptTokens: 30, answerTokens: 4 } },
  ],
  ['usage that is none', completion(GOOD, { usage: { prompt_tokens: -1 } }), { text: GOOD }],
])('[OAI8] %s is read', async (_, reply, answer) => {
  const { model } = await modelOn(() => reply);
  expect(await model.complete(request)).toMatchObject(answer);
});

test.each<[string, MockReply]>([
  ['an empty object', { body: {} }],
  ['no choice', { body: { choices: [] } }],
  ['a choice without a message', { body: { choices: [{}] } }],
  ['null', { body: 'null' }],
  ['a page', { body: '<html>hello</html>', headers: { 'content-type': 'text/html' } }],
])('[OAI8] %s is no completion', async (_, reply) => {
  const { model } = await modelOn(() => reply);
  expect(await errorOf(model.complete(request))).toMatchObject({
    code: 'MODEL_REFUSED',
    message: expect.stringContaining('no chat completion'),
  });
});

function everythingIn(error: unknown, depth = 0): string {
  if (depth > 5 || typeof error !== 'object' || error === null) return String(error);
  return Object.getOwnPropertyNames(error)
    .map((name) => `${name}: ${everythingIn((error as { readonly [key: string]: unknown })[name], depth + 1)}`)
    .join('\n');
}

test('[OAI9] no error, cause or notice holds the key, even when the server echoes it', async () => {
  const echo = `Incorrect API key provided: ${KEY}; you sent Authorization: Bearer ${KEY} and sk-other-secret-123`;
  const told: string[] = [];
  for (const reply of [
    failure(401, echo),
    failure(400, echo),
    failure(500, echo, { headers: { 'x-echo': KEY } }),
    { body: `{"echo": "${KEY}` },
  ]) {
    const { model, notices } = await modelOn(() => reply, { retriesMax: 1 });
    const error = await errorOf(model.complete(request));
    told.push(everythingIn(error), JSON.stringify(notices), String(error.stack));
  }
  expect(told.join('\n')).not.toMatch(/very-secret|other-secret/);
  expect(told.join('\n')).toContain('[hidden]');
});

test('[OAI9] the key is sent in one header and nowhere else', async () => {
  const { model, server } = await modelOn(() => completion(GOOD));
  await model.complete(request);
  const { authorization, ...headers } = server.requests[0]?.headers ?? {};
  expect(authorization).toContain(KEY);
  expect(JSON.stringify([headers, server.requests[0]?.body, server.requests[0]?.path])).not.toContain(KEY);
});

test('[OAI10] address and key come from the environment when they are not given', async () => {
  const server = await mockServer(() => completion(GOOD));
  open.push(server);
  const model = openaiModel({
    model: 'm',
    environment: { OPENAI_BASE_URL: ` ${server.baseURL}/ `, OPENAI_API_KEY: ` ${KEY}\n` },
  });
  await model.complete(request);
  expect(server.requests[0]).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` } });
  const keyless = openaiModel({ model: 'm', environment: { OPENAI_BASE_URL: server.baseURL, OPENAI_API_KEY: '' } });
  expect(await keyless.complete(request)).toMatchObject({ text: GOOD });
});

test.each<[string, Partial<OpenaiOptions>, RegExp]>([
  ['the default service without a key', {}, /OPENAI_API_KEY/],
  ['the default service by its name', { baseURL: 'https://api.openai.com/v1' }, /OPENAI_API_KEY/],
  ['an address that is none', { baseURL: 'localhost' }, /127\.0\.0\.1/],
  ['an address of another protocol', { baseURL: 'ftp://host/v1' }, /127\.0\.0\.1/],
  ['an address with a password', { baseURL: 'http://me:pa55word@host/v1' }, /OPENAI_API_KEY/],
  ['a key with a line end inside', { apiKey: 'sk-a\nb' }, /line ends/],
  ['no name', { model: ' ', apiKey: KEY }, /openai:<name>/],
])('[OAI10] %s is refused before anything is sent', (_, over, hint) => {
  let error: OplusError | undefined;
  try {
    openaiModel({ model: 'm', environment: {}, ...over });
  } catch (thrown) {
    error = thrown as OplusError;
  }
  expect(error).toMatchObject({ code: 'USAGE', hint: expect.stringMatching(hint) });
  expect(everythingIn(error)).not.toMatch(/pa55word|sk-a/);
});

test('[OAI11] an aborted request rejects with the reason, while it is asked and while it waits', async () => {
  const reason = new Error('stopped by the user');
  const asked = new AbortController();
  const silent = await modelOn(() => (queueMicrotask(() => asked.abort(reason)), { silent: 'at once' }));
  await expect(silent.model.complete({ ...request, signal: asked.signal })).rejects.toBe(reason);
  const waiting = new AbortController();
  const busy = await modelOn(() => failure(500, 'oops'), {
    pause: (delayMs, signal) => (queueMicrotask(() => waiting.abort(reason)), realPause(delayMs * 1_000, signal)),
  });
  await expect(busy.model.complete({ ...request, signal: waiting.signal })).rejects.toBe(reason);
  await expect(busy.model.complete({ ...request, signal: waiting.signal })).rejects.toBe(reason);
  expect(busy.server.requests).toHaveLength(1);
});

test('[OAI12] a parameter that the server does not take is dropped and not sent again', async () => {
  const { model, server, notices } = await modelOn(({ body }) =>
    'temperature' in body
      ? failure(400, 'only the default', { code: 'unsupported_value', param: 'temperature' })
      : completion(GOOD),
  );
  expect(await model.complete(request)).toMatchObject({ form: 'strict' });
  await model.complete(request);
  expect(server.requests.map(({ body }) => body['temperature'])).toEqual([0, undefined, undefined]);
  expect(notices).toMatchObject([{ kind: 'without-parameter', parameter: 'temperature' }]);
});
