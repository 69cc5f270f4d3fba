/**
 * Replicas for engines that announce whole patches: each follower folds them, in the engine's order, into its own board.
 */
import type { Board, BoardView, Operation } from './board.ts';
import { fold, initialBoard, viewOf } from './board.ts';
import type { OpenOptions } from './contender.ts';

export type Replica = { readonly board: Board; readonly view: BoardView };

/** One replica per writer, or a single one when views are shared. Writer `i` reads replica `i % length`. */
export function createReplicas(options: Pick<OpenOptions, 'writerCount' | 'views'>): readonly Replica[] {
  return Array.from({ length: followerCount(options) }, () => {
    const board = initialBoard();
    return { board, view: viewOf(board) };
  });
}

export function followerCount({ writerCount, views }: Pick<OpenOptions, 'writerCount' | 'views'>): number {
  return views === 'own' ? writerCount : 1;
}

/** Folds an announced patch, given as the JSON of its operations. */
export function follow(replica: Replica, operationsJson: string): void {
  fold(replica.board, JSON.parse(operationsJson) as readonly Operation[]);
}

/** The item that serves writer `index` when there may be fewer items than writers. */
export function serving<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError('a session needs at least one writer');
  return item;
}
