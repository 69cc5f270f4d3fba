/**
 * SQLite in process: one transaction per patch, `BEGIN IMMEDIATE` as the documentation of transactions advises for writers
 * that know they will write, WAL, and conditional statements instead of a read before each write.
 *
 * SQLite announces nothing to other connections. Its writers share this process, so followers are told by a call.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Board, Operation, Patch } from '../board.ts';
import { BUDGET_MAX, JOURNAL_MAX, TAGS_MAX, canMove, fold, initialBoard } from '../board.ts';
import type { Contender, Session, Writer } from '../contender.ts';
import { cpuMsOfTree } from '../instruments.ts';
import { createReplicas, serving } from '../replica.ts';

/** Every commit is on the disk before it is acknowledged. */
export const sqliteFull: Contender = contender('sqlite-full', 'FULL');
/** The log is synced at checkpoints only: a power cut may take acknowledged commits, a killed process may not. */
export const sqliteNormal: Contender = contender('sqlite-normal', 'NORMAL');

function contender(name: string, synchronous: 'FULL' | 'NORMAL'): Contender {
  return {
    name,
    description: `node:sqlite in process, WAL, synchronous=${synchronous}, one BEGIN IMMEDIATE transaction per patch`,
    durability: synchronous === 'FULL' ? 'power' : 'process',
    missing: () => undefined,
    open: (options) => {
      const database = new DatabaseSync(join(options.directory, 'board.sqlite'));
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};`);
      load(database, initialBoard());
      const commitPatch = prepare(database);
      const replicas = createReplicas(options);
      const writers = Array.from({ length: options.writerCount }, (_, index): Writer => {
        const replica = serving(replicas, index);
        return {
          view: () => replica.view,
          board: () => replica.board,
          commit: async (patch) => {
            await nextTurn(); // an agent's patch arrives in a turn of its own
            if (!commitPatch(patch)) return { outcome: 'refused', retryCount: 0 };
            for (const follower of replicas) fold(follower.board, patch.operations);
            return { outcome: 'committed', retryCount: 0 };
          },
        };
      });
      const session: Session = {
        writer: (index) => serving(writers, index),
        finalState: () => Promise.resolve(read(database)),
        cpuMs: cpuMsOfTree,
        bytesOnWire: () => 0,
        close: () => Promise.resolve(database.close()),
      };
      return Promise.resolve(session);
    },
  };
}

/** Row `journal` of the numbers counts the entries ever appended; entries are numbered by it. */
const SCHEMA = `
  CREATE TABLE number (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE tag (name TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE journal (n INTEGER PRIMARY KEY, entry TEXT NOT NULL);
  CREATE TABLE register (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE task (key TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL, owner TEXT NOT NULL) WITHOUT ROWID;
`;

function load(database: DatabaseSync, board: Board): void {
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
  const number = database.prepare('INSERT INTO number VALUES (?, ?)');
  for (const [name, value] of Object.entries({ ...board.counters, budget: board.budget, journal: board.journal.length }))
    number.run(name, value);
  const tag = database.prepare('INSERT INTO tag VALUES (?)');
  for (const name of board.tags) tag.run(name);
  const entry = database.prepare('INSERT INTO journal VALUES (?, ?)');
  for (const [index, text] of board.journal.entries()) entry.run(index + 1, text);
  const register = database.prepare('INSERT INTO register VALUES (?, ?)');
  for (const [name, value] of Object.entries(board.registers)) register.run(name, value);
  const task = database.prepare('INSERT INTO task VALUES (?, ?, ?, ?)');
  for (const [key, { title, status, owner }] of Object.entries(board.tasks)) task.run(key, title, status, owner);
  database.exec('COMMIT');
}

/** Gives the transaction of a patch: true when it committed, false when it was rolled back. */
function prepare(database: DatabaseSync): (patch: Patch) => boolean {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const add = database.prepare('UPDATE number SET value = value + ?1 WHERE name = ?2');
  const addBudget = database.prepare(
    `UPDATE number SET value = value + ?1 WHERE name = 'budget' AND value + ?1 BETWEEN 0 AND ${BUDGET_MAX}`,
  );
  const addTag = database.prepare(
    `INSERT INTO tag SELECT ?1 WHERE (SELECT count(*) FROM tag) < ${TAGS_MAX} ON CONFLICT DO NOTHING`,
  );
  const removeTag = database.prepare('DELETE FROM tag WHERE name = ?1');
  const countEntry = database.prepare(`UPDATE number SET value = value + 1 WHERE name = 'journal' RETURNING value`);
  const append = database.prepare('INSERT INTO journal VALUES (?1, ?2)');
  const trim = database.prepare(`DELETE FROM journal WHERE n <= ?1 - ${JOURNAL_MAX}`);
  const setRegister = database.prepare('UPDATE register SET value = ?1 WHERE name = ?2');
  const compareAndSet = database.prepare('UPDATE register SET value = ?1 WHERE name = ?2 AND value = ?3');
  const setTitle = database.prepare('UPDATE task SET title = ?1 WHERE key = ?2');
  const claim = database.prepare(`UPDATE task SET owner = ?1 WHERE key = ?2 AND owner = ''`);
  const release = database.prepare(`UPDATE task SET owner = '' WHERE key = ?2 AND owner = ?1`);
  const move = database.prepare('UPDATE task SET status = ?1 WHERE key = ?2 AND status = ?3');

  const apply = (operation: Operation): boolean => {
    switch (operation.verb) {
      case 'inc':
      case 'spend': {
        const amount = operation.verb === 'inc' ? operation.value : -operation.value;
        return (operation.field === 'budget' ? addBudget.run(amount) : add.run(amount, operation.field)).changes === 1;
      }
      case 'add':
        return addTag.run(operation.value).changes === 1;
      case 'remove':
        removeTag.run(operation.value);
        return true;
      case 'append': {
        const n = Number(countEntry.get()?.['value']);
        append.run(n, operation.value);
        trim.run(n);
        return true;
      }
      case 'set':
        if (operation.key !== undefined) return setTitle.run(operation.value, operation.key).changes === 1;
        if (operation.expected === undefined) return setRegister.run(operation.value, operation.field).changes === 1;
        return compareAndSet.run(operation.value, operation.field, operation.expected).changes === 1;
      case 'claim':
        return claim.run(operation.value, operation.key).changes === 1;
      case 'release':
        return release.run(operation.value, operation.key).changes === 1;
      case 'move':
        return (
          canMove(operation.expected, operation.value) &&
          move.run(operation.value, operation.key, operation.expected).changes === 1
        );
    }
  };

  return (patch) => {
    begin.run();
    const holds = patch.operations.every(apply);
    (holds ? commit : rollback).run();
    return holds;
  };
}

function read(database: DatabaseSync): Board {
  const rows = (sql: string): Record<string, string | number>[] =>
    database.prepare(sql).all() as Record<string, string | number>[];
  const numbers = Object.fromEntries(
    rows(`SELECT * FROM number WHERE name <> 'journal'`).map((row) => [row['name'], Number(row['value'])]),
  );
  const { budget = 0, ...counters } = numbers;
  return {
    counters,
    budget,
    tags: rows('SELECT name FROM tag').map((row) => String(row['name'])),
    journal: rows('SELECT entry FROM journal ORDER BY n').map((row) => String(row['entry'])),
    registers: Object.fromEntries(rows('SELECT * FROM register').map((row) => [row['name'], String(row['value'])])),
    tasks: Object.fromEntries(
      rows('SELECT key, title, status, owner FROM task').map(({ key, ...task }) => [key, task]),
    ) as Board['tasks'],
  };
}
