/**
 * What a worker can do in the warehouse, as data, as a line of text, and as the patch that says the same of the state.
 *
 * | action | patch |
 * |---|---|
 * | `Store <item> <shelf>` | the shelf is set to the item, `received` rises by 1 |
 * | `Ship <item> <shelf>` | the shelf is emptied, `shipped` rises by 1 |
 * | `Move <item> <from> <to>` | one shelf is emptied and the other set, in one patch |
 * | `Wait` | nothing |
 *
 * SPEC: WHS1, WHS2.
 */
import type { Action, JsonObject } from '@oplus/core';
import { isJsonObject } from '@oplus/core';
import { itemType, shelfType } from './inventory.ts';

export type WarehouseAction =
  | { readonly name: 'Store'; readonly item: string; readonly shelf: string }
  | { readonly name: 'Ship'; readonly item: string; readonly shelf: string }
  | { readonly name: 'Move'; readonly item: string; readonly from: string; readonly to: string }
  | { readonly name: 'Wait' };

/** The action behind the form that a proposal carries; a sentence when it is none of ours. Never throws. */
export function readAction(action: Action): WarehouseAction | string {
  const names = argumentsOf(action.name);
  if (names === undefined)
    return `There is no action ${action.name.slice(0, 40)}; the actions are ${Object.keys(ACTION_ARGUMENTS).join(', ')}.`;
  const given = isJsonObject(action.args) ? action.args : {};
  const stranger = Object.keys(given).find((name) => !names.includes(name));
  if (stranger !== undefined) return `${action.name} takes no argument ${stranger.slice(0, 40)}.`;
  for (const name of names) {
    const type = name === 'item' ? itemType : shelfType;
    const parsed = type.safeParse(given[name]);
    if (!parsed.success) return `${action.name} needs the argument ${name}: ${parsed.error.issues[0]?.message ?? ''}.`;
  }
  if (action.name === 'Move' && given['from'] === given['to']) return 'Move needs two different shelves.';
  return { name: action.name, ...given } as WarehouseAction;
}

/** The form that a proposal carries. */
export function actionOf(action: WarehouseAction): Action {
  const { name, ...args } = action;
  return { name, args };
}

/** The line of an action. */
export function actionLine(action: WarehouseAction): string {
  const { name, ...args } = action;
  const values = args as { readonly [name: string]: string };
  return [name, ...ACTION_ARGUMENTS[name].map((one) => values[one])].join(' ');
}

/** The intent patch that says of the state what the action does in the world. */
export function patchOf(action: WarehouseAction): JsonObject {
  switch (action.name) {
    case 'Store':
      return { shelves: { at: { [action.shelf]: { set: action.item } } }, received: { inc: 1 } };
    case 'Ship':
      return { shelves: { at: { [action.shelf]: { unset: true } } }, shipped: { inc: 1 } };
    case 'Move':
      return { shelves: { at: { [action.from]: { unset: true }, [action.to]: { set: action.item } } } };
    case 'Wait':
      return {};
  }
}

/** The arguments of each action, in the order in which its line names them. */
const ACTION_ARGUMENTS: { readonly [name in WarehouseAction['name']]: readonly string[] } = {
  Store: ['item', 'shelf'],
  Ship: ['item', 'shelf'],
  Move: ['item', 'from', 'to'],
  Wait: [],
};

function argumentsOf(name: string): readonly string[] | undefined {
  return Object.hasOwn(ACTION_ARGUMENTS, name) ? ACTION_ARGUMENTS[name as WarehouseAction['name']] : undefined;
}
