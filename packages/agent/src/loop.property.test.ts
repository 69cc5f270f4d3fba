import { isJsonObject, loadState, stateJson, viewsOfSpace } from '@oplus/core';
import type { Json, JsonObject } from '@oplus/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from './digest.ts';
import type { ModelRequest } from './model.ts';
import { messagesOf } from './model.ts';
import { scriptedModel } from './scripted-model.ts';
import type { Percept, ScriptedDecision } from './scripted-model.ts';
import { boardState, fakeTeam, noisyModel, rig } from './testing/index.ts';
import type { NoiseKind } from './testing/index.ts';

/** Keeps every prompt that was asked for. */
function recording(policy: (percept: Percept) => ScriptedDecision) {
  const model = scriptedModel(policy);
  const prompts: string[] = [];
  return {
    id: model.id,
    prompts,
    complete: (request: ModelRequest) => {
      const { system, user } = messagesOf(request, 'fenced');
      prompts.push(`${system}\n${user}`);
      return model.complete(request);
    },
  };
}

test('[PRM2] [TOK5] after a thousand steps the prompt of an equal view is byte-equal', async () => {
  const flip = recording(({ state }) => ({
    patch: { title: { set: state['title'] === 'even' ? 'odd' : 'even' } },
    action: { name: 'ring', args: {} },
  }));
  const { agent, team } = await rig(flip);
  await agent.step('Flip the title.');
  const totals = new Set<number>();
  for (let step = 1; step <= 1_000; step += 1)
    for (const { tokens } of (await agent.step('Flip the title.')).attempts) totals.add(tokens.total);
  expect(team.space().revision).toBe(1_002);
  const [, ...later] = flip.prompts;
  expect(new Set(later).size).toBe(2);
  expect(later.every((prompt, i) => prompt === later[i % 2])).toBe(true);
  expect(totals.size).toBeLessThanOrEqual(2);
});

test('[PRM4] no revision, dot, vector, digest or fence number is in a prompt', async () => {
  const team = fakeTeam(loadState(boardState, sha256));
  const rival = team.join('w2');
  for (let i = 0; i < 7_000; i += 1) await (await rival.view()).propose({ patch: { done: { inc: i % 2 === 0 ? 1 : -1 } } });
  await (await rival.view()).propose({ patch: { lead: { claim: true } } });
  const model = recording(({ issues }) => ({
    patch: issues.length < 1 ? { lead: { claim: true } } : { tags: { add: ['calm'] } },
    action: { name: 'ring', args: {} },
  }));
  const { agent, acts } = await rig(model, { team });
  const result = await agent.step('Take the lead.');
  expect(result.attempts.map(({ end }) => end.kind)).toEqual(['rejected', 'committed']);
  expect(acts).toEqual([{ action: { name: 'ring', args: {} }, key: 'test/w1/2' }]);
  const space = team.space();
  expect((viewsOfSpace(space)['lead'] as { readonly fence: number }).fence).toBe(7_002 * 4_096);
  for (const prompt of model.prompts) {
    const bare = prompt.replaceAll(/(begin|end) (state|observation|issues) [0-9a-f]{16}/g, '');
    expect(bare).not.toMatch(/70\d\d|28680/);
    for (const { digest } of team.sealed()) expect(prompt).not.toContain(digest.slice(0, 16));
    expect(bare).not.toMatch(/"(n|revision|fence|vector|base|term|dot|mark|stamp)"/);
  }
});

test('[TOK5] the size of a prompt does not depend on the number of agents', async () => {
  const sizes = new Map<number, number>();
  for (const count of [1, 4, 16]) {
    const team = fakeTeam(loadState(boardState, sha256));
    for (let i = 2; i <= count; i += 1) team.join(`other-${i}`);
    const { agent } = await rig(
      recording(() => ({ patch: {}, action: null })),
      { team },
    );
    sizes.set(count, (await agent.step('Look.')).attempts[0]?.tokens.total ?? 0);
  }
  expect(new Set(sizes.values()).size).toBe(1);
});

/** Counts every observation once and files it under its own key. */
const counting = (percept: Percept): ScriptedDecision => {
  const key = percept.observation.replaceAll(/[^a-z0-9]/g, '-');
  return {
    patch: { done: { inc: 1 }, cards: { at: { [key]: { set: percept.observation } } }, tags: { add: [key] } },
    action: null,
  };
};

test('[AGT10] a model that errs in the known ways never breaks the state', async () => {
  const met = new Map<NoiseKind, number>();
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), async (seed, ratio) => {
      const model = noisyModel(scriptedModel(counting), { seed, ratio });
      const { agent, team } = await rig(model);
      const committed: string[] = [];
      for (let i = 0; i < 8; i += 1) {
        const result = await agent.step(`card ${i}`);
        expect(['committed', 'stalled']).toContain(result.outcome);
        if (result.outcome === 'committed') committed.push(`card-${i}`);
        else expect(result.attempts).toHaveLength(5);
      }
      for (const [kind, count] of model.spoilt) met.set(kind, (met.get(kind) ?? 0) + count);
      const state = stateJson(team.space());
      expect(state['done']).toBe(committed.length);
      expect(Object.keys(state['cards'] as JsonObject)).toEqual(committed);
      expect(state['tags']).toEqual(committed);
      expect(state['title']).toBe('empty');
    }),
    { numRuns: 60 },
  );
  expect([...met.keys()].sort()).toEqual(['extra', 'overwrite', 'syntax', 'types']);
});

test('[AGT10] noise is repeated by its seed, and repairs bring every observation in', async () => {
  const runOnce = async (seed: number) => {
    const model = noisyModel(scriptedModel(counting), { seed, ratio: 0.5 });
    const { agent, trace } = await rig(model, { repairsMax: 30 });
    for (let i = 0; i < 8; i += 1) expect((await agent.step(`card ${i}`)).outcome).toBe('committed');
    return trace.text();
  };
  expect(await runOnce(3)).toBe(await runOnce(3));
  expect(await runOnce(3)).not.toBe(await runOnce(4));
});

test('[AGT3] whatever a model says, a step ends within its repairs and the state stays sound', async () => {
  const patches: fc.Arbitrary<Json> = fc.oneof(
    fc.constant({ done: { inc: 600 } }),
    fc.constant({ lead: { claim: true } }),
    fc.constant({ lead: { release: true } }),
    fc.constant({ budget: { inc: 1 } }),
    fc.constant({ cards: { at: { a: { set: 'x' } }, drop: ['b'] } }),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(patches, { minLength: 1, maxLength: 12 }), async (script) => {
      let at = 0;
      const { agent, team, acts } = await rig(
        scriptedModel(() => {
          const patch = script[at % script.length] as Json;
          at += 1;
          return { patch: patch as JsonObject, action: { name: 'ring', args: {} } };
        }),
      );
      for (let i = 0; i < 3; i += 1) {
        const { attempts, outcome } = await agent.step('go');
        expect(attempts.length).toBeLessThanOrEqual(5);
        expect(['acted', 'stalled']).toContain(outcome);
      }
      const state = stateJson(team.space());
      expect(state['done']).toBeLessThanOrEqual(1_000);
      expect(state['budget']).toBe(0);
      const committed = team.sealed().flatMap(({ decided }) => decided.filter(({ verdict }) => verdict.kind === 'committed'));
      expect(acts.map(({ key }) => key)).toEqual(committed.map(({ admitted }) => `test/w1/${admitted.proposal.n}`));
      expect(committed.every(({ admitted }) => isJsonObject(admitted.proposal.patch))).toBe(true);
    }),
    { numRuns: 150 },
  );
});
