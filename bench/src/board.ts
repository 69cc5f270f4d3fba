/**
 * The team board: the state that every contender keeps, its patches, and the plain fold that defines what a patch means.
 *
 * Neutral to any engine: a contender may store the board as it likes, as long as its final board, its answers and its
 * bounds are those of `refusalOf` and `fold`. As JSON the board is about 10 kB.
 */

/** Fields of a register: `cas*` are set by compare-and-set, the others by the last writer. `left` and `right` are only ever set together, to one value. */
export const COUNTERS: readonly string[] = names('counter', 8);
export const CAS_REGISTERS: readonly string[] = names('cas', 8);
export const NOTE_REGISTERS: readonly string[] = names('note', 4);
export const PAIR_REGISTERS: readonly [string, string] = ['left', 'right'];
export const REGISTERS: readonly string[] = [...CAS_REGISTERS, ...NOTE_REGISTERS, ...PAIR_REGISTERS];
export const TASKS: readonly string[] = names('task', 64);

export type Status = 'todo' | 'doing' | 'review' | 'done';
export const STATUSES: readonly Status[] = ['todo', 'doing', 'review', 'done'];

/** Largest number of tags; one more is refused. */
export const TAGS_MAX = 32;
/** The journal keeps its newest entries, this many. */
export const JOURNAL_MAX = 50;
/** The budget stays within `[0, BUDGET_MAX]`; a patch that would cross either end is refused. */
export const BUDGET_MAX = 100;

/** `owner` is the claim that holds the row, `''` when it is free. */
export type Task = { title: string; status: Status; owner: string };

/** Mutable on purpose: `fold` works in place, because the plain fold is the ceiling of the bench. */
export type Board = {
  counters: Record<string, number>;
  budget: number;
  /** Without order and without doubles. */
  tags: string[];
  /** Oldest first. */
  journal: string[];
  registers: Record<string, string>;
  tasks: Record<string, Task>;
};

/**
 * One change of one cell. `expected` is the value that the writer read: the operation holds only on it.
 * - `inc`: adds to a counter or to the budget (refused above its top); `spend`: takes from the budget (refused below 0).
 * - `add`, `remove`: a member of the tags; adding above the cap is refused, removing what is gone changes nothing.
 * - `append`: an entry of the journal, whose oldest entries leave beyond the cap.
 * - `set`: a register or, with `key`, the title of a task; with `expected` by compare-and-set.
 * - `claim`, `release`: a free row is taken, the holding claim (the same `value`) is given back; anything else is refused.
 * - `move`: the status of a task, from `expected`, along `canMove`.
 */
export type Operation =
  | { readonly field: string; readonly verb: 'inc' | 'spend'; readonly value: number }
  | { readonly field: string; readonly verb: 'add' | 'remove' | 'append'; readonly value: string }
  | { readonly field: string; readonly verb: 'set'; readonly value: string; readonly key?: string; readonly expected?: string }
  | { readonly field: 'tasks'; readonly key: string; readonly verb: 'claim' | 'release'; readonly value: string }
  | { readonly field: 'tasks'; readonly key: string; readonly verb: 'move'; readonly value: Status; readonly expected: Status };

/**
 * One to four operations on different cells, all or nothing. Sorted by cell, so that engines that lock row by row
 * lock in one order. `id` is unique per run, and the strings that a patch writes begin with it.
 */
export type Patch = { readonly id: string; readonly writer: number; readonly operations: readonly Operation[] };

/** What a writer reads before it proposes. A contender answers from its own replica, without building a whole board. */
export interface BoardView {
  budget(): number;
  /** Not to be altered, and valid only until the writer's next turn. */
  tags(): readonly string[];
  journalLength(): number;
  register(name: string): string;
  task(key: string): Readonly<Task>;
}

/** The board that every run begins with. Pure; each call gives a fresh one. */
export function initialBoard(): Board {
  return {
    counters: Object.fromEntries(COUNTERS.map((name) => [name, 0])),
    budget: BUDGET_MAX / 2,
    tags: names('tag', 16),
    journal: names('start', JOURNAL_MAX).map((name) => `${name} the team opened this board before the first patch`),
    registers: Object.fromEntries(REGISTERS.map((name) => [name, PAIR_REGISTERS.includes(name) ? 'pair' : name])),
    tasks: Object.fromEntries(
      TASKS.map((key) => [key, { title: `${key} a row of the board that somebody has to finish`, status: 'todo', owner: '' }]),
    ),
  };
}

