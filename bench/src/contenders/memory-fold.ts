/**
 * A plain fold in memory, one queue for all writers: the ceiling. No durability, no versions, no digests, no network.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { fold, initialBoard, refusalOf, viewOf } from '../board.ts';
import type { Contender, Session, Writer } from '../contender.ts';
import { cpuMsOfTree } from '../instruments.ts';
import { createReplicas, serving } from '../replica.ts';

export const memoryFold: Contender = {
  name: 'memory-fold',
  description: 'plain fold of each patch in this process, the ceiling',
  durability: 'none',
  missing: () => undefined,
  open: (options) => {
    const board = initialBoard();
    const truth = viewOf(board);
    const replicas = createReplicas(options);
    const writers = Array.from({ length: options.writerCount }, (_, index): Writer => {
      const replica = serving(replicas, index);
      return {
        view: () => replica.view,
        board: () => replica.board,
        commit: async (patch) => {
          await nextTurn(); // an agent's patch arrives in a turn of its own
          if (refusalOf(truth, patch) !== undefined) return { outcome: 'refused', retryCount: 0 };
          fold(board, patch.operations);
          for (const follower of replicas) fold(follower.board, patch.operations);
          return { outcome: 'committed', retryCount: 0 };
        },
      };
    });
    const session: Session = {
      writer: (index) => serving(writers, index),
      finalState: () => Promise.resolve(board),
      cpuMs: cpuMsOfTree,
      bytesOnWire: () => 0,
      close: () => Promise.resolve(),
    };
    return Promise.resolve(session);
  },
};
