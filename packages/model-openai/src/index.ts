export type { Pause } from './backoff.ts';
export { backoffMs } from './backoff.ts';
export type { Variables } from './endpoint.ts';
export { DEFAULT_BASE_URL } from './endpoint.ts';
export { modelFromName } from './model-name.ts';
export type { Notice, OpenaiOptions } from './openai-model.ts';
export { openaiModel } from './openai-model.ts';
