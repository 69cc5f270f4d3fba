/**
 * What every contender of the bench implements: an engine that keeps one team board for many writers.
 *
 * A contender is opened afresh, in a process of its own, for each figure; it starts its servers on loopback with a random
 * port inside the directory that it is given, and stops them on `close`.
 */
import type { Board, BoardView, Patch } from './board.ts';

/** What an acknowledged commit survives: nothing, a killed process (or up to a second of writes on a power cut), or a power cut. */
export type Durability = 'none' | 'process' | 'power';

export interface Contender {
  /** Kebab-case, unique in the registry. */
  readonly name: string;
  /** One line for people: engine, the way it is used, settings that matter. */
  readonly description: string;
  readonly durability: Durability;
  /** What to install before it can be measured, or `undefined` when everything is there. */
  missing(): string | undefined;
  /** Ready for commits when it resolves: every writer is connected and reads the initial board. */
  open(options: OpenOptions): Promise<Session>;
}

/**
 * - `own`: each writer follows by itself, as agents in separate processes do: its own connection, its own replica.
 * - `shared`: the writers of the process follow together: one subscription, one replica.
 */
export type Views = 'own' | 'shared';

export type OpenOptions = {
  readonly writerCount: number;
  readonly views: Views;
  /** An empty directory for files, sockets and logs; removed by the bench afterwards. */
  readonly directory: string;
};

export interface Session {
  /** `index` in `[0, writerCount)`; the same object each time. */
  writer(index: number): Writer;
  /** The board as the engine itself holds it, once no commit is in flight. */
  finalState(): Promise<Board>;
  /** CPU used so far; `undefined` where the system does not tell. */
  cpuMs(): CpuMs | undefined;
  /** Bytes that the clients' sockets have sent and received so far; 0 without sockets, `undefined` where they cannot be counted. */
  bytesOnWire(): number | undefined;
  /** Disconnects, and stops what `open` started. */
  close(): Promise<void>;
}

/** Milliseconds of the bench's own process, and of all processes that it started. */
export type CpuMs = { readonly client: number; readonly server: number };

export interface Writer {
  /** What this writer reads now. It follows every commit of every writer without being asked. */
  view(): BoardView;
  /** The whole board as this writer sees it; called after the run only. */
  board(): Board;
  /**
   * All or nothing. Conflicts of the engine are retried inside, on a fresh read, where the engine is meant to be used so;
   * a patch that does not hold on the newest state is refused. Throws only when the engine is broken or gone.
   */
  commit(patch: Patch): Promise<Answer>;
}

export type Answer = { readonly outcome: 'committed' | 'refused'; readonly retryCount: number };
