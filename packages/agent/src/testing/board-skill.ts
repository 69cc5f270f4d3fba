/**
 * A small skill for tests: a board with cards that agents take, count and finish.
 */
import { claim, counter, defineState, field, lww, map, set } from '@oplus/core';
import type { Fields, StateDefinition } from '@oplus/core';
import { z } from 'zod';
import type { Skill, SkillDefinition } from '../skill.ts';
import { defineSkill } from '../skill.ts';
import { parseSkillFile } from '../skill-file.ts';

const FILE = `---
name: board
description: Keep a board of cards. For tests.
---
# Board

Write what you observe on the board. When a card must be moved, ask for the action.
`;

const definition = defineState({
  name: 'board',
  version: 1,
  fields: {
    title: field(lww(z.string().max(80), { start: 'empty' }), { doc: 'what the board is about' }),
    done: field(counter(), { doc: 'finished cards' }),
    cards: field(map(lww(z.string().max(200)), { cap: 64 }), { doc: 'text of each card' }),
    tags: set(z.string().max(40), { cap: 16 }),
    lead: claim(),
    budget: field(counter(), { doc: 'set by the boss', writers: ['boss'] }),
  },
  roles: { agent: { priority: 0 }, boss: { priority: 1 } },
  invariants: { notTooMany: { reads: ['done'], check: ({ after }) => after.done <= 1_000 || 'At most 1000 cards can be done.' } },
});

/** The board's definition: `done` never passes 1,000. */
export const boardState: StateDefinition = definition as unknown as StateDefinition;

/** The skill, with what a test wants otherwise. */
export function boardSkill(over: Partial<Omit<SkillDefinition<Fields>, 'file' | 'state'>> = {}): Skill {
  return defineSkill({
    file: parseSkillFile(new TextEncoder().encode(FILE), 'board'),
    state: boardState,
    role: 'agent',
    tokensMax: 4_000,
    actions: {
      move: {
        description: 'moves a card to a column',
        args: z.strictObject({
          card: z.string().min(1).max(40),
          column: z.int().min(0).max(9),
          note: z.string().max(40).optional(),
        }),
        premises: ({ card }) => [`/cards/${card as string}`],
      },
      ring: { description: 'rings the bell', args: z.strictObject({}) },
    },
    ...over,
  });
}
