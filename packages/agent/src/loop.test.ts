import { canonical, field, loadState, lww, map, OplusError, stateJson } from '@oplus/core';
import type { Json } from '@oplus/core';
import type { Answer } from '@oplus/worker';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sha256 } from './digest.ts';
import type { ModelRequest } from './model.ts';
import { messagesOf } from './model.ts';
import { readPrompt, sayDecision, scriptedModel } from './scripted-model.ts';
import type { ScriptedDecision } from './scripted-model.ts';
import type { SkillAction } from './skill.ts';
import { boardSkill, boardState, cannedModel, fakeTeam, noisyModel, rig, testTrace } from './testing/index.ts';
import type { FakeTeam } from './testing/index.ts';

const say = (patch: Json, action: ScriptedDecision['action'] = null, reasoning = 'I decide.') =>
  sayDecision({ reasoning, patch: patch as never, action });
const MOVE = { name: 'move', args: { card: 'a', column: 2 } } as const;
const seen = (request: ModelRequest | undefined) => readPrompt(messagesOf(request as ModelRequest, 'fenced'));

test('[AGT1] the action runs once, after the commit, with space and dot as key', async () => {
  const order: string[] = [];
  const { agent, team, acts, trace } = await rig(
    cannedModel([say({ done: { inc: 1 } }), say({ cards: { at: { a: { set: 'x' } } } }, MOVE)]),
    {
      answerTo: () => {
        order.push(`acted at ${team.space().revision}`);
        return { kind: 'done', observation: 'moved' };
      },
    },
  );
  team.beforeSeal(() => void order.push(`sealed after ${team.space().revision}`));
  expect(await agent.step('first')).toMatchObject({ step: 1, outcome: 'committed', verdict: { kind: 'committed' } });
  expect(await agent.step('second')).toMatchObject({
    step: 2,
    outcome: 'acted',
    action: MOVE,
    key: 'test/w1/2',
    result: { kind: 'done', observation: 'moved' },
  });
  expect(acts).toEqual([{ action: MOVE, key: 'test/w1/2' }]);
  expect(order).toEqual(['sealed after 1', 'sealed after 2', 'acted at 3']);
  expect(trace.events.map(({ kind }) => kind)).toEqual(['attempt', 'step', 'attempt', 'action', 'step']);
});

test('[AGT1] an action whose proposal is rejected never runs, and its later success runs once', async () => {
  const { agent, acts, team } = await rig(cannedModel([say({ done: { inc: 2000 } }, MOVE), say({ done: { inc: 1 } }, MOVE)]));
  expect(await agent.step('go')).toMatchObject({ outcome: 'acted', key: 'test/w1/2' });
  expect(acts).toHaveLength(1);
  expect(stateJson(team.space())['done']).toBe(1);
});

test('[AGT1][BUG 40] a model that nulls its record while it says it is complete completes nothing, and is told what stays', async () => {
  const cards = field(map(lww(z.string().max(200)), { cap: 64 }), { eraseMax: 0 });
  const skill = { ...boardSkill(), state: { ...boardState, fields: { ...boardState.fields, cards } } };
  const record = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`q${i}`, { set: 'answered' }]));
  const model = cannedModel([
    say({ cards: { at: record } }),
    say({ cards: { drop: Object.keys(record) } }, { name: 'ring', args: {} }),
    say({ done: { inc: 1 } }, { name: 'ring', args: {} }),
  ]);
  const { agent, acts, team } = await rig(model, { skill });
  await agent.step('all questions');
  expect(await agent.step('complete?')).toMatchObject({
    outcome: 'acted',
    attempts: [{ end: { kind: 'rejected' } }, { end: { kind: 'committed' } }],
  });
  expect(seen(model.requests[2]).issues).toMatchObject([{ path: '/cards', code: 'protected' }]);
  expect(Object.keys(stateJson(team.space())['cards'] as object)).toHaveLength(30);
  expect(acts).toHaveLength(1);
});

test('[AGT2] a rejection goes back with its issues and the newest view', async () => {
  const state = boardSkill();
  const team = fakeTeam(loadState(state.state, sha256));
  const other = team.join('w2');
  const model = cannedModel([say({ lead: { claim: true } }), say({ tags: { add: ['late'] } })]);
  const { agent } = await rig(model, { team });
  team.beforeSeal(async (_, proposer) => {
    if (proposer !== 'w1' || seen(model.requests[0]).issues.length > 0 || model.requests.length > 1) return;
    team.beforeSeal(undefined);
    await (await other.view()).propose({ patch: { lead: { claim: true } } });
  });
  expect(await agent.step('lead?')).toMatchObject({
    outcome: 'committed',
    attempts: [{ end: { kind: 'rejected' } }, { end: { kind: 'committed' } }],
  });
  expect(seen(model.requests[0])).toMatchObject({ issues: [], state: { lead: { holder: null } } });
  expect(seen(model.requests[1])).toMatchObject({
    state: { lead: { holder: 'w2' } },
    issues: [{ path: '/lead', code: 'held', by: 'w2', do: 'wait', have: { holder: 'w2' } }],
  });
});

