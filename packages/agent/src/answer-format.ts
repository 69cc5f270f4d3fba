/**
 * How an answer is to be written, as the procedure block of a prompt says it: fields, verbs, actions, and the form.
 *
 * Made once from a skill and its state definition; the same for every step, so a server may keep it.
 */
import type { FieldKind, StateSchema } from '@oplus/core';
import { writableFields } from './answer-schema.ts';
import type { AnswerForm } from './model.ts';
import { notationOf, patchNotation } from './notation.ts';
import type { Skill } from './skill.ts';

/** The instructions of every form. */
export function answerFormat(
  schema: StateSchema,
  skill: Pick<Skill, 'role' | 'actions'>,
): { readonly [form in AnswerForm]: string } {
  const hand = describe(schema, skill, patchNotation);
  const strict = describe(schema, skill, (kind) => notationOf(kind.modelSchema()));
  return {
    fenced: `${OPENING}\n\n${hand}\n\n${FENCED}`,
    object: `${OPENING}\n\n${hand}\n\n${OBJECT}`,
    strict: `${OPENING}\n\n${strict}\n\n${STRICT}`,
  };
}

const OPENING = `# Your answer

You propose; a coordinator decides. \`patch\` holds only what you change: field to verb to value, \`{}\` when nothing changes. Other agents write the same state at the same time, so never repeat what is already there and never rewrite a whole field to change a part of it. All of a patch takes effect, or nothing. \`action\` runs once, after the patch took effect; it is null when there is nothing to do.`;

const FENCED = `Think in a few sentences. Then end with exactly one fenced block with these two keys and nothing after it:

\`\`\`json
{"patch": {}, "action": null}
\`\`\``;

const OBJECT =
  'Answer with one JSON object and nothing else: {"reasoning": a few sentences, "patch": {...}, "action": {...} or null}.';

const STRICT =
  'Answer with one JSON object and nothing else: {"reasoning": a few sentences, "patch": {every field; null when it does not change}, "action": {...} or null}. Write every key; null means that you do not use it.';

function describe(schema: StateSchema, skill: Pick<Skill, 'role' | 'actions'>, patchOf: (kind: FieldKind) => string): string {
  const writable = new Set(writableFields(schema, skill.role));
  const fields = schema.kinds.map((kind, index) => {
    const name = schema.names[index] as string;
    const doc = kind.meta?.doc === undefined ? '' : ` ${sentence(kind.meta.doc)}`;
    if (!writable.has(index)) return `- ${name}:${doc} You may read it, not write it.`;
    return `- ${name} (${kind.name}; ${kind.verbs.join(', ')}):${doc} ${sentence(kind.summary)} Patch: ${patchOf(kind)}`;
  });
  const actions = Object.entries(skill.actions).map(
    ([name, action]) =>
      `- {"name": ${JSON.stringify(name)}, "args": ${notationOf(action.argsSchema)}}: ${sentence(action.description)}`,
  );
  return ['Fields:', ...fields, '', ...(actions.length === 0 ? ['There are no actions.'] : ['Actions:', ...actions])].join('\n');
}

function sentence(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const capital = line.charAt(0).toUpperCase() + line.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
