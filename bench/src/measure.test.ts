import { tmpdir } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import type { Board } from './board.ts';
import { fold, initialBoard, refusalOf, viewOf } from './board.ts';
import type { Contender, Session, Writer } from './contender.ts';
import { memoryFold } from './contenders/memory-fold.ts';
import type { Plan } from './measure.ts';
import { measure } from './measure.ts';
import { serving } from './replica.ts';

const plan: Plan = { writerCount: 4, views: 'own', seed: 5, warmupMs: 20, measuredMs: 100, thinkMsMax: 0, directory: tmpdir() };

test('[BEN6] the plain fold has no anomaly, with own and with shared views, with and without thinking', async () => {
  for (const variant of [plan, { ...plan, views: 'shared' }, { ...plan, thinkMsMax: 5 }] satisfies readonly Plan[]) {
    const figure = await measure(memoryFold, variant);
    expect(figure.committedCount).toBeGreaterThan(0);
    expect(Object.values(figure.anomalies).every((count) => count === 0)).toBe(true);
  }
});

test('[BEN8] an engine in which the last writer overwrites the whole board is found out', async () => {
  let stored = initialBoard();
  const overwriting = contender(
    async (patch) => {
      const own = structuredClone(stored);
      if (refusalOf(viewOf(own), patch) !== undefined) return { outcome: 'refused', retryCount: 0 };
      await nextTurn();
      fold(own, patch.operations);
      stored = own;
      return { outcome: 'committed', retryCount: 0 };
    },
    () => stored,
  );
  const { anomalies } = await measure(overwriting, plan);
  expect(anomalies.lostIncrements).toBeGreaterThan(0);
  expect(anomalies.lostUpdates).toBeGreaterThan(0);
  expect(anomalies.doubleClaims).toBeGreaterThan(0);
  expect(anomalies.journalBroken).toBeGreaterThan(0);
  expect(anomalies.tagsBroken).toBeGreaterThan(0);
});

test('[BEN9] writers whose views stay behind are counted', async () => {
  const board = initialBoard();
  const behind = contender(
    async (patch) => {
      await nextTurn();
      if (refusalOf(viewOf(board), patch) !== undefined) return { outcome: 'refused', retryCount: 0 };
      fold(board, patch.operations);
      return { outcome: 'committed', retryCount: 0 };
    },
    () => board,
    initialBoard(),
  );
  const { anomalies } = await measure(behind, { ...plan, writerCount: 2 });
  expect(anomalies).toMatchObject({ lostIncrements: 0, staleViews: 2 });
}, 20_000);

test('[BEN9] a contender that fails fails the figure, and is closed', async () => {
  let isClosed = false;
  const failing: Contender = {
    ...contender(() => Promise.reject(new Error('gone')), initialBoard),
    open: async (options) => ({
      ...(await contender(() => Promise.reject(new Error('gone')), initialBoard).open(options)),
      close: async () => void (isClosed = true),
    }),
  };
  await expect(measure(failing, plan)).rejects.toThrow('gone');
  expect(isClosed).toBe(true);
});

/** All writers read `seen`, or the stored board when it is left out. */
function contender(commit: Writer['commit'], stored: () => Board, seen?: Board): Contender {
  const writer: Writer = { view: () => viewOf(seen ?? stored()), board: () => seen ?? stored(), commit };
  const session: Session = {
    writer: () => serving([writer], 0),
    finalState: () => Promise.resolve(stored()),
    cpuMs: () => undefined,
    bytesOnWire: () => undefined,
    close: () => Promise.resolve(),
  };
  return { name: 'planted', description: '', durability: 'none', missing: () => undefined, open: () => Promise.resolve(session) };
}
