/**
 * One step of the loop: attempts until a decision is accepted or the repairs are spent, then the action.
 */
import type { Action, Issue, JsonObject, StateSchema, Verdict } from '@oplus/core';
import { OplusError, trieAt, withoutEchoes } from '@oplus/core';
import type { Draft, View } from '@oplus/worker';
import { actionKey } from './action-key.ts';
import type { ActionResult } from './actuator.ts';
import type { Decision, ReadAnswer } from './answer.ts';
import { readAnswer } from './answer.ts';
import { fitPrompt } from './budget.ts';
import { clip } from './clip.ts';
import { sha256 } from './digest.ts';
import type { AgentOptions } from './loop.ts';
import type { AnswerForm, ModelAnswer } from './model.ts';
import type { ShownObservation } from './observation.ts';
import { boundObservation } from './observation.ts';
import { dataText } from './prompt.ts';
import type { AttemptEnd, AttemptEvent, PromptTokens, StepEvent } from './trace.ts';

/** What stays the same for an agent from step to step. */
export type Standing = {
  readonly options: AgentOptions;
  readonly schema: StateSchema;
  readonly format: { readonly [form in AnswerForm]: string };
  readonly answerSchema: JsonObject;
};

/** One prompt of a step and what became of it. */
export type Attempt = { readonly tokens: PromptTokens; readonly end: AttemptEnd };

/**
 * How a step ended.
 * - `acted`: the patch is committed and the action ran; `result.observation` is what the agent should see next, done or failed.
 * - `committed`: the patch is committed, there was no action.
 * - `passed`: the model had nothing to propose.
 * - `stalled`: no decision was accepted; `issues` are those of the last attempt.
 */
export type StepResult = { readonly step: number; readonly attempts: readonly Attempt[] } & (
  | {
      readonly outcome: 'acted';
      readonly verdict: Verdict;
      readonly action: Action;
      readonly key: string;
      readonly result: ActionResult;
    }
  | { readonly outcome: 'committed'; readonly verdict: Verdict }
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'stalled'; readonly issues: readonly Issue[] }
);

/** Runs one step and traces it, its failure included. */
export async function runStep(
  standing: Standing,
  step: number,
  observation: string,
  signal: AbortSignal | undefined,
): Promise<StepResult> {
  const attempts: Attempt[] = [];
  const acting: { key?: string } = {};
  try {
    return await run(standing, { step, attempts, acting, signal }, observation);
  } catch (error) {
    const failure = {
      code: error instanceof OplusError ? error.code : 'OTHER',
      message: clip(String((error as Error)?.message ?? error), 0, MESSAGE_CHARS_MAX),
    };
    const event = stepEvent(standing, step, attempts.length, { outcome: 'failed', ...acting, error: failure });
    await standing.options.trace.append(event).catch(() => undefined); // The first error is the one that matters.
    throw error;
  }
}

/** What a step has come to so far: kept outside, so that a failure can be traced with it. */
type Progress = {
  readonly step: number;
  readonly attempts: Attempt[];
  readonly acting: { key?: string };
  readonly signal: AbortSignal | undefined;
};

const REPAIRS_MAX = 4;
const CHARS_PER_TOKEN_MAX = 16;
const MESSAGE_CHARS_MAX = 300;
const RESULT_TOKENS_MAX = 512;

/** Codes that no other decision of a model can cure. */
const HOPELESS: ReadonlySet<string> = new Set([
  'protocol',
  'identity',
  'unknown_agent',
  'fenced',
  'equivocation',
  'replayed',
  'gap',
  'full',
]);

async function run(standing: Standing, progress: Progress, observation: string): Promise<StepResult> {
  const { options } = standing;
  const { step, attempts } = progress;
  const { tokens, blobs, skill } = options;
  const shown = await boundObservation(observation, { tokens, tokensMax: skill.observationTokensMax, blobs });
  let issues: readonly Issue[] = [];
  for (;;) {
    const view = await options.worker.view();
    const { decision, attempt } = await attemptOn(standing, progress, view, shown, issues);
    const { end } = attempt;
    if (end.kind === 'committed') return carryOut(standing, progress, end, decision?.action);
    if (end.kind === 'passed') {
      await view.pass();
      await options.trace.append(stepEvent(standing, step, attempts.length, { outcome: 'passed' }));
      return { step, attempts, outcome: 'passed' };
    }
    issues = end.issues;
    if (attempts.length <= (options.repairsMax ?? REPAIRS_MAX) && !issues.some((issue) => HOPELESS.has(issue.code))) continue;
    if (end.kind !== 'rejected') await view.pass();
    await options.trace.append(stepEvent(standing, step, attempts.length, { outcome: 'stalled' }));
    return { step, attempts, outcome: 'stalled', issues };
  }
}

