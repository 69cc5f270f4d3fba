/**
 * The warehouse task, set up for one run: the procedure of `SKILL.md`, the state, what each worker sees, the world, the
 * scripted policy and the judge.
 */
import { readFileSync } from 'node:fs';
import { defineSkill, parseSkillFile } from '@oplus/agent';
import type { ActionDefinition, Skill, Task } from '@oplus/agent';
import type { Action, JsonObject } from '@oplus/core';
import { canonical } from '@oplus/core';
import { z } from 'zod';
import { patchOf, readAction } from './action.ts';
import type { WarehousePlan } from './environment.ts';
import { openWarehouse } from './environment.ts';
import { itemType, shelfType } from './inventory.ts';
import { judgeWarehouse } from './judge.ts';
import type { Layout } from './layout.ts';
import { layoutOf } from './layout.ts';
import { decide } from './policy.ts';
import { warehouseProjection } from './projection.ts';
import { warehouseState } from './state.ts';

/** Most tokens of one prompt. */
export const TOKENS_MAX = 2048;

/** Sets the task up for one run. Its routings are `disjoint`, `zones` and `shared`. Throws `USAGE` for a plan that cannot be played. */
export function warehouse(plan: WarehousePlan): Task {
  const environment = openWarehouse(plan);
  return {
    name: 'warehouse',
    plan,
    skill: warehouseSkill(layoutOf(plan.routing, plan.agents, plan.blockShelves)),
    environment,
    policy: decide,
    actionFault,
    judge: (space) => judgeWarehouse(environment, space),
  };
}

/** What a worker under this layout follows. Reads `SKILL.md` beside the package's `src` or `dist`. */
export function warehouseSkill(layout: Layout): Skill {
  return defineSkill({
    file: parseSkillFile(readFileSync(new URL('../SKILL.md', import.meta.url)), 'warehouse'),
    state: warehouseState,
    role: 'agent',
    projection: warehouseProjection(layout),
    actions: ACTIONS,
    tokensMax: TOKENS_MAX,
  });
}

/** What is wrong with an action beside its patch; `undefined` when both say the same. */
export function actionFault(action: Action, patch: JsonObject): string | undefined {
  const read = readAction(action);
  if (typeof read === 'string') return read;
  const wanted = canonical(patchOf(read));
  return canonical(patch) === wanted ? undefined : `The patch of this action is ${wanted}.`;
}

const ACTIONS: { readonly [name: string]: ActionDefinition } = {
  Store: { description: 'puts an arrived item on a free shelf', args: z.strictObject({ item: itemType, shelf: shelfType }) },
  Ship: {
    description: 'takes an ordered item off its shelf and out',
    args: z.strictObject({ item: itemType, shelf: shelfType }),
  },
  Move: {
    description: 'puts an item from one shelf on another, free one',
    args: z
      .strictObject({ item: itemType, from: shelfType, to: shelfType })
      .refine(({ from, to }) => from !== to, 'Move needs two different shelves'),
  },
  Wait: { description: 'does nothing, when the work is done already', args: z.strictObject({}) },
};
