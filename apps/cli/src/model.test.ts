import { readdir } from 'node:fs/promises';
import { readPrompt, sayDecision } from '@oplus/agent';
import { warehouse } from '@oplus/skill-warehouse';
import { afterEach, expect, test } from 'vitest';
import { completion, failure, mockServer } from '../../../packages/model-openai/src/testing/mock-server.ts';
import type { MockRequest, MockServer } from '../../../packages/model-openai/src/testing/mock-server.ts';
import { inFolder, oplus } from './testing/command.ts';

const open: MockServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(reply: Parameters<typeof mockServer>[0]): Promise<MockServer> {
  const server = await mockServer(reply);
  open.push(server);
  return server;
}

const RUN = ['run', 'warehouse', '--agents', '1', '--steps', '2', '--model', 'openai:tiny', '--log', 'memory', '--dir', 'a'];

/** What a model should answer, from nothing but the messages that it got. */
function answerTo({ body }: MockRequest): string {
  const [system = '', user = ''] = body.messages.map(({ content }) => content);
  const { state, observation } = readPrompt({ system, user });
  const task = warehouse({ agents: ['w1'], seed: 42, steps: 2, routing: 'shared' });
  return sayDecision(task.policy({ view: state, observation, issues: [] }));
}

test('[CLI28] a run on a served model: its answers are committed, its key is sent and never printed', () =>
  inFolder(async (cwd) => {
    const server = await serve((request) =>
      request.body.response_format === undefined
        ? completion(answerTo(request))
        : failure(400, 'response_format is not supported'),
    );
    const env = { OPENAI_BASE_URL: server.baseURL, OPENAI_API_KEY: 'sk-test-0123456789' };
    const { code, stdout, stderr } = await oplus([...RUN, '--json'], { cwd, env });
    expect({ code, report: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 0,
      report: { ok: true, score: 1, committed: 2, rejected: 0, model: 'openai:tiny', tokens: { prompts: 2 } },
    });
    expect(stderr).toContain('openai:tiny: answers as fenced instead of object');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 4 }, () => 'Bearer sk-test-0123456789'),
    );
    expect(server.requests.at(-1)?.body.model).toBe('tiny');
    expect(stdout + stderr).not.toContain('sk-test');
  }));

test('[CLI28] a model that never says anything useful solves nothing and violates nothing', () =>
  inFolder(async (cwd) => {
    const server = await serve(() => completion('I would rather not.'));
    const { code, stdout } = await oplus([...RUN, '--json'], { cwd, env: { OPENAI_BASE_URL: server.baseURL } });
    expect({ code, report: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 0,
      report: { ok: true, score: 0, stalled: 2, proposals: 0, violations: 0 },
    });
  }));

test('[CLI11][CLI28] a server that refuses the key ends the run with MODEL_REFUSED, and leaves a log that can be read', () =>
  inFolder(async (cwd) => {
    const server = await serve((request, i) =>
      i === 0 ? completion(answerTo(request)) : failure(401, 'wrong key sk-test-0123456789'),
    );
    const env = { OPENAI_BASE_URL: server.baseURL, OPENAI_API_KEY: 'sk-test-0123456789' };
    const { code, stdout, stderr } = await oplus(RUN, { cwd, env });
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toMatch(/^error\[MODEL_REFUSED\]: /m);
    expect(stderr).not.toContain('sk-test');
    const replay = await oplus(['replay', 'a', '--json'], { cwd });
    expect(JSON.parse(replay.stdout)).toMatchObject({ ok: true, finished: false, committed: 1 });
  }));

test('[CLI11][CLI28] openai without a key is wrong usage, before anything is made', () =>
  inFolder(async (cwd) => {
    const { code, stderr } = await oplus(RUN, { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('error[USAGE]: no API key');
    expect(stderr).toContain('hint: Set OPENAI_API_KEY');
    expect(await readdir(cwd)).toEqual([]);
  }));
