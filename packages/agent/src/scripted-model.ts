/**
 * A model without a language model: it reads its prompt as text, as a model would, decides by a pure function, and answers
 * with text that has to be parsed. It sees nothing else: no space, no view object, no earlier prompt. SPEC: SCR1-SCR3.
 */
import type { Action, Json, JsonObject } from '@oplus/core';
import { canonical, isJsonObject, OplusError } from '@oplus/core';
import type { Messages, Model } from './model.ts';
import { messagesOf } from './model.ts';

/** What a policy knows: the blocks of one prompt, parsed from its text. `issues` are those of the last attempt, in field terms. */
export type Percept = {
  readonly procedure: string;
  readonly state: JsonObject;
  readonly observation: string;
  readonly issues: readonly JsonObject[];
};

export type ScriptedDecision = {
  readonly reasoning?: string;
  readonly patch: JsonObject;
  readonly action: Action | null;
  readonly why?: string;
};

/** Pure: one percept has one decision. */
export type Policy = (percept: Percept) => ScriptedDecision;

/** A model that follows a policy. `id` stands in the trace. */
export function scriptedModel(policy: Policy, id: string = 'scripted'): Model {
  return {
    id,
    async complete(request) {
      request.signal?.throwIfAborted();
      const decision = policy(readPrompt(messagesOf(request, 'fenced')));
      return { text: sayDecision(decision), form: 'fenced', finish: 'stop' };
    },
  };
}

/** Parses a prompt's text. Throws `INVARIANT` when it has no block of state or of observation. */
export function readPrompt({ system, user }: Messages): Percept {
  const state = blockOf(user, 'state', 0);
  const observation = blockOf(user, 'observation', state.end);
  const issues =
    user.indexOf(`--- begin issues ${state.token} ---`, observation.end) < 0
      ? undefined
      : blockOf(user, 'issues', observation.end);
  const facts = JSON.parse(state.text) as Json;
  if (!isJsonObject(facts)) throw new OplusError('INVARIANT', 'the state of a prompt is no object');
  return {
    procedure: system,
    state: facts,
    observation: observation.text,
    issues: issues === undefined ? [] : issues.text.split('\n').map((line) => JSON.parse(line) as JsonObject),
  };
}

/** A decision as a model would write it: reasoning, then one fenced block. */
export function sayDecision({ reasoning, patch, action, why }: ScriptedDecision): string {
  const decision = canonical({ patch, action: action as Json, ...(why === undefined ? {} : { why }) });
  return `${reasoning ?? 'I follow the procedure.'}\n\n\`\`\`json\n${decision}\n\`\`\`\n`;
}

type Block = { readonly token: string; readonly text: string; readonly end: number };

/** The first block of that name at or after `from`: its token is on its first line, and only that token ends it. */
function blockOf(text: string, name: string, from: number): Block {
  const open = new RegExp(`^--- begin ${name} ([0-9a-f]{16}) ---\\n`, 'm');
  const found = open.exec(text.slice(from));
  if (found === null) throw new OplusError('INVARIANT', `the prompt has no block of ${name}`);
  const start = from + found.index + found[0].length;
  const close = `\n--- end ${name} ${found[1] as string} ---`;
  const end = text.indexOf(close, start);
  if (end < 0) throw new OplusError('INVARIANT', `the block of ${name} does not end`);
  return { token: found[1] as string, text: text.slice(start, end), end: end + close.length };
}
