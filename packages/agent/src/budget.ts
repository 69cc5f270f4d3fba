/**
 * The budget: |P| + |view| + |O| <= C, counted on the exact text of the prompt before every call.
 */
import { OplusError } from '@oplus/core';
import type { AnswerForm, ModelRequest } from './model.ts';
import { messagesOf } from './model.ts';
import type { PromptParts } from './prompt.ts';
import { ISSUES_CHARS_MAX, promptOf } from './prompt.ts';
import type { TokenCounter } from './tokens.ts';
import type { PromptTokens } from './trace.ts';

/** A prompt that fits, with its counts in each form of answer. */
export type FittedPrompt = {
  readonly request: Omit<ModelRequest, 'signal'>;
  readonly tokens: { readonly [form in AnswerForm]: PromptTokens };
};

/**
 * The prompt of these parts in at most `tokensMax` tokens, whatever form of answer the adapter chooses. Shows fewer issues before
 * it gives up. Throws `USAGE` when even one issue does not fit, or the rest without any.
 */
export function fitPrompt(parts: PromptParts, tokens: TokenCounter, tokensMax: number): FittedPrompt {
  for (let issuesCharsMax = ISSUES_CHARS_MAX; ; issuesCharsMax = Math.floor(issuesCharsMax / 2)) {
    const fitted = counted(promptOf(parts, issuesCharsMax), tokens);
    const largest = FORMS.map((form) => fitted.tokens[form]).reduce((a, b) => (b.total > a.total ? b : a));
    if (largest.total <= tokensMax) return fitted;
    if (parts.issues.length === 0 || issuesCharsMax === 0) throw tooLarge(parts.agent, largest, tokensMax);
  }
}

const FORMS: readonly AnswerForm[] = ['fenced', 'object', 'strict'];

function counted(request: Omit<ModelRequest, 'signal'>, tokens: TokenCounter): FittedPrompt {
  const state = tokens.count(request.state);
  const observation = tokens.count(request.observation) + (request.issues === '' ? 0 : tokens.count(request.issues));
  const user = tokens.count(messagesOf(request, 'fenced').user);
  const of = (form: AnswerForm): PromptTokens => {
    const procedure = systemTokens(messagesOf(request, form).system, tokens);
    return { procedure, state, observation, total: procedure + user };
  };
  return { request, tokens: { fenced: of('fenced'), object: of('object'), strict: of('strict') } };
}

/** The procedure is the same text in every step, so it is counted once per counter. */
const KNOWN: WeakMap<TokenCounter, Map<string, number>> = new WeakMap();
const KNOWN_MAX = 64;

function systemTokens(system: string, tokens: TokenCounter): number {
  const known = KNOWN.get(tokens) ?? new Map<string, number>();
  KNOWN.set(tokens, known);
  const count = known.get(system) ?? tokens.count(system);
  if (known.size < KNOWN_MAX) known.set(system, count);
  return count;
}

function tooLarge(agent: string, tokens: PromptTokens, tokensMax: number): OplusError {
  const { procedure, state, observation, total } = tokens;
  return new OplusError(
    'USAGE',
    `the prompt of ${agent} has ${total} tokens, ${tokensMax} are allowed: procedure ${procedure}, state ${state}, observation ${observation}`,
    {
      hint: 'Project a smaller slice of the state, shorten the procedure, or raise tokensMax.',
    },
  );
}
