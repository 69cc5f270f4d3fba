/**
 * The state-centric loop: one step from an observation to an action.
 *
 * observation -> view -> prompt -> model -> decision -> proposal on that view -> verdict. What cannot be read, is refused or is
 * rejected goes back to the model as addressed issues beside a fresh view, a bounded number of times; then the step ends
 * `stalled`, visibly. The action runs only after `committed`, once, with the dot as its idempotency key. Nothing of a step is in
 * the next one's prompt but the observation that the caller passes on. SPEC: AGT1-AGT12.
 */
import { loadState, OplusError } from '@oplus/core';
import type { Action, JsonObject } from '@oplus/core';
import type { Blobs } from '@oplus/protocol';
import type { Worker } from '@oplus/worker';
import type { Actuator } from './actuator.ts';
import { answerFormat } from './answer-format.ts';
import { answerSchema } from './answer-schema.ts';
import { sha256 } from './digest.ts';
import type { Model } from './model.ts';
import type { Skill } from './skill.ts';
import { runStep } from './step.ts';
import type { Standing, StepResult } from './step.ts';
import type { TokenCounter } from './tokens.ts';
import type { TraceSink } from './trace.ts';

/**
 * `repairsMax` is how often issues go back to the model within one step, 4 when left out. `actionFault` says what is wrong with
 * an action beside its patch, before anything is proposed: only a task knows whether both say the same.
 */
export type AgentOptions = {
  readonly skill: Skill;
  readonly worker: Worker;
  readonly model: Model;
  readonly actuator: Actuator;
  readonly tokens: TokenCounter;
  readonly blobs: Blobs;
  readonly trace: TraceSink;
  readonly repairsMax?: number;
  readonly actionFault?: (action: Action, patch: JsonObject) => string | undefined;
};

/** One agent that follows a skill in a space. Keeps nothing between steps but their count. */
export interface Agent {
  /**
   * Runs one step. Throws `USAGE` when the prompt does not fit into the skill's budget, or while another step runs; whatever the
   * model, the worker, the trace, the blobs or the actuator throw; the signal's reason once it is aborted, before anything is
   * proposed. A step that throws after its proposal was committed may have acted: the trace says how far it came.
   */
  step(observation: string, signal?: AbortSignal): Promise<StepResult>;
}

/** An agent on a worker that is its own. Throws `SCHEMA_INVALID` when the skill's state definition does not load. */
export function agentOn(options: AgentOptions): Agent {
  const { skill, worker } = options;
  const schema = loadState(skill.state, sha256);
  if (worker.role !== skill.role) {
    throw new OplusError('USAGE', `${worker.agent} joined as ${worker.role}, its skill is for ${skill.role}`, {
      hint: `Join as ${skill.role}.`,
    });
  }
  const standing: Standing = { options, schema, format: answerFormat(schema, skill), answerSchema: answerSchema(schema, skill) };
  let step = 0;
  let isRunning = false;
  return {
    async step(observation, signal) {
      if (isRunning) throw new OplusError('USAGE', `${worker.agent} is in a step already`, { hint: 'Wait for the step to end.' });
      isRunning = true;
      step += 1;
      try {
        return await runStep(standing, step, observation, signal);
      } finally {
        isRunning = false;
      }
    },
  };
}