test('[AGT2] an unreadable answer and a refusal at the gate go back too', async () => {
  const model = cannedModel([
    'I cannot decide.',
    say({ nothing: { set: 1 } }),
    say({ tags: { add: ['x'.repeat(41)] } }),
    say({}, { name: 'move', args: { card: 'k'.repeat(40), column: 1 } }),
  ]);
  const premises = () => ['p'.repeat(600)];
  const { move } = boardSkill().actions;
  const skill = boardSkill({ actions: { move: { ...(move as SkillAction), premises } }, tokensMax: 8_000 });
  const { agent, acts } = await rig(model, { skill, repairsMax: 3 });
  const result = await agent.step('go');
  expect(result.attempts.map(({ end }) => end.kind)).toEqual(['unreadable', 'unreadable', 'unreadable', 'refused']);
  expect(model.requests.map((request) => seen(request).issues.map(({ code }) => code))).toEqual([
    [],
    ['not_json'],
    ['schema'],
    ['bound'],
  ]);
  expect(acts).toEqual([]);
});

test('[AGT3] after the repairs are spent the step stalls, visibly', async () => {
  const { agent, acts, trace, team } = await rig(
    cannedModel(Array.from({ length: 5 }, () => say({ done: { inc: 2000 } }, MOVE))),
  );
  const result = await agent.step('go');
  expect(result).toMatchObject({ outcome: 'stalled', issues: [{ code: 'invariant', rule: 'notTooMany' }] });
  expect(result.attempts).toHaveLength(5);
  expect(acts).toEqual([]);
  expect(stateJson(team.space())['done']).toBe(0);
  expect(trace.events.at(-1)).toMatchObject({ kind: 'step', outcome: 'stalled', attempts: 5 });
});

test('[AGT3] without repairs one attempt is made', async () => {
  const model = cannedModel(['no']);
  expect(await (await rig(model, { repairsMax: 0 })).agent.step('go')).toMatchObject({ outcome: 'stalled' });
  expect(model.unusedCount()).toBe(0);
});

test('[AGT3] what no decision can cure is not repeated', async () => {
  const team = fakeTeam(loadState(boardState, sha256));
  const fenced: FakeTeam = {
    ...team,
    join: (name) => {
      const worker = team.join(name);
      const propose = async (): Promise<Answer> => ({
        kind: 'rejected',
        revision: 9,
        issues: [{ path: '', code: 'fenced', rule: 'term', recovery: 'never', hint: 'Another session took over.' }],
      });
      return { ...worker, view: async () => ({ ...(await worker.view()), propose }) };
    },
  };
  const { agent } = await rig(cannedModel([say({ done: { inc: 1 } })]), { team: fenced });
  expect(await agent.step('go')).toMatchObject({
    outcome: 'stalled',
    issues: [{ code: 'fenced' }],
    attempts: [expect.anything()],
  });
});

test('[AGT11] a space of another definition is refused before anything is sent', async () => {
  const model = cannedModel([say({})]);
  const { agent } = await rig(model, { team: fakeTeam(loadState({ ...boardState, version: 2 }, sha256)) });
  await expect(agent.step('go')).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('board version 2') });
  expect(model.requests).toEqual([]);
});

test('[AGT4] nothing to propose passes the view', async () => {
  const { agent, team } = await rig(cannedModel([say({}), say({ title: { set: 'empty' } }), say({ tags: { add: [] } })]));
  for (const observation of ['a', 'b', 'c'])
    expect(await agent.step(observation)).toMatchObject({ outcome: 'passed', attempts: [{ end: { kind: 'passed' } }] });
  expect(team.passCount()).toBe(3);
  expect(team.space().revision).toBe(1);
});

test('[AGT4] a step that stalls without a verdict passes its view, one with a verdict does not', async () => {
  const unread = await rig(cannedModel(['no']), { repairsMax: 0 });
  await unread.agent.step('go');
  expect(unread.team.passCount()).toBe(1);
  const rejected = await rig(cannedModel([say({ done: { inc: 2000 } })]), { repairsMax: 0 });
  await rejected.agent.step('go');
  expect(rejected.team.passCount()).toBe(0);
});

