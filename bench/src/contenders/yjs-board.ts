/**
 * The board as a Yjs document, in the shapes that lose least.
 *
 * Yjs has no counter: amounts are kept as one entry per writer and summed, so that no increment is lost. Tags and journal are
 * arrays, registers a map, a task a map of its own. A patch is one transaction. Nothing can be refused after the fact: the
 * checks of a patch are made on the writer's own replica, before the others are known.
 */
import * as Y from 'yjs';

import type { Board, BoardView, Operation, Patch, Task } from '../board.ts';
import { COUNTERS, JOURNAL_MAX, REGISTERS, TASKS } from '../board.ts';

export interface YjsBoard {
  readonly view: BoardView;
  board(): Board;
  /** Applies the patch to this replica in one transaction. */
  apply(patch: Patch): void;
}

export function openYjsBoard(document: Y.Doc): YjsBoard {
  const parts = partsOf(document);
  const view: BoardView = {
    budget: () => sumOf(parts.amounts, 'budget'),
    tags: () => parts.tags.toArray(),
    journalLength: () => parts.journal.length,
    register: (name) => parts.registers.get(name) ?? '',
    task: (key) => taskAt(parts, key),
  };
  return {
    view,
    board: () => ({
      counters: Object.fromEntries(COUNTERS.map((name) => [name, sumOf(parts.amounts, name)])),
      budget: view.budget(),
      tags: parts.tags.toArray(),
      journal: parts.journal.toArray(),
      registers: Object.fromEntries(REGISTERS.map((name) => [name, view.register(name)])),
      tasks: Object.fromEntries(TASKS.map((key) => [key, taskAt(parts, key)])),
    }),
    apply: (patch) => {
      document.transact(() => {
        for (const operation of patch.operations) applyOperation(parts, operation, `w${patch.writer}`);
        // A transaction that only deletes leaves the document's clock as it was; this makes every patch visible to its witness.
        if (patch.operations.every((operation) => operation.verb === 'remove')) parts.marks.set(`w${patch.writer}`, patch.id);
      });
    },
  };
}

/** Fills an empty document with a board, in one transaction. */
export function loadYjsBoard(document: Y.Doc, board: Board): void {
  const parts = partsOf(document);
  document.transact(() => {
    for (const [name, value] of Object.entries({ ...board.counters, budget: board.budget }))
      addAmount(parts.amounts, name, 'start', value);
    parts.tags.push(board.tags);
    parts.journal.push(board.journal);
    for (const [name, value] of Object.entries(board.registers)) parts.registers.set(name, value);
    for (const [key, task] of Object.entries(board.tasks)) parts.tasks.set(key, new Y.Map<string>(Object.entries(task)));
  });
}

type Parts = {
  /** Per amount, its share per writer. */
  readonly amounts: Y.Map<Y.Map<number>>;
  readonly tags: Y.Array<string>;
  readonly journal: Y.Array<string>;
  readonly registers: Y.Map<string>;
  readonly tasks: Y.Map<Y.Map<string>>;
  readonly marks: Y.Map<string>;
};

function partsOf(document: Y.Doc): Parts {
  return {
    amounts: document.getMap('amounts'),
    tags: document.getArray('tags'),
    journal: document.getArray('journal'),
    registers: document.getMap('registers'),
    tasks: document.getMap('tasks'),
    marks: document.getMap('marks'),
  };
}

function applyOperation(parts: Parts, operation: Operation, writer: string): void {
  switch (operation.verb) {
    case 'inc':
    case 'spend':
      addAmount(parts.amounts, operation.field, writer, operation.verb === 'inc' ? operation.value : -operation.value);
      break;
    case 'add':
      parts.tags.push([operation.value]);
      break;
    case 'remove': {
      const index = parts.tags.toArray().indexOf(operation.value);
      if (index >= 0) parts.tags.delete(index, 1);
      break;
    }
    case 'append':
      parts.journal.push([operation.value]);
      if (parts.journal.length > JOURNAL_MAX) parts.journal.delete(0, parts.journal.length - JOURNAL_MAX);
      break;
    case 'set':
      if (operation.key === undefined) parts.registers.set(operation.field, operation.value);
      else parts.tasks.get(operation.key)?.set('title', operation.value);
      break;
    case 'claim':
      parts.tasks.get(operation.key)?.set('owner', operation.value);
      break;
    case 'release':
      parts.tasks.get(operation.key)?.set('owner', '');
      break;
    case 'move':
      parts.tasks.get(operation.key)?.set('status', operation.value);
      break;
  }
}

function addAmount(amounts: Parts['amounts'], name: string, writer: string, amount: number): void {
  let shares = amounts.get(name);
  if (shares === undefined) {
    shares = new Y.Map();
    amounts.set(name, shares);
  }
  shares.set(writer, (shares.get(writer) ?? 0) + amount);
}

function sumOf(amounts: Parts['amounts'], name: string): number {
  let sum = 0;
  amounts.get(name)?.forEach((share) => {
    sum += share;
  });
  return sum;
}

function taskAt(parts: Parts, key: string): Task {
  const row = parts.tasks.get(key);
  return {
    title: row?.get('title') ?? '',
    status: (row?.get('status') ?? 'todo') as Task['status'],
    owner: row?.get('owner') ?? '',
  };
}
