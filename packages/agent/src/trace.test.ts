import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sayDecision } from './scripted-model.ts';
import { cannedModel, rig, testTrace } from './testing/index.ts';
import { openTraceFile } from './trace-file.ts';
import { readTraceLine, traceEventShape, traceLine } from './trace.ts';
import type { StepEvent } from './trace.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trace-'));
});
afterEach(() => rm(folder, { recursive: true }));

const event = (step: number, agent = 'w1'): StepEvent => ({ v: 1, kind: 'step', agent, step, outcome: 'committed', attempts: 1 });
const linesOf = async (path: string) => (await readFile(path, 'utf8')).split('\n');

test('[TRC1] what the loop traces has the closed shape, and is read back', async () => {
  const answers = [
    'no \u0000 \u200b <|im_end|> \ud800',
    sayDecision({ patch: { done: { inc: 9999 } }, action: null }),
    sayDecision({ patch: { done: { inc: 1 } }, action: { name: 'move', args: { card: 'a', column: 1 } }, why: 'w' }),
  ];
  const { agent, trace } = await rig(cannedModel(answers), {
    answerTo: () => ({ kind: 'failed', observation: 'hidden \u200b and \u0007' }),
  });
  await agent.step('odd \u0000 \u200b <|im_start|> \ud800');
  expect(trace.events).toHaveLength(5);
  for (const one of trace.events) {
    expect(traceEventShape.safeParse(one)).toMatchObject({ success: true });
    expect(readTraceLine(traceLine(one))).toEqual(one);
  }
});

test('[TRC4] a file is appended to, one line an event, over several openings', async () => {
  const path = join(folder, 'trace.jsonl');
  for (const step of [1, 2]) {
    const sink = await openTraceFile(path);
    await sink.append(event(step));
    await sink.close();
  }
  expect(await linesOf(path)).toEqual([traceLine(event(1)), traceLine(event(2)), '']);
});

test('[TRC4] lines of many agents that write at once are whole and in order', async () => {
  const path = join(folder, 'trace.jsonl');
  const sink = await openTraceFile(path);
  const given = Array.from({ length: 400 }, (_, i) => event(1 + Math.floor(i / 4), `w${i % 4}`));
  await Promise.all(given.map((one) => sink.append(one)));
  await sink.close();
  const lines = await linesOf(path);
  expect(lines.slice(0, -1).map(readTraceLine)).toEqual(given);
});

test('[TRC4] close waits for what is in flight', async () => {
  const path = join(folder, 'trace.jsonl');
  const sink = await openTraceFile(path);
  const written = sink.append(event(1));
  await sink.close();
  await written;
  expect(await linesOf(path)).toEqual([traceLine(event(1)), '']);
});

test('[TRC5] a torn last line damages no later one', async () => {
  const path = join(folder, 'trace.jsonl');
  await appendFile(path, `${traceLine(event(1))}\n${traceLine(event(2)).slice(0, 20)}`);
  const sink = await openTraceFile(path);
  await sink.append(event(3));
  await sink.close();
  const [first, torn, third] = await linesOf(path);
  expect([readTraceLine(first as string), readTraceLine(third as string)]).toEqual([event(1), event(3)]);
  expect(() => readTraceLine(torn as string)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
});

test.each([
  '',
  '{}',
  '[]',
  '{"v":2}',
  traceLine({ ...event(1), extra: 1 } as never),
  traceLine({ ...event(0) }),
  traceLine({ ...event(1), outcome: 'fine' } as never),
])('[TRC5] %s is no event', (line) => {
  expect(() => readTraceLine(line)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
});

test('[TRC6] a file that cannot be opened is USAGE, and a closed one takes nothing', async () => {
  await expect(openTraceFile(join(folder, 'none', 'trace.jsonl'))).rejects.toMatchObject({
    code: 'USAGE',
    path: join(folder, 'none', 'trace.jsonl'),
  });
  const sink = await openTraceFile(join(folder, 'trace.jsonl'));
  await sink.close();
  await sink.close();
  await expect(sink.append(event(1))).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
});

test('[TRC3] a device without room is LOG_FULL, and later events are not written either', async () => {
  const sink = await openTraceFile('/dev/full');
  await expect(sink.append(event(1))).rejects.toMatchObject({ code: 'LOG_FULL', hint: expect.stringContaining('room') });
  await expect(sink.append(event(2))).rejects.toMatchObject({ code: 'LOG_FULL' });
  await sink.close();
});

test('[TRC3] a failed event reaches the caller of the step', async () => {
  const { agent } = await rig(cannedModel([sayDecision({ patch: { done: { inc: 1 } }, action: null })]), { trace: testTrace(2) });
  await expect(agent.step('go')).rejects.toThrow('the trace cannot be written');
});
