/**
 * Random intents for a field: few keys and few values, so that agents collide; some of them wrong.
 */
import type { Json, JsonObject } from '../json.ts';
import type { Choice } from './choice.ts';
import type { FieldSpec, ValueSpec } from './spec.ts';

/** Keys and ids that agents fight over. Two look like integers, one needs escapes, one is what `add` would issue. */
export const KEYS: readonly [string, ...string[]] = ['k', '10', '9', 'a/b~c'];
export const IDS: readonly [string, ...string[]] = ['r', '7', 'ada-2-0'];

/** What a patch may ask of such a field; about one in twenty is refused by its type or range. */
export function intentFrom(spec: FieldSpec, choice: Choice): Json {
  switch (spec.kind) {
    case 'cas':
    case 'lww':
      return choice.upTo(6) === 5 ? { unset: true } : { set: valueFrom(spec.of, choice) };
    case 'max':
      return { raise: choice.upTo(8) };
    case 'min':
      return { lower: choice.upTo(8) - 1 };
    case 'counter':
    case 'quota':
      return { inc: choice.of([1, -1, 2, 0, -3]) };
    case 'claim':
      return choice.of<Json>([
        { claim: true },
        { release: true },
        { claim: true },
        { release: { outcome: 'ok' } },
        { handoff: { to: 'bob' } },
      ]);
    case 'machine':
      return choice.of<Json>([
        { to: 'doing' },
        { to: 'done' },
        { to: 'todo' },
        { from: 'doing', to: 'done' },
        { from: 'todo', to: 'doing' },
        { from: 'todo', to: 'done' },
        { from: 'done', to: 'doing' },
      ]);
    case 'set':
      return listsFrom(['add', 'remove'], () => valueFrom(spec.of, choice), choice);
    case 'log':
      return {
        append: choice.upTo(3) === 2 ? [valueFrom(spec.of, choice), valueFrom(spec.of, choice)] : [valueFrom(spec.of, choice)],
      };
    case 'map':
      return choice.upTo(4) === 3 ? { drop: [choice.of(KEYS)] } : { at: keyed(KEYS, () => intentFrom(spec.of, choice), choice) };
    case 'records': {
      const row = (): JsonObject => {
        const name = choice.of(['x', 'n', 'y']);
        return { [name]: intentFrom(spec.cells[name] as FieldSpec, choice) };
      };
      switch (choice.upTo(6)) {
        case 0:
        case 1:
          return { put: keyed(IDS, row, choice) };
        case 2:
        case 3:
          return { patch: keyed(IDS, row, choice) };
        case 4:
          return { drop: [choice.of(IDS)] };
        default:
          return { add: choice.upTo(2) === 0 ? [row()] : [row(), row()] };
      }
    }
  }
}

function valueFrom(type: ValueSpec, choice: Choice): Json {
  switch (type) {
    case 'text':
      return choice.of(['a', 'b', 'c', 'long']);
    case 'digit':
      return choice.of([0, 1, 2, 10]);
    case 'pair':
      return { id: choice.upTo(3), note: choice.of(['a', 'b']) };
    case 'text or null':
      return choice.of(['a', null, 'b']);
  }
}

function keyed(keys: readonly [string, ...string[]], intent: () => Json, choice: Choice): JsonObject {
  const first = choice.of(keys);
  const second = choice.upTo(4) === 3 ? choice.of(keys) : first;
  return { [first]: intent(), ...(second === first ? {} : { [second]: intent() }) };
}

function listsFrom(verbs: readonly [string, string], value: () => Json, choice: Choice): JsonObject {
  switch (choice.upTo(6)) {
    case 0:
    case 1:
    case 2:
      return { [verbs[0]]: [value()] };
    case 3:
      return { [verbs[0]]: [value()], [verbs[1]]: [value()] };
    case 4:
      return { [verbs[0]]: [value(), value()] };
    default:
      return { [verbs[1]]: [value()] };
  }
}