test('[AGT5] a failed action answers with its observation, and the commit stands', async () => {
  const { agent, team, trace } = await rig(cannedModel([say({ done: { inc: 1 } }, MOVE)]), {
    answerTo: () => ({ kind: 'failed', observation: 'Error: no card a' }),
  });
  expect(await agent.step('go')).toMatchObject({ outcome: 'acted', result: { kind: 'failed', observation: 'Error: no card a' } });
  expect(stateJson(team.space())['done']).toBe(1);
  expect(trace.events.at(-1)).toMatchObject({
    outcome: 'acted',
    result: { kind: 'failed', observation: { text: 'Error: no card a' } },
  });
});

test('[AGT6] arguments are checked before anything is proposed', async () => {
  const { agent, team } = await rig(cannedModel([say({ done: { inc: 1 } }, { name: 'move', args: { card: 'a', column: 12 } })]), {
    repairsMax: 0,
  });
  expect(await agent.step('go')).toMatchObject({ outcome: 'stalled', issues: [{ path: '/action/args/column' }] });
  expect(team.sealed().flatMap(({ decided }) => decided)).toEqual([]);
});

test('[AGT6] what the action relies on is a premise of the proposal', async () => {
  const team = fakeTeam(loadState(boardState, sha256));
  const other = team.join('w2');
  const { agent, acts, trace } = await rig(cannedModel([say({ tags: { add: ['t'] } }, MOVE)]), { team, repairsMax: 0 });
  team.beforeSeal(async (draft, proposer) => {
    if (proposer !== 'w1') return;
    expect(draft.premises).toEqual(['/cards/a']);
    await (await other.view()).propose({ patch: { cards: { at: { a: { set: 'changed' } } } } });
  });
  expect(await agent.step('go')).toMatchObject({ outcome: 'stalled', issues: [{ code: 'premise', path: '/cards/a', by: 'w2' }] });
  expect(acts).toEqual([]);
  expect(trace.events[0]).toMatchObject({ proposal: { premises: ['/cards/a'] } });
});

test('[AGT7] reasoning goes nowhere', async () => {
  const model = cannedModel([
    say({ done: { inc: 2000 } }, null, 'SECRET-THOUGHT one'),
    say({ done: { inc: 1 } }, MOVE, 'SECRET-THOUGHT two'),
    say({}, null, 'three'),
  ]);
  const { agent, team, trace, blobs } = await rig(model);
  await agent.step('go');
  await agent.step('again');
  const kept = [
    trace.text(),
    ...team.sealed().map(({ text }) => text),
    ...trace.events.map((event) => (event.kind === 'attempt' ? blobs.text(event.view) : '')),
  ];
  const later = model.requests.slice(1).map((request) => canonical(messagesOf(request, 'fenced') as never));
  expect([...kept, ...later].join('\n')).not.toContain('SECRET-THOUGHT');
});

/** Files what it observes: counts, tags, and now and then an action. Takes the lead when nobody has it. */
const filer = scriptedModel(({ state, observation, issues }) => {
  const cards = state['cards'] as { readonly [key: string]: string };
  const card = `c${Object.keys(cards).length % 40}`;
  if (issues.some(({ code }) => code === 'held')) return { patch: { done: { inc: 1 } }, action: null };
  const lead =
    (state['lead'] as { readonly holder: string | null }).holder === null && observation.includes('lead')
      ? { lead: { claim: true } }
      : {};
  return {
    patch: { ...lead, done: { inc: 1 }, cards: { at: { [card]: { set: observation } } } },
    action: observation.includes('move') ? { name: 'move', args: { card, column: 1 } } : null,
  };
});

test('[AGT8] equal inputs give equal prompts, log and trace', async () => {
  const runOnce = async () => {
    const { agent, team, trace, blobs } = await rig(noisyModel(filer, { seed: 7, ratio: 0.4 }));
    for (let i = 0; i < 25; i += 1) await agent.step(i % 3 === 0 ? `move ${i}` : `lead ${i}`);
    const views = trace.events.map((event) => (event.kind === 'attempt' ? blobs.text(event.view) : ''));
    return [trace.text(), team.sealed().map(({ digest }) => digest), views];
  };
  expect(await runOnce()).toEqual(await runOnce());
});

test('[AGT9] an error of the model ends the step, is traced, and proposes nothing', async () => {
  const gone = new OplusError('MODEL_UNREACHABLE', 'nobody answers', { hint: 'Start it.' });
  const { agent, team, trace } = await rig(cannedModel([gone, say({ done: { inc: 1 } })]));
  await expect(agent.step('go')).rejects.toBe(gone);
  expect(trace.events).toEqual([
    {
      v: 1,
      kind: 'step',
      agent: 'w1',
      step: 1,
      outcome: 'failed',
      attempts: 0,
      error: { code: 'MODEL_UNREACHABLE', message: 'nobody answers' },
    },
  ]);
  expect(team.sealed().flatMap(({ decided }) => decided)).toEqual([]);
  expect(await agent.step('again')).toMatchObject({ step: 2, outcome: 'committed' });
});