async function attemptOn(
  standing: Standing,
  progress: Progress,
  view: View,
  shown: ShownObservation,
  issues: readonly Issue[],
): Promise<{ readonly attempt: Attempt; readonly decision: Decision | undefined }> {
  const { options, schema, format, answerSchema } = standing;
  const { skill, worker, model, blobs } = options;
  const { signal } = progress;
  signal?.throwIfAborted();
  checkSchema(standing, view);
  const state = dataText(view.project({ focus: shown.text }, skill.tokensMax * CHARS_PER_TOKEN_MAX, skill.projection));
  const viewDigest = await blobs.put(new TextEncoder().encode(state));
  const parts = { agent: worker.agent, procedure: skill.procedure, format, answerSchema, state, observation: shown.text, issues };
  const { request, tokens } = fitPrompt(parts, options.tokens, skill.tokensMax);
  const answer = await model.complete(signal === undefined ? request : { ...request, signal });
  signal?.throwIfAborted();
  const read = withActionFault(readAnswer(answer, schema, skill.actions), options.actionFault);
  const draft = read.kind === 'read' ? draftOf(standing, view, read.decision) : undefined;
  const end: AttemptEnd =
    read.kind === 'unreadable' ? read : draft === undefined ? { kind: 'passed' } : await view.propose(draft);
  const attempt: Attempt = { tokens: tokens[answer.form], end };
  progress.attempts.push(attempt);
  await options.trace.append(attemptEvent(standing, progress, { viewDigest, shown, answer, draft, attempt }));
  return { attempt, decision: read.kind === 'read' ? read.decision : undefined };
}

/** A prompt must speak of the fields that the space has. */
function checkSchema({ schema, options }: Standing, { space }: View): void {
  if (space.schema.id === schema.id) return;
  const { name, version } = space.schema;
  throw new OplusError(
    'USAGE',
    `space ${space.name} runs ${name} version ${version}, the skill ${options.skill.name} has another definition of ${schema.name} version ${schema.version}`,
    {
      hint: 'Use the skill with which the space was made.',
    },
  );
}

/** What was read, unless its action does something else than its patch says. */
function withActionFault(read: ReadAnswer, actionFault: AgentOptions['actionFault']): ReadAnswer {
  if (read.kind === 'unreadable' || read.decision.action === undefined) return read;
  const hint = actionFault?.(read.decision.action, read.decision.patch);
  if (hint === undefined) return read;
  return { kind: 'unreadable', issues: [{ path: '/action', code: 'schema', rule: 'action', recovery: 'change', hint }] };
}

/** The draft of a decision; `undefined` when there is nothing to propose: no action, and no write that the view does not show already. */
function draftOf(standing: Standing, view: View, { patch, action, why }: Decision): Draft | undefined {
  if (action === undefined && Object.keys(withoutEchoes(view.space, patch)).length === 0) return undefined;
  const { skill, worker } = standing.options;
  const premises =
    action === undefined
      ? undefined
      : skill.actions[action.name]?.premises?.(action.args, { agent: worker.agent, role: worker.role });
  return {
    patch,
    ...(action === undefined ? {} : { action }),
    ...(premises === undefined || premises.length === 0 ? {} : { premises }),
    ...(why === undefined ? {} : { why }),
  };
}

async function carryOut(
  standing: Standing,
  progress: Progress,
  verdict: Verdict,
  action: Action | undefined,
): Promise<StepResult> {
  const { options } = standing;
  const { step, attempts, acting } = progress;
  if (action === undefined) {
    await options.trace.append(stepEvent(standing, step, attempts.length, { outcome: 'committed' }));
    return { step, attempts, outcome: 'committed', verdict };
  }
  const key = await idempotencyKey(standing);
  await options.trace.append({ v: 1, kind: 'action', agent: options.worker.agent, step, key, action });
  acting.key = key;
  const result = await options.actuator.act(action, key);
  const limit = { tokens: options.tokens, tokensMax: RESULT_TOKENS_MAX, blobs: options.blobs };
  const observation = await boundObservation(result.observation, limit);
  await options.trace.append(
    stepEvent(standing, step, attempts.length, { outcome: 'acted', key, result: { kind: result.kind, observation } }),
  );
  return { step, attempts, outcome: 'acted', verdict, action, key, result };
}

/**
 * Space and dot of this agent's newest decided proposal: one proposal is in flight per worker and views are never older than
 * its last verdict, so after a verdict this is the proposal that got it.
 */
async function idempotencyKey(standing: Standing): Promise<string> {
  const { worker } = standing.options;
  const { space } = await worker.view();
  const record = trieAt(space.agents, worker.agent);
  if (record === undefined) throw new OplusError('INVARIANT', `${worker.agent} has a verdict but no record in ${space.name}`);
  return actionKey(space.name, { agent: worker.agent, n: record.n });
}

function attemptEvent(
  standing: Standing,
  progress: Progress,
  told: {
    readonly viewDigest: string;
    readonly shown: ShownObservation;
    readonly answer: ModelAnswer;
    readonly draft: Draft | undefined;
    readonly attempt: Attempt;
  },
): AttemptEvent {
  const { skill, worker, model } = standing.options;
  const { viewDigest, shown, answer, draft, attempt } = told;
  return {
    v: 1,
    kind: 'attempt',
    agent: worker.agent,
    step: progress.step,
    attempt: progress.attempts.length,
    skill: { name: skill.name, digest: skill.procedureDigest },
    model: model.id,
    view: viewDigest,
    observation: shown,
    tokens: attempt.tokens,
    answer: { digest: sha256(answer.text), form: answer.form, finish: answer.finish },
    ...(answer.usage === undefined ? {} : { usage: answer.usage }),
    ...(draft === undefined ? {} : { proposal: draft }),
    end: attempt.end,
  };
}

function stepEvent(
  standing: Standing,
  step: number,
  attempts: number,
  end: Pick<StepEvent, 'outcome' | 'key' | 'result' | 'error'>,
): StepEvent {
  return { v: 1, kind: 'step', agent: standing.options.worker.agent, step, attempts, ...end };
}
