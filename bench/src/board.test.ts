import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Operation, Patch } from './board.ts';
import { BUDGET_MAX, JOURNAL_MAX, TAGS_MAX, TASKS, canonicalText, fold, initialBoard, refusalOf, viewOf } from './board.ts';
import { createRandom } from './random.ts';
import { createPatchStream } from './workload.ts';

const increment: Operation = { field: 'counter0', verb: 'inc', value: 1 };

const REFUSED: readonly (readonly [string, Operation])[] = [
  ['budget', { field: 'budget', verb: 'spend', value: BUDGET_MAX / 2 + 1 }],
  ['budget', { field: 'budget', verb: 'inc', value: BUDGET_MAX / 2 + 1 }],
  ['cas3', { field: 'cas3', verb: 'set', value: 'w0-1', expected: 'somebody else' }],
  ['tasks/task07/owner', { field: 'tasks', key: 'task07', verb: 'release', value: 'w0-1@task07' }],
  ['tasks/task07/status', { field: 'tasks', key: 'task07', verb: 'move', value: 'done', expected: 'todo' }],
  ['tasks/task07/status', { field: 'tasks', key: 'task07', verb: 'move', value: 'review', expected: 'doing' }],
];

test.each(REFUSED)('[BEN3] a patch that does not hold at %s is refused by that cell', (cell, operation) => {
  expect(refusalOf(viewOf(initialBoard()), patchOf(increment, operation))).toMatch(new RegExp(`^${cell}: `));
});

test('[BEN3] a claim on a held row and a tag above the cap are refused', () => {
  const board = initialBoard();
  fold(board, [{ field: 'tasks', key: 'task00', verb: 'claim', value: 'w0-1@task00' }]);
  while (board.tags.length < TAGS_MAX) fold(board, [{ field: 'tags', verb: 'add', value: `more${board.tags.length}` }]);
  const claim: Operation = { field: 'tasks', key: 'task00', verb: 'claim', value: 'w1-1@task00' };
  expect(refusalOf(viewOf(board), patchOf(claim))).toBe('tasks/task00/owner: held');
  expect(refusalOf(viewOf(board), patchOf({ field: 'tags', verb: 'add', value: 'w1-1' }))).toBe('tags: full');
});

test('[BEN3] asking changes nothing, folding changes every cell of the patch', () => {
  const board = initialBoard();
  const patch = patchOf(
    increment,
    { field: 'journal', verb: 'append', value: 'w0-1 an entry' },
    { field: 'tasks', key: 'task01', verb: 'move', value: 'doing', expected: 'todo' },
  );
  const before = canonicalText(board);
  expect(refusalOf(viewOf(board), patch)).toBeUndefined();
  expect(canonicalText(board)).toBe(before);
  fold(board, patch.operations);
  expect(board.counters['counter0']).toBe(1);
  expect(board.journal.at(-1)).toBe('w0-1 an entry');
  expect(board.tasks['task01']?.status).toBe('doing');
});

test('[BEN5] the board is about 10 kB and stays within its caps and bounds', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 4 }), (seed, writerCount) => {
      const board = initialBoard();
      const view = viewOf(board);
      const random = createRandom(seed, 99);
      const streams = Array.from({ length: writerCount }, (_, writer) => createPatchStream({ seed, writer }));
      for (let step = 0; step < 200; step += 1) {
        const stream = streams[random.below(writerCount)];
        const patch = stream?.next(view);
        if (patch === undefined) continue;
        const isCommitted = refusalOf(view, patch) === undefined;
        if (isCommitted) fold(board, patch.operations);
        stream?.settle(patch, isCommitted);
      }
      expect(board.budget).toBeGreaterThanOrEqual(0);
      expect(board.budget).toBeLessThanOrEqual(BUDGET_MAX);
      expect(board.tags.length).toBeLessThanOrEqual(TAGS_MAX);
      expect(board.journal).toHaveLength(JOURNAL_MAX);
      expect(Object.keys(board.tasks)).toEqual(TASKS);
      const bytes = Buffer.byteLength(JSON.stringify(board));
      expect(bytes).toBeGreaterThan(8_000);
      expect(bytes).toBeLessThan(12_000);
    }),
    { numRuns: 20 },
  );
});

function patchOf(...operations: readonly Operation[]): Patch {
  return { id: 'w0-1', writer: 0, operations };
}
