import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import type { Board, Operation, Patch } from '../board.ts';
import { BUDGET_MAX, TAGS_MAX, canonicalText, fold, initialBoard, refusalOf, viewOf } from '../board.ts';
import type { Session } from '../contender.ts';
import { createPatchStream } from '../workload.ts';
import { CONTENDERS } from './registry.ts';

const WRITER_COUNT = 3;
const cases = CONTENDERS.flatMap((contender) =>
  (['own', 'shared'] as const).map((views) => [contender.name, views, contender] as const),
);

test.each(cases)(
  '[BEN10] [BEN11] %s, views %s: answers as the fold does, or says what to install',
  async (_, views, contender) => {
    const install = contender.missing();
    if (install !== undefined) {
      expect(install).toContain('apt-get install');
      return;
    }
    const directory = mkdtempSync(join(tmpdir(), 'oplus-bench-test-'));
    try {
      const session = await contender.open({ writerCount: WRITER_COUNT, views, directory });
      try {
        await compareWithFold(session);
        expect((session.bytesOnWire() ?? 0) > 0).toBe(!/memory|sqlite/.test(contender.name));
      } finally {
        await session.close();
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

/** One patch at a time, careful ones and such that do not hold, each on views that have followed. */
async function compareWithFold(session: Session): Promise<void> {
  const board = initialBoard();
  const streams = Array.from({ length: WRITER_COUNT }, (_, writer) => createPatchStream({ seed: 11, writer }));
  const writer = session.writer(1);
  const follows = async (): Promise<void> => {
    for (let index = 0; index < WRITER_COUNT; index += 1) {
      await vi.waitFor(() => expect(canonicalText(session.writer(index).board())).toBe(canonicalText(board)), {
        interval: 2,
        timeout: 5_000,
      });
    }
  };
  const compare = async (patch: Patch): Promise<void> => {
    const isHeld = refusalOf(viewOf(board), patch) === undefined;
    const answer = await session.writer(patch.writer).commit(patch);
    expect(answer).toEqual({ outcome: isHeld ? 'committed' : 'refused', retryCount: 0 });
    if (isHeld) fold(board, patch.operations);
    streams[patch.writer]?.settle(patch, isHeld);
    await follows();
  };
  await follows();
  for (let step = 0; step < 90; step += 1) {
    const patch = streams[step % WRITER_COUNT]?.next(session.writer(step % WRITER_COUNT).view());
    if (patch !== undefined) await compare(patch);
  }
  for (const [index, operation] of refusedOn(board).entries()) {
    const operations: Operation[] = [
      operation,
      { field: 'counter0', verb: 'inc', value: 1 },
      { field: 'note0', verb: 'set', value: `w1-x${index}` },
    ];
    expect(refusalOf(viewOf(board), { id: '', writer: 1, operations })).toBeDefined();
    await compare({ id: `w1-x${index}`, writer: 1, operations: operations.toSorted((a, b) => (a.field < b.field ? -1 : 1)) });
  }
  const expected = writer.view().register('cas0');
  await compare({ id: 'w0-s', writer: 0, operations: [{ field: 'cas0', verb: 'set', value: 'w0-s', expected }] });
  await compare({
    id: 'w1-s',
    writer: 1,
    operations: [
      { field: 'cas0', verb: 'set', value: 'w1-s', expected },
      { field: 'counter0', verb: 'inc', value: 1 },
    ],
  });
  for (let n = 0; board.tags.length < TAGS_MAX; n += 1)
    await compare({ id: `w1-y${n}`, writer: 1, operations: [{ field: 'tags', verb: 'add', value: `w1-y${n}` }] });
  await compare({
    id: 'w1-z0',
    writer: 1,
    operations: [
      { field: 'note0', verb: 'set', value: 'w1-z0' },
      { field: 'tags', verb: 'add', value: 'w1-z0' },
    ],
  });
  await compare({ id: 'w1-z1', writer: 1, operations: [{ field: 'tags', verb: 'remove', value: 'nobody has it' }] });
  expect(canonicalText(await session.finalState())).toBe(canonicalText(board));
  expect(writer.view().tags()).toHaveLength(TAGS_MAX);
}

function refusedOn(board: Board): readonly Operation[] {
  const held = Object.entries(board.tasks).find(([, task]) => task.owner !== '');
  const free = Object.entries(board.tasks).find(([, task]) => task.owner === '' && task.status === 'todo');
  if (held === undefined || free === undefined) throw new RangeError('the run left no row held and no row free');
  return [
    { field: 'budget', verb: 'spend', value: board.budget + 1 },
    { field: 'budget', verb: 'inc', value: BUDGET_MAX - board.budget + 1 },
    { field: 'tasks', key: held[0], verb: 'claim', value: `w1-x@${held[0]}` },
    { field: 'tasks', key: held[0], verb: 'release', value: `w1-x@${held[0]}` },
    { field: 'tasks', key: free[0], verb: 'release', value: `w1-x@${free[0]}` },
    { field: 'tasks', key: free[0], verb: 'move', value: 'done', expected: 'todo' },
    { field: 'tasks', key: free[0], verb: 'move', value: 'review', expected: 'doing' },
  ];
}
