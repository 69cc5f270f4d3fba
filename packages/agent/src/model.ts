/**
 * Port `Model`: text in, text out. Nothing of a server's protocol is known on this side.
 */
import type { JsonObject } from '@oplus/core';

/**
 * How an answer is written.
 * - `fenced`: reasoning, then one fenced JSON block with `patch` and `action`.
 * - `object`: one JSON object, reasoning inside it. For servers with a JSON mode.
 * - `strict`: one JSON object that a server holds to `answerSchema`: every key present, null for what is not used, lists of
 *   `{key, change}` where the patch has an object with free keys.
 */
export type AnswerForm = 'fenced' | 'object' | 'strict';

/**
 * One prompt, in separate blocks. `state`, `observation` and `issues` are data inside fences that nothing in them can close;
 * `issues` is empty on the first attempt. The adapter chooses the strongest form that its server has and adds that form's
 * instructions to the procedure (`messagesOf`).
 */
export type ModelRequest = {
  readonly procedure: string;
  readonly format: { readonly [form in AnswerForm]: string };
  readonly state: string;
  readonly observation: string;
  readonly issues: string;
  /** JSON Schema of an answer in the form `strict`: closed, every key required. */
  readonly answerSchema: JsonObject;
  readonly signal?: AbortSignal;
};

/** Why the answer ended: by itself, at a length limit, because the model declined, or because a filter cut it. */
export type Finish = 'stop' | 'length' | 'refused' | 'filtered';

/** `form` is the one that was asked for. `usage` is what the server counted, in tokens. */
export type ModelAnswer = {
  readonly text: string;
  readonly form: AnswerForm;
  readonly finish: Finish;
  readonly usage?: { readonly promptTokens: number; readonly answerTokens: number };
};

export interface Model {
  /** Stands in every line of the trace, such as `openai:<name>`. */
  readonly id: string;
  /**
   * One answer to one prompt. Throws `MODEL_UNREACHABLE` (may succeed later), `MODEL_REFUSED` (will not), and the signal's reason
   * when it was aborted. Keeps nothing of the prompt for the next one.
   */
  complete(request: ModelRequest): Promise<ModelAnswer>;
}

/** The two messages of a prompt: what the agent is told to do, and what is data. */
export type Messages = { readonly system: string; readonly user: string };

/** The exact text of a prompt in one form of answer: what is sent, counted and traced. */
export function messagesOf(request: ModelRequest, form: AnswerForm): Messages {
  const blocks = [request.state, request.observation, request.issues].filter((block) => block !== '');
  return { system: `${request.procedure}\n\n${request.format[form]}`, user: blocks.join('\n\n') };
}