test('[AGT9] an actuator that throws leaves the action in doubt, and the trace shows it', async () => {
  const { agent, trace } = await rig(cannedModel([say({}, MOVE)]), { answerTo: () => new Error('the arm is stuck') });
  await expect(agent.step('go')).rejects.toThrow('the arm is stuck');
  expect(trace.events.map(({ kind }) => kind)).toEqual(['attempt', 'action', 'step']);
  expect(trace.events.at(-1)).toMatchObject({
    outcome: 'failed',
    key: 'test/w1/1',
    error: { code: 'OTHER', message: 'the arm is stuck' },
  });
});

test('[AGT9] an aborted step proposes nothing', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped by the user');
  const model = {
    id: 'slow',
    complete: async () => (stop.abort(reason), { text: say({ done: { inc: 1 } }), form: 'fenced', finish: 'stop' } as const),
  };
  const { agent, team } = await rig(model);
  await expect(agent.step('go', stop.signal)).rejects.toBe(reason);
  await expect(agent.step('go', stop.signal)).rejects.toBe(reason);
  expect(team.sealed().flatMap(({ decided }) => decided)).toEqual([]);
});

test('[AGT11] one step at a time, and only under the role of the skill', async () => {
  const { agent } = await rig(cannedModel([say({})]));
  const first = agent.step('go');
  await expect(agent.step('go')).rejects.toMatchObject({ code: 'USAGE' });
  await first;
  const team = fakeTeam(loadState(boardState, sha256));
  const skill = boardSkill();
  await expect(rig(cannedModel([]), { team: { ...team, join: (name) => team.join(name, 'boss') }, skill })).rejects.toMatchObject(
    { code: 'USAGE' },
  );
});

test('[TRC1] every attempt, action and end is one event, in that order', async () => {
  const { agent, trace } = await rig(
    cannedModel([{ text: 'no', finish: 'length', usage: { promptTokens: 9, answerTokens: 1 } }, say({}, MOVE)]),
    {
      answerTo: () => ({ kind: 'done', observation: 'x'.repeat(20_000) }),
    },
  );
  await agent.step('o'.repeat(40));
  expect(trace.events).toMatchObject([
    {
      kind: 'attempt',
      attempt: 1,
      skill: { name: 'board', digest: boardSkill().procedureDigest },
      model: 'canned',
      observation: { text: 'o'.repeat(40) },
      answer: { finish: 'length', form: 'fenced' },
      usage: { promptTokens: 9, answerTokens: 1 },
      end: { kind: 'unreadable' },
    },
    { kind: 'attempt', attempt: 2, proposal: { patch: {}, action: MOVE }, end: { kind: 'committed' } },
    { kind: 'action', key: 'test/w1/1', action: MOVE },
    {
      kind: 'step',
      outcome: 'acted',
      attempts: 2,
      key: 'test/w1/1',
      result: { kind: 'done', observation: { artefact: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    },
  ]);
});

test('[TRC2] the exact text that the model saw as state is in the blobs', async () => {
  const model = cannedModel([say({ tags: { add: ['<| not markup'] } }), say({})]);
  const { agent, trace, blobs } = await rig(model);
  await agent.step('one');
  await agent.step('two');
  const attempts = trace.events.filter((event) => event.kind === 'attempt');
  for (const [i, request] of model.requests.entries()) {
    const text = blobs.text(attempts[i]?.view ?? '') as string;
    expect(request.state).toContain(`---\n${text}\n---`);
    expect(JSON.parse(text)).toEqual(seen(request).state);
  }
});

test.each([1, 2, 3])('[TRC3] when event %d cannot be written the step fails, and no action runs after it', async (failAt) => {
  const { agent, acts } = await rig(cannedModel([say({}, MOVE)]), { trace: testTrace(failAt) });
  await expect(agent.step('go')).rejects.toThrow('the trace cannot be written');
  expect(acts).toHaveLength(failAt <= 2 ? 0 : 1);
});

test('[AGT6] an action that does something else than its patch says goes back before it is proposed', async () => {
  const model = cannedModel([say({ done: { inc: 2 } }, MOVE), say({ done: { inc: 1 } }, MOVE)]);
  const { agent, team, acts } = await rig(model, {
    actionFault: (action, patch) =>
      canonical(patch) === '{"done":{"inc":1}}' ? undefined : `${action.name} is one step of done, the patch says otherwise`,
  });
  expect(await agent.step('go')).toMatchObject({ outcome: 'acted', key: 'test/w1/1' });
  expect(seen(model.requests[1]).issues).toMatchObject([{ path: '/action', code: 'schema' }]);
  expect(stateJson(team.space())['done']).toBe(1);
  expect(acts).toHaveLength(1);
});
