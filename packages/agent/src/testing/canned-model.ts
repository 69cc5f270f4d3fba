/**
 * Models for tests: canned answers, and noise as real models make it.
 */
import { canonical, compareText, isJsonObject } from '@oplus/core';
import type { Json, JsonObject } from '@oplus/core';
import { sha256 } from '../digest.ts';
import type { Model, ModelAnswer, ModelRequest } from '../model.ts';

/** A model that gives these answers in turn. Rejects when asked once more; `unusedCount` says how many are left. */
export interface CannedModel extends Model {
  readonly requests: readonly ModelRequest[];
  unusedCount(): number;
}

export function cannedModel(answers: readonly (string | Partial<ModelAnswer> | Error)[], id: string = 'canned'): CannedModel {
  const requests: ModelRequest[] = [];
  return {
    id,
    requests,
    async complete(request) {
      requests.push(request);
      const answer = answers[requests.length - 1];
      if (answer === undefined) throw new Error('no canned answer is left');
      if (answer instanceof Error) throw answer;
      return { text: '', form: 'fenced', finish: 'stop', ...(typeof answer === 'string' ? { text: answer } : answer) };
    },
    unusedCount: () => answers.length - requests.length,
  };
}

/** The failure classes of models that the SKILL.state paper counts, and text around the decision. */
export type NoiseKind = 'overwrite' | 'types' | 'syntax' | 'extra';

/** `ratio` of answers, in [0, 1], are spoilt; `kinds` are drawn uniformly. Same seed and same calls, same noise. */
export type NoiseOptions = { readonly seed: number; readonly ratio: number; readonly kinds?: readonly NoiseKind[] };

/** A model whose answers are sometimes spoilt. One per agent: the noise follows the count of its calls. */
export function noisyModel(
  inner: Model,
  { seed, ratio, kinds = NOISE_KINDS }: NoiseOptions,
): Model & { readonly spoilt: ReadonlyMap<NoiseKind, number> } {
  const spoilt = new Map<NoiseKind, number>();
  let calls = 0;
  return {
    id: `${inner.id}+noise`,
    spoilt,
    async complete(request) {
      calls += 1;
      const answer = await inner.complete(request);
      if (draw(seed, calls, 'whether') >= ratio) return answer;
      const kind = kinds[Math.floor(draw(seed, calls, 'kind') * kinds.length)] as NoiseKind;
      spoilt.set(kind, (spoilt.get(kind) ?? 0) + 1);
      return { ...answer, text: SPOIL[kind](answer.text) };
    },
  };
}

const NOISE_KINDS: readonly NoiseKind[] = ['overwrite', 'types', 'syntax', 'extra'];

const SPOIL: { readonly [kind in NoiseKind]: (text: string) => string } = {
  overwrite: (text) => withPatch(text, overwritten),
  types: (text) => withPatch(text, mistyped),
  syntax: (text) => text.replace(/\}\n```/, ',\n```'),
  extra: (text) => `${text}\nI hope this helps! Let me know if {"patch": ...} should be different.\n\`\`\`\nDone.\n\`\`\`\n`,
};

/** In [0, 1). */
function draw(seed: number, call: number, what: string): number {
  return Number.parseInt(sha256(canonical([seed, call, what])).slice(0, 8), 16) / 2 ** 32;
}

function withPatch(text: string, change: (patch: JsonObject) => Json): string {
  return text.replace(/```json\n(.*)\n```/, (whole, body: string) => {
    const decision = JSON.parse(body) as JsonObject;
    const patch = decision['patch'];
    return isJsonObject(patch) ? `\`\`\`json\n${canonical({ ...decision, patch: change(patch) })}\n\`\`\`` : whole;
  });
}

/** Every field rewritten as a whole: `set` to what its first verb holds, or unset. */
function overwritten(patch: JsonObject): Json {
  return Object.fromEntries(
    Object.entries(patch).map(([name, verbs]) => [
      name,
      isJsonObject(verbs) && !('set' in verbs) ? { set: Object.values(verbs)[0] ?? null } : { unset: true },
    ]),
  );
}

/** Numbers as strings, strings in lists, lists as objects. */
function mistyped(value: Json): Json {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return Object.fromEntries((value as readonly Json[]).map((item, i) => [String(i), item]));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => compareText(a, b))
      .map(([key, child]) => [key, mistyped(child)]),
  );
}
