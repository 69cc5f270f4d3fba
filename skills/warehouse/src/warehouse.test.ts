import { answerFormat, answerSchema, messagesOf, o200kTokens, promptOf, readAnswer, scriptedModel, sha256 } from '@oplus/agent';
import type { ModelRequest, Policy, Skill, Task } from '@oplus/agent';
import { loadState, project } from '@oplus/core';
import type { Issue, Space } from '@oplus/core';
import { expect, test } from 'vitest';
import { readAction } from './action.ts';
import { ROUTINGS } from './layout.ts';
import { attempt, bornSpace, names } from './testing/team.ts';
import { TOKENS_MAX, warehouse } from './warehouse.ts';

const task: Task = warehouse({ agents: names(16), seed: 42, steps: 10, routing: 'shared' });
const schema = loadState(task.skill.state, sha256);
const policy: Policy = ({ state, observation, issues }) => task.policy({ view: state, observation, issues });

function request(skill: Skill, space: Space, observation: string, issues: readonly Issue[] = []): Omit<ModelRequest, 'signal'> {
  const state = project(space, { agent: 'w01', role: 'agent', focus: observation }, 4096, skill.projection);
  return promptOf({
    agent: 'w01',
    procedure: skill.procedure,
    format: answerFormat(schema, skill),
    answerSchema: answerSchema(schema, skill),
    state,
    observation,
    issues,
  });
}

async function answer(space: Space, observation: string, issues: readonly Issue[] = []): Promise<string> {
  const said = await scriptedModel(policy).complete(request(task.skill, space, observation, issues));
  const read = readAnswer(said, schema, task.skill.actions);
  if (read.kind === 'unreadable') return JSON.stringify(read.issues);
  const { patch, action } = read.decision;
  return JSON.stringify([patch, action?.name, action?.args]);
}

test('[WHS42] the policy plays from the text of its prompt, and its text is read as what it meant', async () => {
  const start = bornSpace(names(2));
  const patch = { shelves: { at: { S001: { set: 'item-0001' } } }, received: { inc: 1 } };
  expect(await answer(start, 'Shipment arrived containing item-0001')).toBe(
    '[{"received":{"inc":1},"shelves":{"at":{"S001":{"set":"item-0001"}}}},"Store",{"item":"item-0001","shelf":"S001"}]',
  );
  const { space } = attempt(start, start, 'w01', patch);
  expect(await answer(space, 'Customer ordered item-0001')).toBe(
    '[{"shelves":{"at":{"S001":{"unset":true}}},"shipped":{"inc":1}},"Ship",{"item":"item-0001","shelf":"S001"}]',
  );
  expect(await answer(space, 'Maintenance required on S001')).toBe(
    '[{"shelves":{"at":{"S001":{"unset":true},"S002":{"set":"item-0001"}}}},"Move",{"from":"S001","item":"item-0001","to":"S002"}]',
  );
  expect(await answer(space, 'Maintenance required on S002')).toBe('[{},"Wait",{}]');
});

test('[WHS42] issues in the prompt make it choose again on the fresh view', async () => {
  const start = bornSpace(names(2));
  const { space } = attempt(start, start, 'w02', { shelves: { at: { S001: { set: 'item-0002' } } }, received: { inc: 1 } });
  const late = attempt(space, start, 'w01', { shelves: { at: { S001: { set: 'item-0001' } } }, received: { inc: 1 } });
  expect(late.verdict.kind).toBe('rejected');
  const issues = late.verdict.kind === 'rejected' ? late.verdict.issues : [];
  const again = await answer(late.space, 'Shipment arrived containing item-0001', issues);
  expect(again).toContain('"Store",{"item":"item-0001","shelf":"S002"}');
  const patch = (JSON.parse(again) as [Parameters<typeof attempt>[3]])[0];
  expect(attempt(late.space, late.space, 'w01', patch).verdict.kind).toBe('committed');
});

test('[WHS63] the skill loads, is short, and one prompt fits its budget in every form', async () => {
  const { skill } = task;
  expect([skill.name, skill.role, Object.keys(skill.actions)]).toEqual(['warehouse', 'agent', ['Store', 'Ship', 'Move', 'Wait']]);
  const tokens = await o200kTokens();
  expect(tokens.count(skill.procedure)).toBeLessThan(360);
  const prompt = request(skill, bornSpace(names(2)), 'Customer ordered item-0001');
  for (const form of ['fenced', 'object', 'strict'] as const) {
    const { system, user } = messagesOf(prompt, form);
    expect(tokens.count(system) + tokens.count(user)).toBeLessThan(TOKENS_MAX * 0.6);
  }
});

test('[WHS63] the patches in the procedure are ones that the state takes', () => {
  const patches = [...task.skill.procedure.matchAll(/Patch: `([^`]*)`/g)].map(
    ([, text]) => JSON.parse(text as string) as Parameters<typeof attempt>[3],
  );
  expect(patches).toHaveLength(4);
  let space = bornSpace(names(1));
  const [store, ship, move] = patches as [(typeof patches)[0], (typeof patches)[0], (typeof patches)[0]];
  for (const patch of [store, ship, store, move]) {
    const next = attempt(space, space, 'w01', patch);
    expect(next.verdict.kind).toBe('committed');
    space = next.space;
  }
});

test('[WHS63] actions take what the world takes, and nothing else', () => {
  const { actions } = task.skill;
  const good = {
    Store: { item: 'item-0001', shelf: 'S500' },
    Ship: { item: 'item-0001', shelf: 'S001' },
    Move: { item: 'item-0001', from: 'S001', to: 'S002' },
    Wait: {},
  };
  for (const [name, args] of Object.entries(good)) {
    expect(actions[name]?.args.safeParse(args).success).toBe(true);
    expect(typeof readAction({ name, args })).toBe('object');
    for (const wrong of [
      { ...args, more: 1 },
      { ...args, shelf: 'S501', from: 'S501' },
      name === 'Wait' ? { x: 1 } : {},
      { item: 'item-0001', from: 'S001', to: 'S001' },
    ]) {
      expect(actions[name]?.args.safeParse(wrong).success).toBe(false);
      expect(typeof readAction({ name, args: wrong })).toBe('string');
    }
  }
});

test('[WHS29] a task is set up for every routing, and refuses what it cannot play', () => {
  for (const routing of ROUTINGS)
    expect(warehouse({ agents: names(2), seed: 1, steps: 5, routing }).environment.assign(names(2)).length).toBeGreaterThan(0);
  expect(() => warehouse({ agents: names(2), seed: 1, steps: 5, routing: 'none' })).toThrow(
    expect.objectContaining({ code: 'USAGE' }) as Error,
  );
});
