/**
 * The `Model` port on any server that speaks the chat completions protocol.
 *
 * The strongest form of answer that the server takes is found by asking: strict JSON schema, then JSON mode, then fenced text;
 * what worked is remembered. Retries are ours: bounded, visible, paced by an injected pause. No secret is in any error or
 * notice. SPEC: OAI1-OAI12.
 */
import { messagesOf } from '@oplus/agent';
import type { AnswerForm, Finish, Model, ModelAnswer, ModelRequest } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import OpenAI from 'openai';
import type { ChatCompletion, ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { backoffMs, realPause } from './backoff.ts';
import type { Pause } from './backoff.ts';
import { endpointOf } from './endpoint.ts';
import type { Endpoint, Variables } from './endpoint.ts';
import { failureOf, refused, unreachable } from './failure.ts';
import type { Failure } from './failure.ts';

/** What an adapter does that a person may want to see. `why` is one line without secrets. */
export type Notice =
  | { readonly kind: 'retry'; readonly retry: number; readonly delayMs: number; readonly why: string }
  | { readonly kind: 'weaker-form'; readonly from: AnswerForm; readonly to: AnswerForm; readonly why: string }
  | { readonly kind: 'without-parameter'; readonly parameter: string; readonly why: string };

export type OpenaiOptions = {
  /** The server's name of the model. */
  readonly model: string;
  /** Else `OPENAI_BASE_URL`, else the default service. */
  readonly baseURL?: string;
  /** Else `OPENAI_API_KEY`; needed for the default service only. */
  readonly apiKey?: string;
  /** `process.env` when left out. */
  readonly environment?: Variables;
  /** 0 when left out. Dropped when the server does not take it. */
  readonly temperature?: number;
  /** Sent when given. Dropped when the server does not take it. */
  readonly seed?: number;
  /** Most tokens of one answer; the server's own limit when left out. */
  readonly answerTokensMax?: number;
  /** Longest wait for one whole answer, in milliseconds; 120,000 when left out. */
  readonly timeoutMs?: number;
  /** Most retries of one request; 4 when left out. */
  readonly retriesMax?: number;
  /** Longest wait between two tries, in milliseconds; 30,000 when left out. A server that asks for more is given up on. */
  readonly delayMsMax?: number;
  /** Waits in real time when left out. */
  readonly pause?: Pause;
  readonly onNotice?: (notice: Notice) => void;
};

/** A model on such a server. Opens no connection yet. Throws `USAGE` when address or key are missing or malformed. */
export function openaiModel(options: OpenaiOptions): Model {
  if (options.model.trim() === '') throw new OplusError('USAGE', 'a model without a name', { hint: 'Name it: openai:<name>.' });
  const endpoint = endpointOf(options, options.environment ?? process.env);
  const server: Server = {
    options,
    endpoint,
    client: clientOf(endpoint, options.timeoutMs ?? TIMEOUT_MS),
    dropped: new Set(),
    form: 'strict',
  };
  return { id: `openai:${options.model}`, complete: (request) => complete(server, request) };
}

/** What is known of one server and model. `form` is the strongest that has not been refused. */
type Server = {
  readonly options: OpenaiOptions;
  readonly endpoint: Endpoint;
  readonly client: OpenAI;
  readonly dropped: Set<string>;
  form: AnswerForm;
};

type Body = ChatCompletionCreateParamsNonStreaming;

const TIMEOUT_MS = 120_000;
const CLIENT_TIMER_MARGIN_MS = 60_000;
const RETRIES_MAX = 4;
const DELAY_MS_MAX = 30_000;
const WEAKER: { readonly [form in AnswerForm]: AnswerForm | undefined } = {
  strict: 'object',
  object: 'fenced',
  fenced: undefined,
};
const OPTIONAL: readonly string[] = ['temperature', 'seed'];
const REQUEST_HINT = 'The message of the server says what it does not take.';

function clientOf({ baseURL, apiKey, isDefault }: Endpoint, timeoutMs: number): OpenAI {
  const account = isDefault ? {} : { organization: null, project: null };
  // The client's own timer sees the header alone. Ours covers the whole answer, so it has to be the one that fires.
  const timeout = timeoutMs + CLIENT_TIMER_MARGIN_MS;
  return new OpenAI({ baseURL, apiKey, adminAPIKey: null, ...account, maxRetries: 0, timeout, logLevel: 'off' });
}

/** Asks in the strongest form, and in weaker ones while the server refuses the request itself. */
async function complete(server: Server, request: ModelRequest): Promise<ModelAnswer> {
  const { options, endpoint } = server;
  for (let form = server.form; ;) {
    const body = bodyOf(server, request, form);
    const asked = await ask(server, body, request.signal);
    if (asked.kind === 'answered') {
      server.form = form;
      return answerOf(asked.completion, form) ?? fail(server, asked.completion);
    }
    const { failure, error } = asked;
    const { parameter, why } = failure;
    if (parameter !== undefined && OPTIONAL.includes(parameter) && parameter in body) {
      server.dropped.add(parameter);
      options.onNotice?.({ kind: 'without-parameter', parameter, why });
      continue;
    }
    const weaker = parameter === undefined || parameter.startsWith('response_format') ? WEAKER[form] : undefined;
    if (weaker === undefined) throw refused(options.model, endpoint, why, REQUEST_HINT, error);
    options.onNotice?.({ kind: 'weaker-form', from: form, to: weaker, why });
    form = weaker;
  }
}

type Asked =
  | { readonly kind: 'answered'; readonly completion: ChatCompletion }
  | { readonly kind: 'not-taken'; readonly failure: Extract<Failure, { readonly kind: 'request' }>; readonly error: unknown };

/** One request with its retries. Throws what no other form of the request can cure. */
async function ask(server: Server, body: Body, signal: AbortSignal | undefined): Promise<Asked> {
  const { options, endpoint } = server;
  const delayMsMax = options.delayMsMax ?? DELAY_MS_MAX;
  for (let retry = 0; ; retry += 1) {
    signal?.throwIfAborted();
    const late = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
    try {
      const completion = await server.client.chat.completions.create(body, {
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      });
      return { kind: 'answered', completion };
    } catch (error) {
      signal?.throwIfAborted();
      const failure: Failure = late.aborted
        ? { kind: 'later', why: `no answer within ${options.timeoutMs ?? TIMEOUT_MS} ms`, retryAfterMs: undefined }
        : failureOf(error, endpoint);
      if (failure.kind === 'request') return { kind: 'not-taken', failure, error };
      if (failure.kind === 'refused') throw refused(options.model, endpoint, failure.why, failure.hint, error);
      const { why, retryAfterMs } = failure;
      if (retryAfterMs !== undefined && retryAfterMs > delayMsMax)
        throw unreachable(options.model, endpoint, why, error, retryAfterMs);
      if (retry >= (options.retriesMax ?? RETRIES_MAX))
        throw unreachable(options.model, endpoint, `${why}, after ${retry} retries`, error);
      const delayMs = Math.max(retryAfterMs ?? 0, backoffMs(retry, JSON.stringify(body.messages), delayMsMax));
      options.onNotice?.({ kind: 'retry', retry: retry + 1, delayMs, why });
      await (options.pause ?? realPause)(delayMs, signal);
    }
  }
}

function bodyOf({ options, endpoint, dropped }: Server, request: ModelRequest, form: AnswerForm): Body {
  const { system, user } = messagesOf(request, form);
  const { model, temperature = 0, seed, answerTokensMax } = options;
  const format = {
    type: 'json_schema',
    json_schema: { name: 'answer', strict: true, schema: request.answerSchema as { [key: string]: unknown } },
  } as const;
  return {
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    ...(form === 'strict' ? { response_format: format } : form === 'object' ? { response_format: { type: 'json_object' } } : {}),
    ...(dropped.has('temperature') ? {} : { temperature }),
    ...(seed === undefined || dropped.has('seed') ? {} : { seed }),
    ...(answerTokensMax === undefined
      ? {}
      : endpoint.isDefault
        ? { max_completion_tokens: answerTokensMax }
        : { max_tokens: answerTokensMax }),
  };
}

/** The answer in a completion; `undefined` when it is none. */
function answerOf(completion: ChatCompletion, form: AnswerForm): ModelAnswer | undefined {
  const choice = (completion as Partial<ChatCompletion> | null)?.choices?.[0];
  const message = choice?.message as { readonly content?: unknown; readonly refusal?: unknown } | undefined;
  if (choice === undefined || message === undefined || message === null) return undefined;
  const declined = typeof message.refusal === 'string' && message.refusal !== '' ? message.refusal : undefined;
  const usage = usageOf(completion.usage);
  return {
    text: declined ?? withoutThoughts(textOf(message.content)),
    form,
    finish: declined === undefined ? (FINISH[String(choice.finish_reason)] ?? 'stop') : 'refused',
    ...(usage === undefined ? {} : { usage }),
  };
}

const FINISH: { readonly [reason: string]: Finish } = { length: 'length', content_filter: 'filtered' };

/** Text, or the text parts of a list; anything else is an empty answer. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { readonly text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

/** Servers without a reasoning parser leave a model's thoughts in front of its answer. */
function withoutThoughts(text: string): string {
  return text.replace(/^\s*<think>[\s\S]*?<\/think>/, '');
}

function usageOf(
  usage: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null | undefined,
): ModelAnswer['usage'] {
  const promptTokens = usage?.prompt_tokens;
  const answerTokens = usage?.completion_tokens;
  return isCount(promptTokens) && isCount(answerTokens) ? { promptTokens, answerTokens } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function fail({ options, endpoint }: Server, completion: unknown): never {
  const hint = 'Does OPENAI_BASE_URL end with the path of the API, often /v1?';
  throw refused(
    options.model,
    endpoint,
    'its answer is no chat completion',
    hint,
    new Error(`a ${typeof completion} without choices`),
  );
}
