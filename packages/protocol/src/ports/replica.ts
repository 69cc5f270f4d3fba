/**
 * Port `Replica`: one space as this process knows it, sealed revision after sealed revision.
 *
 * A follower folds the log into one; a coordinator offers the state it has appended. Both give the same states.
 */
import type { Sealed, Space } from '@oplus/core';

export interface Replica {
  /** The newest sealed state known here. Before genesis its revision is -1. */
  space(): Space;
  /**
   * Calls back once per revision, in order, with the round that led to it; without one when following has failed. Runs inside
   * the fold's stack, so keep it short. Gives a function that ends it.
   */
  onChange(listener: (space: Space, sealed: Sealed | undefined) => void): () => void;
  /**
   * Calls back when another leader has begun its term: what was said to the one before may be lost. Gives a function that ends it.
   */
  onTerm(listener: () => void): () => void;
  /** Asks to look at the log now: somebody knows of a revision that is not here yet. */
  poke(): void;
  /** Why this replica stopped following, once it has. Its state stays readable but no longer moves. */
  failure(): Error | undefined;
  close(): Promise<void>;
}
