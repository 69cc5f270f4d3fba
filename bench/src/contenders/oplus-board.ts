/**
 * The team board as an oplus state: one declared kind per field, and patches as verbs of those kinds.
 */
import { cas, claim, counter, defineState, invariant, log, lww, machine, quota, records, set } from '@oplus/core';
import type {
  ClaimView,
  Field,
  FieldKind,
  Fields,
  JsonObject,
  LogView,
  MapView,
  SetView,
  Space,
  StateDefinition,
} from '@oplus/core';
import { z } from 'zod';

import type { Board, BoardView, Operation, Patch, Status, Task } from '../board.ts';
import {
  BUDGET_MAX,
  CAS_REGISTERS,
  COUNTERS,
  initialBoard,
  JOURNAL_MAX,
  NOTE_REGISTERS,
  PAIR_REGISTERS,
  REGISTERS,
  TAGS_MAX,
  TASKS,
} from '../board.ts';

const text = z.string().max(120);
const start = initialBoard();

/** The definition. A row's `ticket` is the value under which its claim is known to the audit. */
export const boardDefinition: StateDefinition<Fields> = defineState({
  name: 'team-board',
  version: 1,
  fields: Object.fromEntries<Field>([
    ...COUNTERS.map((name) => [name, counter()] as const),
    ...CAS_REGISTERS.map((name) => [name, cas(text, { start: start.registers[name] ?? '' })] as const),
    ...[...NOTE_REGISTERS, ...PAIR_REGISTERS].map((name) => [name, lww(text, { start: start.registers[name] ?? '' })] as const),
    ['budget', quota({ lo: 0, hi: BUDGET_MAX, start: start.budget })],
    ['tags', set(text, { cap: TAGS_MAX })],
    ['journal', log(text, { keep: JOURNAL_MAX })],
    [
      'tasks',
      records(
        {
          title: lww(text),
          status: machine({
            start: 'todo',
            moves: { todo: ['doing'], doing: ['review'], review: ['done', 'doing'], done: ['todo'] },
          }),
          owner: claim(),
          ticket: cas(text, { start: '' }),
        },
        { cap: TASKS.length },
      ),
    ],
  ]),
  invariants: {
    'budget-within-bounds': {
      reads: ['budget'],
      check: ({ after }) =>
        ((after['budget'] as number) >= 0 && (after['budget'] as number) <= BUDGET_MAX) || 'the budget left its bounds',
    },
  },
});

/** The patches that turn an empty state into the initial board, in order. */
export function openingPatches(): readonly JsonObject[] {
  return [
    { tasks: { put: Object.fromEntries(TASKS.map((key) => [key, { title: { set: start.tasks[key]?.title ?? '' } }])) } },
    { tags: { add: start.tags } },
    { journal: { append: start.journal } },
  ];
}

/** The patch as verbs. Compare-and-set needs no value here: the view that it was read on travels with it. */
export function intentOf(patch: Patch): JsonObject {
  const intent: { [field: string]: JsonObject } = {};
  const rows: { [key: string]: { [cell: string]: JsonObject } } = {};
  const row = (key: string): { [cell: string]: JsonObject } => (rows[key] ??= {});
  for (const operation of patch.operations) addTo(operation, intent, row);
  return Object.keys(rows).length === 0 ? intent : { ...intent, tasks: { patch: rows } };
}

function addTo(
  operation: Operation,
  intent: { [field: string]: JsonObject },
  row: (key: string) => { [cell: string]: JsonObject },
): void {
  switch (operation.verb) {
    case 'inc':
      intent[operation.field] = { inc: operation.value };
      return;
    case 'spend':
      intent[operation.field] = { inc: -operation.value };
      return;
    case 'add':
    case 'remove':
    case 'append':
      intent[operation.field] = { [operation.verb]: [operation.value] };
      return;
    case 'set':
      if (operation.key === undefined) intent[operation.field] = { set: operation.value };
      else row(operation.key)['title'] = { set: operation.value };
      return;
    case 'claim':
      Object.assign(row(operation.key), { owner: { claim: true }, ticket: { set: operation.value } });
      return;
    case 'release':
      Object.assign(row(operation.key), { owner: { release: true }, ticket: { set: '' } });
      return;
    case 'move':
      row(operation.key)['status'] = { to: operation.value, from: operation.expected };
      return;
  }
}

type RowView = {
  readonly title: string | undefined;
  readonly status: string;
  readonly owner: ClaimView;
  readonly ticket: string | undefined;
};

/** Reads a sealed state as a board, cell by cell. */
export function boardViewOf(space: Space): BoardView {
  return {
    budget: () => fieldOf(space, 'budget') as number,
    tags: () => tagsOf(space),
    journalLength: () => (fieldOf(space, 'journal') as LogView<string>).entries.length,
    register: (name) => fieldOf(space, name) as string,
    task: (key) => taskOf((fieldOf(space, 'tasks') as MapView<RowView>).get(key)),
  };
}

/** The whole board. */
export function boardOf(space: Space): Board {
  const tasks = fieldOf(space, 'tasks') as MapView<RowView>;
  return {
    counters: Object.fromEntries(COUNTERS.map((name) => [name, fieldOf(space, name) as number])),
    budget: fieldOf(space, 'budget') as number,
    tags: [...tagsOf(space)],
    journal: [...(fieldOf(space, 'journal') as LogView<string>).entries],
    registers: Object.fromEntries(REGISTERS.map((name) => [name, fieldOf(space, name) as string])),
    tasks: Object.fromEntries(TASKS.map((key) => [key, taskOf(tasks.get(key))])),
  };
}

const tagLists = new WeakMap<object, readonly string[]>();

/** One list per sealed set: writers that share a replica share it. */
function tagsOf(space: Space): readonly string[] {
  const cell = cellOf(space, 'tags') as object;
  let tags = tagLists.get(cell);
  if (tags === undefined) {
    tags = [...(fieldOf(space, 'tags') as SetView<string>)];
    tagLists.set(cell, tags);
  }
  return tags;
}

function taskOf(row: RowView | undefined): Task {
  invariant(row !== undefined, 'every task of the board is there');
  return {
    title: row.title ?? '',
    status: row.status as Status,
    owner: row.owner.holder === undefined ? '' : (row.ticket ?? ''),
  };
}

function fieldOf(space: Space, name: string): unknown {
  return (space.schema.kinds[indexOf(space, name)] as FieldKind).view(cellOf(space, name));
}

function cellOf(space: Space, name: string): unknown {
  return space.cells[indexOf(space, name)];
}

function indexOf(space: Space, name: string): number {
  const index = space.schema.indexOf.get(name);
  invariant(index !== undefined, `the board has a field ${name}`);
  return index;
}
