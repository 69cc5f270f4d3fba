/**
 * Names of models on a command line: `openai:<name>`, the name being whatever the server calls it.
 */
import type { Model } from '@oplus/agent';
import { nearestWord } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import { openaiModel } from './openai-model.ts';
import type { OpenaiOptions } from './openai-model.ts';

/** The model of that name. Throws `USAGE` with a suggestion for another spelling, and what `openaiModel` throws. */
export function modelFromName(name: string, options: Omit<OpenaiOptions, 'model'> = {}): Model {
  const colon = name.indexOf(':');
  const provider = colon < 0 ? '' : name.slice(0, colon);
  const model = name.slice(colon + 1).trim();
  if (provider === PROVIDER && model !== '') return openaiModel({ ...options, model });
  throw new OplusError('USAGE', `no model is called ${name.slice(0, 80)}`, {
    hint: `${suggestion(name, provider, model)} A server of your own is named by OPENAI_BASE_URL.`,
  });
}

const PROVIDER = 'openai';

function suggestion(name: string, provider: string, model: string): string {
  const general = `Write ${PROVIDER}:<name>.`;
  if (provider === PROVIDER) return general;
  if (provider !== '')
    return nearestWord(provider, [PROVIDER]) === undefined || model === '' ? general : `Did you mean ${PROVIDER}:${model}?`;
  const bare = name.trim().replace(/^openai\//i, '');
  return /^[\w./-]{1,80}$/.test(bare) && nearestWord(bare, [PROVIDER]) === undefined
    ? `Did you mean ${PROVIDER}:${bare}?`
    : general;
}
