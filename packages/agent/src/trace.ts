/**
 * The trace: an append-only record for people of everything that an agent saw, said, proposed, was told and did.
 *
 * Three kinds of event: every attempt, every action before it runs (so that a crash in between shows), every end of a step.
 * No time of day stands in it: the same run gives the same bytes. Texts are bounded; views and large texts are blobs, named
 * by digest. Reasoning is not kept, only the digest of the whole answer. SPEC: TRC1-TRC7.
 */
import type { Action, Issue, Json, JsonObject } from '@oplus/core';
import { AGENT_PATTERN, canonical, OplusError } from '@oplus/core';
import type { Answer } from '@oplus/worker';
import { z } from 'zod';
import type { ActionResult } from './actuator.ts';
import type { AnswerForm, Finish } from './model.ts';

/** Counts of one prompt, in tokens of the budget's vocabulary. `observation` holds the issues too; `total` is what was sent. */
export type PromptTokens = {
  readonly procedure: number;
  readonly state: number;
  readonly observation: number;
  readonly total: number;
};

/** A text that may be long: its beginning, and the digest of the blob that holds all of it when there is more. */
export type TraceText = { readonly text: string; readonly artefact?: string };

/** What became of one attempt. */
export type AttemptEnd =
  | Answer
  | { readonly kind: 'unreadable'; readonly issues: readonly Issue[] }
  | { readonly kind: 'passed' };

/** One prompt and what came of it. `view` is the digest of the exact text that the model saw as state. */
export type AttemptEvent = {
  readonly v: 1;
  readonly kind: 'attempt';
  readonly agent: string;
  readonly step: number;
  readonly attempt: number;
  readonly skill: { readonly name: string; readonly digest: string };
  readonly model: string;
  readonly view: string;
  readonly observation: TraceText;
  readonly tokens: PromptTokens;
  readonly answer: { readonly digest: string; readonly form: AnswerForm; readonly finish: Finish };
  readonly usage?: { readonly promptTokens: number; readonly answerTokens: number };
  readonly proposal?: {
    readonly patch: JsonObject;
    readonly action?: Action;
    readonly premises?: readonly string[];
    readonly why?: string;
  };
  readonly end: AttemptEnd;
};

/** An action that is about to run. One without the end of its step is in doubt. */
export type ActionEvent = {
  readonly v: 1;
  readonly kind: 'action';
  readonly agent: string;
  readonly step: number;
  readonly key: string;
  readonly action: Action;
};

/** How a step ended. `failed` steps carry the error that stopped them; nobody knows whether a failed action took effect. */
export type StepEvent = {
  readonly v: 1;
  readonly kind: 'step';
  readonly agent: string;
  readonly step: number;
  readonly outcome: 'acted' | 'committed' | 'passed' | 'stalled' | 'failed';
  readonly attempts: number;
  readonly key?: string;
  readonly result?: { readonly kind: ActionResult['kind']; readonly observation: TraceText };
  readonly error?: { readonly code: string; readonly message: string };
};

export type TraceEvent = AttemptEvent | ActionEvent | StepEvent;

/** Port: where trace events go. */
export interface TraceSink {
  /** Resolves when the event is handed to the system. Rejects when it could not be: what is not traced must not go on. */
  append(event: TraceEvent): Promise<void>;
  /** Idempotent. Waits for appends in flight. */
  close(): Promise<void>;
}

/** One line of a trace: canonical JSON, without the line end. */
export function traceLine(event: TraceEvent): string {
  return canonical(event as unknown as Json);
}

/** Reads one line. Throws `LOG_DAMAGED` for anything that is no event. */
export function readTraceLine(line: string): TraceEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw damaged('it is not JSON', cause);
  }
  const parsed = traceEventShape.safeParse(value);
  if (!parsed.success) throw damaged(parsed.error.issues[0]?.message ?? 'it has another shape', parsed.error);
  return value as TraceEvent;
}

function damaged(why: string, cause: unknown): OplusError {
  return new OplusError('LOG_DAMAGED', `a line of the trace is no event: ${why}`, {
    hint: 'A torn last line is what a killed process leaves; the lines before it are whole.',
    cause,
  });
}

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
const json = z.record(z.string(), z.unknown());
const text = z.strictObject({ text: z.string(), artefact: digest.optional() });
const actionShape = z.strictObject({ name: z.string().min(1).max(64), args: json });
const common = { v: z.literal(1), agent: z.string().regex(AGENT_PATTERN), step: z.int().min(1) };

/** The shape of a trace event. Closed. Verdicts and issues are checked by the core that made them. */
export const traceEventShape: z.ZodType<TraceEvent> = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('attempt'),
    attempt: z.int().min(1),
    skill: z.strictObject({ name: z.string(), digest }),
    model: z.string(),
    view: digest,
    observation: text,
    tokens: z.strictObject({ procedure: count, state: count, observation: count, total: count }),
    answer: z.strictObject({
      digest,
      form: z.enum(['fenced', 'object', 'strict']),
      finish: z.enum(['stop', 'length', 'refused', 'filtered']),
    }),
    usage: z.strictObject({ promptTokens: count, answerTokens: count }).optional(),
    proposal: z
      .strictObject({
        patch: json,
        action: actionShape.optional(),
        premises: z.array(z.string()).optional(),
        why: z.string().optional(),
      })
      .optional(),
    end: z.looseObject({ kind: z.enum(['committed', 'rejected', 'refused', 'unreadable', 'passed']) }),
  }),
  z.strictObject({ ...common, kind: z.literal('action'), key: z.string(), action: actionShape }),
  z.strictObject({
    ...common,
    kind: z.literal('step'),
    outcome: z.enum(['acted', 'committed', 'passed', 'stalled', 'failed']),
    attempts: count,
    key: z.string().optional(),
    result: z.strictObject({ kind: z.enum(['done', 'failed']), observation: text }).optional(),
    error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  }),
]) as unknown as z.ZodType<TraceEvent>;
