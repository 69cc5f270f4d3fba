/**
 * One agent with everything it needs, in memory, for tests.
 */
import { loadState } from '@oplus/core';
import type { Action } from '@oplus/core';
import type { Worker } from '@oplus/worker';
import type { ActionResult } from '../actuator.ts';
import { sha256 } from '../digest.ts';
import { agentOn } from '../loop.ts';
import type { Agent, AgentOptions } from '../loop.ts';
import type { Model } from '../model.ts';
import type { Skill } from '../skill.ts';
import { o200kTokens } from '../tokens.ts';
import { boardSkill } from './board-skill.ts';
import { fakeTeam } from './fake-team.ts';
import type { FakeTeam } from './fake-team.ts';
import { testBlobs, testTrace } from './memory-stores.ts';
import type { TestBlobs, TestTrace } from './memory-stores.ts';

export type Rig = {
  readonly agent: Agent;
  readonly worker: Worker;
  readonly team: FakeTeam;
  readonly blobs: TestBlobs;
  readonly trace: TestTrace;
  /** Every action that ran, with its key. */
  readonly acts: readonly { readonly action: Action; readonly key: string }[];
};

/** What a test wants otherwise. */
export type RigOptions = Partial<Omit<AgentOptions, 'trace' | 'blobs' | 'worker' | 'model'>> & {
  readonly team?: FakeTeam;
  readonly name?: string;
  readonly trace?: TestTrace;
  readonly answerTo?: (action: Action) => ActionResult | Error;
};

/** An agent on the board, with a model. */
export async function rig(
  model: Model,
  { team: given, name = 'w1', answerTo, trace = testTrace(), ...over }: RigOptions = {},
): Promise<Rig> {
  const skill: Skill = over.skill ?? boardSkill();
  const team = given ?? fakeTeam(loadState(skill.state, sha256));
  const worker = team.join(name, skill.role);
  const blobs = testBlobs();
  const acts: { readonly action: Action; readonly key: string }[] = [];
  const actuator = {
    act: async (action: Action, key: string): Promise<ActionResult> => {
      acts.push({ action, key });
      const result = answerTo?.(action) ?? { kind: 'done', observation: `${action.name} done` };
      if (result instanceof Error) throw result;
      return result;
    },
  };
  const agent = agentOn({ actuator, tokens: await o200kTokens(), ...over, skill, worker, model, blobs, trace });
  return { agent, worker, team, blobs, trace, acts };
}
