/**
 * Reading what a model said. Never throws for any text: what is wrong becomes addressed issues for the next attempt.
 *
 * The decision is the last fenced JSON block, or the whole text when there is no block. It passes the strict reader of the
 * core, must hold exactly `patch` and `action` (`why` is optional), and each part is read by whoever owns it: the verbs by the
 * field's kind, the arguments by the action's schema. Reasoning is dropped here and goes nowhere. SPEC: ANS1-ANS9.
 */
import type { Action, Issue, IssueCode, Json, JsonObject, StateSchema } from '@oplus/core';
import { excerpt, isJsonObject, pointer, readStrictJson, withoutOptionalNulls } from '@oplus/core';
import { clip, wellFormed } from './clip.ts';
import type { AnswerForm, ModelAnswer } from './model.ts';
import { nearestWord } from './nearest.ts';
import type { Skill } from './skill.ts';
import { patchByHand, repeatedKey } from './strict-answer.ts';

/** What a model decided. */
export type Decision = { readonly patch: JsonObject; readonly action?: Action; readonly why?: string };

export type ReadAnswer =
  | { readonly kind: 'read'; readonly decision: Decision }
  | { readonly kind: 'unreadable'; readonly issues: readonly Issue[] };

/** Longest `why`, in UTF-16 units. */
export const WHY_CHARS_MAX = 500;

/** Reads an answer against the state definition and the skill's actions. Pure. O(length). */
export function readAnswer(
  answer: Pick<ModelAnswer, 'text' | 'form' | 'finish'>,
  schema: StateSchema,
  actions: Skill['actions'],
): ReadAnswer {
  const unfinished = UNFINISHED[answer.finish];
  const read = readStrictJson(decisionText(answer.text));
  if (!read.ok) {
    const { code, at, message } = read.fault;
    const place = at < 0 ? '' : ` at character ${at}, near ${JSON.stringify(around(decisionText(answer.text), at))}`;
    return unreadable(issue('', code, unfinished ?? `${sentence(`${message}${place}`)} ${FORM_HINT[answer.form]}`));
  }
  if (!isJsonObject(read.value))
    return unreadable(issue('', 'schema', `The decision is an object. ${FORM_HINT[answer.form]}`, read.value));
  const issues = envelopeIssues(read.value, answer.form);
  const patch = readPatch(read.value['patch'] ?? null, answer.form, schema, issues);
  const action = readAction(read.value['action'] ?? null, answer.form, actions, issues);
  const why = read.value['why'];
  if (issues.length > 0) return unreadable(...issues);
  return {
    kind: 'read',
    decision: { patch, ...(action === undefined ? {} : { action }), ...(typeof why === 'string' && why !== '' ? { why } : {}) },
  };
}

const FORM_HINT: { readonly [form in AnswerForm]: string } = {
  fenced: 'End with one fenced block: ```json, then {"patch": {...}, "action": {...} or null}, then ```.',
  object: 'Answer with one JSON object: {"reasoning": "...", "patch": {...}, "action": {...} or null}.',
  strict: 'Answer with one JSON object: {"reasoning": "...", "patch": {...}, "action": {...} or null}.',
};

const UNFINISHED: { readonly [finish in ModelAnswer['finish']]: string | undefined } = {
  stop: undefined,
  length: 'The answer was cut off at its length limit. Think in fewer words.',
  refused: 'You declined to answer. Decide within the procedure; {"patch": {}, "action": null} does nothing.',
  filtered: 'The answer was withheld by a filter. Say it in other words.',
};

/** The inside of the last fenced JSON block; of the last bare one when none is marked as JSON; else the whole text. */
function decisionText(text: string): string {
  let open: { readonly fence: string; readonly isJson: boolean; readonly lines: string[] } | undefined;
  let found: { readonly isJson: boolean; readonly lines: readonly string[] } | undefined;
  const keep = (block: { readonly isJson: boolean; readonly lines: readonly string[] }): void => {
    if (block.isJson || found === undefined || !found.isJson) found = block;
  };
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*([A-Za-z0-9_-]*)[ \t\r]*$/.exec(line);
    if (open === undefined) {
      if (mark === null) continue;
      const language = (mark[2] as string).toLowerCase();
      open = { fence: mark[1] as string, isJson: language === 'json', lines: [] };
    } else if (mark !== null && mark[2] === '' && (mark[1] as string).startsWith(open.fence)) {
      keep(open);
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) keep(open);
  return found === undefined ? text : found.lines.join('\n');
}

