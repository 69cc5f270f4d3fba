/**
 * Patch formats without verbs, read as intent patches: RFC 7396, the keyed part of RFC 6902, and the paper's answer.
 *
 * They say what a document should become; what that means is the field kind's to say, in its own verbs, on the view that the
 * patch was made on. What a kind has no verb for is refused with the verb that it has: nothing is guessed. Index paths are
 * refused, because an index names another thing as soon as somebody else writes. SPEC: IMP1-IMP9.
 */
import type { Change } from './change.ts';
import type { Complain, FieldKind, Refusal } from './field-kind.ts';
import type { Issue } from './issue.ts';
import { EXCERPT_CHARS_MAX } from './issue.ts';
import type { Json, JsonObject } from './json.ts';
import { excerpt, isDeeper, isJsonObject, JSON_DEPTH_MAX, pointer, pointerTokens, sameJson } from './json.ts';
import { malformed } from './refusal.ts';
import type { Space } from './space.ts';
import { stateJson } from './space.ts';

/** An intent patch with the premises that the foreign one named, or all that is wrong with it. */
export type Imported =
  | { readonly ok: true; readonly patch: JsonObject; readonly premises: readonly string[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * A merge patch (RFC 7396) as an intent patch: objects merge, null erases, all else is put in its place. `space` is the one
 * that the view was made of. Never throws. O(size of patch and of the fields in it).
 */
export function fromMergePatch(space: Space, patch: Json): Imported {
  const desk = new Desk(space);
  if (isDeeper(patch, JSON_DEPTH_MAX)) desk.complain('', TOO_DEEP);
  else if (isJsonObject(patch)) desk.change([], mergeChange(patch));
  else desk.complain('', malformed('merge patch', 'A merge patch of a state is an object: field to change.', patch));
  return desk.result();
}

/**
 * The answer that the paper's runtime asks of a model, `{state_patch, action}`, with its patch as an intent patch. Null erases
 * a key; lists are whole values.
 */
export function fromPaperAnswer(space: Space, answer: Json): Imported & { readonly action?: Json } {
  const { state_patch: patch = {}, action } = isJsonObject(answer) ? answer : { state_patch: answer };
  return { ...fromMergePatch(space, patch), ...(action === undefined || action === null ? {} : { action }) };
}

/**
 * A JSON Patch (RFC 6902) as an intent patch: `add`, `replace` and `remove` on paths of keys, `add` at `/-`; a `test` becomes
 * a premise. Index paths, `move` and `copy` are refused. `space` is the one that the view was made of. Never throws.
 */
export function fromJsonPatch(space: Space, operations: Json): Imported {
  const desk = new Desk(space);
  if (isDeeper(operations, JSON_DEPTH_MAX)) desk.complain('', TOO_DEEP);
  else if (Array.isArray(operations)) for (const operation of operations as readonly Json[]) desk.operation(operation);
  else desk.complain('', malformed('json patch', 'A JSON Patch is a list of operations.', operations));
  return desk.result();
}

/** What no message could carry is not looked into. */
const TOO_DEEP: Refusal = {
  code: 'depth',
  rule: 'import',
  recovery: 'change',
  hint: `At most ${JSON_DEPTH_MAX} objects and lists inside one another.`,
};

type Branch = { readonly kind: 'within'; readonly changes: Map<string, Change> };

/** One import at work. */
class Desk {
  readonly #space: Space;
  readonly #state: JsonObject;
  readonly #root: Branch = { kind: 'within', changes: new Map() };
  readonly #premises: string[] = [];
  readonly #issues: Issue[] = [];

  constructor(space: Space) {
    this.#space = space;
    this.#state = stateJson(space);
  }

  readonly complain: Complain = (path: string, refusal: Refusal) => {
    this.#issues.push({ path, ...refusal });
  };

  /** Puts a change at a place; two changes of one place have no order that anybody gave. */
  change(tokens: readonly string[], change: Change): void {
    let branch = this.#root;
    const path = pointer(...tokens);
    const last = tokens.at(-1);
    if (last === undefined) {
      if (change.kind === 'within') for (const [key, below] of change.changes) branch.changes.set(key, below);
      else this.complain('', malformed('json patch', 'The whole state is not replaced; name the fields.'));
      return;
    }
    for (const token of tokens.slice(0, -1)) {
      const below = branch.changes.get(token) ?? { kind: 'within', changes: new Map<string, Change>() };
      if (below.kind !== 'within')
        return this.complain(path, malformed('json patch', 'An earlier operation changes what is above it.'));
      branch.changes.set(token, below);
      branch = below as Branch;
    }
    const known = branch.changes.get(last);
    if (known === undefined) branch.changes.set(last, change);
    else if (known.kind === 'append' && change.kind === 'append')
      branch.changes.set(last, { kind: 'append', values: [...known.values, ...change.values] });
    else this.complain(path, malformed('json patch', 'A place is changed once in a patch.'));
  }

  operation(given: Json): void {
    const { op, path, value } = isJsonObject(given) ? given : {};
    const tokens = typeof path === 'string' ? pointerTokens(path) : undefined;
    if (typeof op !== 'string' || tokens === undefined) {
      return this.complain(
        '',
        malformed('json patch', 'An operation is { op, path, value } with a JSON Pointer as path.', given),
      );
    }
    const at = pointer(...tokens);
    if (op === 'move' || op === 'copy') {
      return this.complain(at, malformed('json patch', `${op} names two places; remove the one and add the other.`));
    }
    if (!['add', 'replace', 'remove', 'test'].includes(op)) {
      return this.complain(at, malformed('json patch', 'The operations are add, replace, remove and test.', op));
    }
    if (op !== 'remove' && value === undefined) return this.complain(at, malformed('json patch', `${op} needs a value.`));
    const place = lookUp(this.#state, tokens);
    if (place.kind === 'index') {
      return this.complain(
        at,
        malformed(
          'json patch',
          'An index names another thing once somebody else writes. Use /- to append, or the verbs of the field.',
        ),
      );
    }
    if (op === 'test') return this.#test(tokens, place, value as Json);
    if (place.kind === 'end') {
      if (op === 'add') return this.change(tokens.slice(0, -1), { kind: 'append', values: [value as Json] });
      return this.complain(at, malformed('json patch', '/- is where add appends; nothing is there.'));
    }
    if (place.kind === 'absent' && op !== 'add') return this.complain(at, absent(op));
    this.change(tokens, op === 'remove' ? { kind: 'remove' } : { kind: 'set', value: value as Json });
  }

  result(): Imported {
    const { schema, cells } = this.#space;
    const patch: [string, Json][] = [];
    for (const [name, change] of this.#root.changes) {
      const index = schema.indexOf.get(name);
      if (index === undefined) {
        this.complain(pointer(name), malformed('patch', `The fields are ${schema.names.join(', ')}.`));
        continue;
      }
      const intent = (schema.kinds[index] as FieldKind).assign(cells[index], change, pointer(name), this.complain);
      if (intent !== undefined) patch.push([name, intent]);
    }
    if (this.#issues.length > 0) return { ok: false, issues: this.#issues };
    return { ok: true, patch: Object.fromEntries(patch), premises: this.#premises };
  }

  /** The premise that this is what the patch relies on; wrong already where the view shows something else. */
  #test(tokens: readonly string[], place: Place, want: Json): void {
    const path = pointer(...tokens);
    if (tokens.length === 0) return this.complain('', malformed('json patch', 'A test names a field, or something in one.'));
    if (place.kind !== 'there' || !sameJson(place.value, want)) {
      const have = place.kind === 'there' ? { have: excerpt(place.value, EXCERPT_CHARS_MAX) } : {};
      return this.complain(path, {
        code: 'premise',
        rule: 'test',
        ...have,
        want: excerpt(want, EXCERPT_CHARS_MAX),
        recovery: 're-read',
        hint: 'The view shows something else than the test says.',
      });
    }
    this.#premises.push(path);
  }
}

/** Where a path leads in a document: to a value, to a key that is not there, behind the end of a list, to a place in a list. */
type Place = { readonly kind: 'there'; readonly value: Json } | { readonly kind: 'absent' | 'end' | 'index' };

/** What is absent, or null, has an end too: an append begins the list. */
function lookUp(state: Json, tokens: readonly string[]): Place {
  const end = tokens.at(-1) === '-' ? tokens.length - 1 : -1;
  let value: Json = state;
  for (const [i, token] of tokens.entries()) {
    if (Array.isArray(value)) return { kind: i === end ? 'end' : 'index' };
    if (value === null && i === end) return { kind: 'end' };
    const below: Json | undefined = isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
    if (below === undefined) return { kind: i + 1 === end ? 'end' : 'absent' };
    value = below;
  }
  return { kind: 'there', value };
}

function mergeChange(patch: Json): Change {
  if (patch === null) return { kind: 'remove' };
  if (!isJsonObject(patch)) return { kind: 'set', value: patch };
  return { kind: 'within', changes: new Map(Object.entries(patch).map(([key, below]) => [key, mergeChange(below)])) };
}

function absent(op: string): Refusal {
  return { code: 'gone', rule: 'json patch', recovery: 're-read', hint: `There is nothing to ${op} at this path in the view.` };
}