/** Where the patch does not hold, as `cell: reason`, or `undefined` when it may be folded. Changes nothing. */
export function refusalOf(view: BoardView, patch: Patch): string | undefined {
  for (const operation of patch.operations) {
    const reason = reasonAgainst(view, operation);
    if (reason !== undefined) return `${cellOf(operation)}: ${reason}`;
  }
  return undefined;
}

/** Applies a patch in place, unchecked: the caller asked `refusalOf`, or the engine accepted it already. */
export function fold(board: Board, operations: readonly Operation[]): void {
  for (const operation of operations) {
    switch (operation.verb) {
      case 'inc':
      case 'spend':
        foldAmount(board, operation.field, operation.verb === 'inc' ? operation.value : -operation.value);
        break;
      case 'add':
        if (!board.tags.includes(operation.value)) board.tags.push(operation.value);
        break;
      case 'remove':
        board.tags = board.tags.filter((tag) => tag !== operation.value);
        break;
      case 'append':
        board.journal.push(operation.value);
        if (board.journal.length > JOURNAL_MAX) board.journal.shift();
        break;
      case 'set':
        if (operation.key === undefined) board.registers[operation.field] = operation.value;
        else taskOf(board, operation.key).title = operation.value;
        break;
      case 'claim':
        taskOf(board, operation.key).owner = operation.value;
        break;
      case 'release':
        taskOf(board, operation.key).owner = '';
        break;
      case 'move':
        taskOf(board, operation.key).status = operation.value;
        break;
    }
  }
}

/** The transition table of a task: forward around the ring, and back from review. */
export function canMove(from: Status, to: Status): boolean {
  return to === nextStatus(from) || (from === 'review' && to === 'doing');
}

export function nextStatus(from: Status): Status {
  return STATUSES[(STATUSES.indexOf(from) + 1) % STATUSES.length] ?? 'todo';
}

/** Name of the cell that an operation touches; the order of names is the order of locks. */
export function cellOf(operation: Operation): string {
  if (!('key' in operation) || operation.key === undefined) return operation.field;
  const column = operation.verb === 'set' ? 'title' : operation.verb === 'move' ? 'status' : 'owner';
  return `${operation.field}/${operation.key}/${column}`;
}

/** Reads a board in place. */
export function viewOf(board: Board): BoardView {
  return {
    budget: () => board.budget,
    tags: () => board.tags,
    journalLength: () => board.journal.length,
    register: (name) => board.registers[name] ?? '',
    task: (key) => taskOf(board, key),
  };
}

/** One text per board value: equal boards give equal texts, whatever order their keys and tags came in. */
export function canonicalText(board: Board): string {
  return JSON.stringify([
    COUNTERS.map((name) => board.counters[name]),
    board.budget,
    [...board.tags].toSorted(),
    board.journal,
    REGISTERS.map((name) => board.registers[name]),
    TASKS.map((key) => [board.tasks[key]?.title, board.tasks[key]?.status, board.tasks[key]?.owner]),
  ]);
}

export function taskOf(board: Board, key: string): Task {
  const task = board.tasks[key];
  if (task === undefined) throw new RangeError(`no task ${key} on the board`);
  return task;
}

function foldAmount(board: Board, field: string, amount: number): void {
  if (field === 'budget') board.budget += amount;
  else board.counters[field] = (board.counters[field] ?? 0) + amount;
}

function reasonAgainst(view: BoardView, operation: Operation): string | undefined {
  switch (operation.verb) {
    case 'inc':
      return operation.field === 'budget' && view.budget() + operation.value > BUDGET_MAX ? 'above its top' : undefined;
    case 'spend':
      return view.budget() < operation.value ? 'below zero' : undefined;
    case 'add':
      return view.tags().length >= TAGS_MAX ? 'full' : undefined;
    case 'set':
      return operation.expected !== undefined && view.register(operation.field) !== operation.expected
        ? 'another value'
        : undefined;
    case 'claim':
      return view.task(operation.key).owner === '' ? undefined : 'held';
    case 'release':
      return view.task(operation.key).owner === operation.value ? undefined : 'not the holder';
    case 'move': {
      const { status } = view.task(operation.key);
      return status === operation.expected && canMove(status, operation.value) ? undefined : 'no such transition';
    }
    default:
      return undefined;
  }
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(count > 10 ? 2 : 1, '0')}`);
}