function envelopeIssues(value: JsonObject, form: AnswerForm): Issue[] {
  const known = form === 'fenced' ? ['patch', 'action', 'why'] : ['reasoning', 'patch', 'action', 'why'];
  const issues: Issue[] = [];
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const near = nearestWord(key, known);
    issues.push(
      issue(
        pointer(key),
        'schema',
        near === undefined ? `The decision has exactly patch and action, not ${short(key)}.` : `Did you mean ${near}?`,
      ),
    );
  }
  for (const key of ['patch', 'action']) {
    if (!Object.hasOwn(value, key))
      issues.push(
        issue(pointer(key), 'schema', `${key} is missing. ${key === 'patch' ? '{} changes nothing.' : 'null does nothing.'}`),
      );
  }
  const why = value['why'];
  if (why === undefined || why === null) return issues;
  if (typeof why !== 'string') issues.push(issue('/why', 'schema', 'why is one sentence of text, or left out.', why));
  else if (why.length > WHY_CHARS_MAX)
    issues.push(issue('/why', 'bound', `why has ${why.length} characters; ${WHY_CHARS_MAX} are allowed.`));
  return issues;
}

function readPatch(given: Json, form: AnswerForm, schema: StateSchema, issues: Issue[]): JsonObject {
  if (given === null) return {};
  if (!isJsonObject(given)) {
    issues.push(issue('/patch', 'schema', 'patch is an object: field to verb to value.', given));
    return {};
  }
  const patch: { [name: string]: Json } = {};
  for (const [name, said] of Object.entries(given)) {
    const kind = schema.kinds[schema.indexOf.get(name) ?? -1];
    if (kind === undefined) {
      issues.push(issue(pointer(name), 'schema', unknownName('field', name, schema.names)));
      continue;
    }
    const repeated = form === 'strict' ? repeatedKey(said) : undefined;
    if (repeated !== undefined) {
      issues.push(issue(pointer(name, repeated), 'schema', `The key ${short(repeated)} stands twice; write its changes once.`));
      continue;
    }
    const intent = form === 'strict' ? patchByHand(kind, said) : said;
    if (intent === undefined) continue;
    patch[name] = intent;
    kind.read(intent, pointer(name), (path, refusal) => issues.push({ path, ...refusal }));
  }
  return patch;
}

function readAction(given: Json, form: AnswerForm, actions: Skill['actions'], issues: Issue[]): Action | undefined {
  if (given === null) return undefined;
  const shape = 'action is {"name": "...", "args": {...}}, or null.';
  if (!isJsonObject(given)) {
    issues.push(issue('/action', 'schema', shape, given));
    return undefined;
  }
  const stray = Object.keys(given).find((key) => key !== 'name' && key !== 'args');
  const { name, args } = given;
  if (stray !== undefined || typeof name !== 'string') {
    issues.push(
      issue(
        stray === undefined ? '/action/name' : pointer('action', stray),
        'schema',
        shape,
        stray === undefined ? name : undefined,
      ),
    );
    return undefined;
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    issues.push(issue('/action/name', 'schema', unknownName('action', name, Object.keys(actions))));
    return undefined;
  }
  const wanted = form === 'strict' ? withoutOptionalNulls(action.argsSchema, args ?? {}) : (args ?? {});
  const parsed = action.args.safeParse(wanted);
  if (parsed.success && isJsonObject(wanted)) return { name, args: wanted };
  for (const fault of parsed.error?.issues ?? []) {
    const path = fault.path.map(String);
    const have = path.reduce<Json | undefined>((value, key) => memberOf(value, key), wanted);
    issues.push({ ...issue(pointer('action', 'args', ...path), 'schema', sentence(fault.message), have), rule: name });
  }
  return undefined;
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(key)];
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function unknownName(what: 'field' | 'action', given: string, names: readonly string[]): string {
  const near = nearestWord(given, names);
  if (near !== undefined) return `No ${what} is called ${short(given)}. Did you mean ${near}?`;
  return names.length === 0
    ? `There are no ${what}s.`
    : `No ${what} is called ${short(given)}; use ${names.slice(0, 20).join(', ')}.`;
}

function issue(path: string, code: IssueCode, hint: string, want?: Json): Issue {
  return {
    path,
    code,
    rule: 'answer',
    ...(want === undefined ? {} : { want: excerpt(want, EXCERPT_CHARS_MAX) }),
    recovery: 'change',
    hint,
  };
}

function unreadable(...issues: readonly Issue[]): ReadAnswer {
  return { kind: 'unreadable', issues };
}

const EXCERPT_CHARS_MAX = 80;

function around(text: string, at: number): string {
  return wellFormed(clip(text, Math.max(0, at - 12), at + 12));
}

function short(text: string): string {
  return text.length <= 40 ? text : `${clip(text, 0, 40)}...`;
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
