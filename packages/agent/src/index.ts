export { actionKey } from './action-key.ts';
export type { ActionResult, Actuator } from './actuator.ts';
export { answerFormat } from './answer-format.ts';
export { answerSchema } from './answer-schema.ts';
export type { Decision, ReadAnswer } from './answer.ts';
export { readAnswer, WHY_CHARS_MAX } from './answer.ts';
export type { FittedPrompt } from './budget.ts';
export { fitPrompt } from './budget.ts';
export { digestOf, sha256 } from './digest.ts';
export type { Agent, AgentOptions } from './loop.ts';
export { agentOn } from './loop.ts';
export type { AnswerForm, Finish, Messages, Model, ModelAnswer, ModelRequest } from './model.ts';
export { messagesOf } from './model.ts';
export { nearestWord } from './nearest.ts';
export { notationOf, patchNotation } from './notation.ts';
export type { ShownObservation } from './observation.ts';
export { boundObservation } from './observation.ts';
export type { PromptParts } from './prompt.ts';
export { dataText, ISSUES_CHARS_MAX, issueForModel, promptOf } from './prompt.ts';
export type { Percept, Policy, ScriptedDecision } from './scripted-model.ts';
export { readPrompt, sayDecision, scriptedModel } from './scripted-model.ts';
export type { ActionDefinition, Skill, SkillAction, SkillDefinition } from './skill.ts';
export { defineSkill } from './skill.ts';
export type { SkillFile } from './skill-file.ts';
export { parseSkillFile, readSkillFolder, SKILL_BYTES_MAX } from './skill-file.ts';
export type { Attempt, StepResult } from './step.ts';
export type {
  Decision as TaskDecision,
  Effect,
  Environment,
  OpenEvent,
  Prompted,
  Ruling,
  RunPlan,
  Tally,
  Task,
  TaskSetup,
} from './task.ts';
export type { TokenCounter } from './tokens.ts';
export { o200kTokens, RUN_CHARS_MAX } from './tokens.ts';
export type {
  ActionEvent,
  AttemptEnd,
  AttemptEvent,
  PromptTokens,
  StepEvent,
  TraceEvent,
  TraceSink,
  TraceText,
} from './trace.ts';
export { readTraceLine, traceEventShape, traceLine } from './trace.ts';
export { openTraceFile } from './trace-file.ts';
