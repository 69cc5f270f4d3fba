/**
 * A follower: folds the records of a log into a replica of one space, entry by entry to the same digest.
 *
 * Announcements save reads and are never believed against the log: the log is read whenever one is missing or does not fit, and
 * when somebody knows of a newer revision. What was folded from announcements alone is folded anew when the log holds something else.
 * SPEC: WK20-WK24.
 */
import { emptyShard, OplusError } from '@oplus/core';
import type { FoldedRecord, Sealed, Shard, Space, StateSchema } from '@oplus/core';
import { foldLogRecord, isPassing, readAnnouncement } from '@oplus/protocol';
import type { Bus, Clock, Closable, LogReader, Replica, StoredRecord } from '@oplus/protocol';

export type FollowOptions = {
  readonly bus: Bus;
  readonly log: LogReader;
  readonly clock: Clock;
  readonly channel: string;
  readonly space: string;
  readonly schema: StateSchema;
  /** How often the log is looked at even when nothing was announced. 1,000 ms when left out. */
  readonly pollMs?: number;
};

/**
 * Reads the log up to its tail, then follows it; bus and log stay open when it closes. Throws `LOG_DAMAGED`, `LOG_DIVERGED`,
 * `SCHEMA_INVALID` when the space was begun with another definition, or what log and bus throw.
 */
export async function follow(options: FollowOptions): Promise<Replica> {
  const follower = new Follower(options);
  await follower.open();
  return follower;
}

const POLL_MS = 1_000;

type Listener = (space: Space, sealed: Sealed | undefined) => void;

class Follower implements Replica {
  readonly #options: FollowOptions;
  readonly #listeners = new Set<Listener>();
  readonly #termListeners = new Set<() => void>();
  /** As far as the log itself was read, and as far as we are with announcements, of which the newest is kept. */
  #read: Shard;
  #shard: Shard;
  #announced = '';
  #listening: Closable | undefined;
  #reading: Promise<void> | undefined;
  #isReadDue = false;
  #failure: Error | undefined;
  /** Why the last read ended early, when the next one may not. */
  #trouble: Error | undefined;
  #isClosed = false;
  #cancelPoll: () => void = () => undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#read = emptyShard(new Map([[options.space, options.schema]]));
    this.#shard = this.#read;
  }

  async open(): Promise<void> {
    try {
      this.#listening = await this.#options.bus.listen(this.#options.channel, (text) => this.#onAnnouncement(text));
      await this.#catchUp();
      const error = this.#failure ?? this.#trouble;
      if (error !== undefined) throw error;
      this.#schedulePoll();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  space(): Space {
    return this.#shard.spaces.get(this.#options.space) as Space;
  }

  onChange(listener: Listener): () => void {
    // A wrapper of its own, so that the same function may listen twice and end once.
    const call: Listener = (space, sealed) => listener(space, sealed);
    this.#listeners.add(call);
    return () => this.#listeners.delete(call);
  }

  onTerm(listener: () => void): () => void {
    const call = (): void => listener();
    this.#termListeners.add(call);
    return () => this.#termListeners.delete(call);
  }

  poke(): void {
    void this.#catchUp();
  }

  failure(): Error | undefined {
    return this.#failure;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#termListeners.clear();
    this.#cancelPoll();
    await this.#listening?.close();
    await this.#reading;
  }

  #onAnnouncement(text: string): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    const record = readAnnouncement(text);
    if (record === undefined || record.index <= this.#shard.index) return;
    // While the log is read, or when something is missing before it, this one is read there too.
    if (this.#reading !== undefined || record.index !== this.#shard.index + 1 || !this.#foldAnnounced(record))
      void this.#catchUp();
  }

  /** False when it does not fit. */
  #foldAnnounced(record: StoredRecord): boolean {
    try {
      const folded = foldLogRecord(this.#shard, record);
      if (folded.kind === 'void') return false;
      this.#announced = record.body;
      this.#advance(folded);
      return true;
    } catch {
      return false; // The log says whether it is really so.
    }
  }

  /** Reads from the log until nothing is missing. Calls while one is running are served by one more pass. Never rejects. */
  #catchUp(): Promise<void> {
    this.#isReadDue = true;
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOn(): Promise<void> {
    while (this.#isReadDue && !this.#isClosed && this.#failure === undefined) {
      this.#isReadDue = false;
      this.#trouble = undefined;
      try {
        await this.#readToTail();
      } catch (error) {
        this.#onTrouble(error);
        return;
      }
    }
  }

  /** What passes is left to the next look. */
  #onTrouble(error: unknown): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    this.#trouble = error as Error;
    if (isPassing(error)) return;
    this.#failure = error as Error;
    this.#notify(undefined);
  }

  async #readToTail(): Promise<void> {
    const { index } = this.#shard;
    const isAhead = index > this.#read.index;
    for await (const record of this.#options.log.read(isAhead ? index : index + 1)) {
      if (this.#isClosed) return;
      if (record.index === index) {
        // Chained as it is, the newest announced record vouches for all before it; if it is not in the log, they are read again.
        if (record.body === this.#announced) {
          this.#read = this.#shard;
          continue;
        }
        this.#shard = this.#read;
        this.#isReadDue = true;
        return;
      }
      const folded = foldLogRecord(this.#shard, record);
      this.#read = folded.shard;
      this.#advance(folded);
    }
  }

  #advance(folded: FoldedRecord): void {
    const isTermNew = folded.shard.term !== this.#shard.term;
    this.#shard = folded.shard;
    if (folded.kind === 'folded') for (const sealed of folded.sealed) this.#notify(sealed);
    if (isTermNew) for (const listener of this.#termListeners) calling(listener);
  }

  #notify(sealed: Sealed | undefined): void {
    const space = this.space();
    for (const listener of this.#listeners) calling(() => listener(space, sealed));
  }

  #schedulePoll(): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    this.#cancelPoll = this.#options.clock.after(this.#options.pollMs ?? POLL_MS, () => {
      void this.#look().then(() => this.#schedulePoll());
    });
  }

  /** Compares with the tail of the log, then reads on. Never rejects. */
  async #look(): Promise<void> {
    const { index } = this.#shard;
    try {
      const tail = await this.#options.log.tail();
      if (tail < index) throw wentBackwards(index, tail);
    } catch (error) {
      this.#onTrouble(error);
    }
    await this.#catchUp();
  }
}

function wentBackwards(index: number, tail: number): OplusError {
  return new OplusError('LOG_DAMAGED', `the log went backwards: record ${index} was there, the newest is ${tail}`, {
    hint: 'It was restored from an older copy, or lost its tail in a power cut.',
  });
}

/** A mistake of whoever listens must not cost others the news, nor go unnoticed. */
function calling(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
}
