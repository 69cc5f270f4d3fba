/**
 * A scripted worker that plays the warehouse from its prompt alone: the view and the observation. It has no memory, no
 * clock and no other way to the state.
 *
 * It takes the first free shelf of the view; after a refusal it decides anew on the fresh view, as if for the first time.
 * SPEC: WHS40-WHS42.
 */
import type { Prompted, TaskDecision } from '@oplus/agent';
import { isJsonObject } from '@oplus/core';
import type { JsonObject } from '@oplus/core';
import { actionOf, patchOf } from './action.ts';
import type { WarehouseAction } from './action.ts';
import { readObservation } from './goal.ts';
import { NO_ITEM, NO_SHELF } from './projection.ts';

/** The right step for what the prompt says. Pure. */
export function decide(prompted: Prompted): TaskDecision {
  const { action, reasoning } = choose(prompted);
  return { reasoning, patch: patchOf(action), action: actionOf(action) };
}

type Choice = { readonly action: WarehouseAction; readonly reasoning: string };

const WAIT: WarehouseAction = { name: 'Wait' };

function choose({ view, observation }: Prompted): Choice {
  const goal = readObservation(observation);
  const { item, shelf } = aboutOf(view);
  const free = freeShelf(view);
  if (goal === undefined) return { action: WAIT, reasoning: 'The observation asks for nothing.' };
  switch (goal.kind) {
    case 'receive':
      if (shelf !== NO_SHELF) return { action: WAIT, reasoning: `${goal.item} stands on ${shelf} already.` };
      if (free === NO_SHELF) return { action: WAIT, reasoning: 'No shelf is free.' };
      return { action: { name: 'Store', item: goal.item, shelf: free }, reasoning: `${goal.item} is new and ${free} is free.` };
    case 'order':
      if (shelf === NO_SHELF) return { action: WAIT, reasoning: `${goal.item} stands nowhere.` };
      return { action: { name: 'Ship', item: goal.item, shelf }, reasoning: `${goal.item} stands on ${shelf}.` };
    case 'maintenance':
      if (item === NO_ITEM) return { action: WAIT, reasoning: `${goal.shelf} is empty already.` };
      if (free === NO_SHELF) return { action: WAIT, reasoning: 'No shelf is free.' };
      return {
        action: { name: 'Move', item, from: goal.shelf, to: free },
        reasoning: `${item} has to leave ${goal.shelf}, and ${free} is free.`,
      };
  }
}

function aboutOf(view: JsonObject): { readonly item: string; readonly shelf: string } {
  const about = isJsonObject(view['about']) ? view['about'] : {};
  return { item: textOf(about['item'], NO_ITEM), shelf: textOf(about['shelf'], NO_SHELF) };
}

function freeShelf(view: JsonObject): string {
  const free = view['free'];
  return Array.isArray(free) ? textOf(free[0], NO_SHELF) : NO_SHELF;
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
