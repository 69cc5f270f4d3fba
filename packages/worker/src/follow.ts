/**
 * A follower: folds the records of a log into a replica of one space, entry by entry to the same digest.
 *
 * Announcements are a hint; the log is read whenever one is missing, and when somebody knows of a newer revision.
 */
import { emptyShard, foldRecord, OplusError } from '@oplus/core';
import type { Sealed, Shard, Space, StateSchema } from '@oplus/core';
import { readAnnouncement } from '@oplus/protocol';
import type { Bus, Clock, Closable, LogReader, Replica } from '@oplus/protocol';

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

/** Reads the log up to its tail, then follows it. Throws `LOG_DAMAGED`, `LOG_DIVERGED`, or what log and bus throw. */
export async function follow(options: FollowOptions): Promise<Replica> {
  const follower = new Follower(options);
  await follower.open();
  return follower;
}

class Follower implements Replica {
  readonly #options: FollowOptions;
  readonly #listeners = new Set<(space: Space, sealed: Sealed | undefined) => void>();
  #shard: Shard;
  #listening: Closable | undefined;
  #reading: Promise<void> | undefined;
  #isReadDue = false;
  #failure: Error | undefined;
  #isClosed = false;
  #cancelPoll: () => void = () => undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#shard = emptyShard(new Map([[options.space, options.schema]]));
  }

  async open(): Promise<void> {
    this.#listening = await this.#options.bus.listen(this.#options.channel, (text) => this.#onAnnouncement(text));
    await this.#catchUp();
    if (this.#failure !== undefined) {
      await this.close();
      throw this.#failure;
    }
    this.#schedulePoll();
  }

  space(): Space {
    return this.#shard.spaces.get(this.#options.space) as Space;
  }

  onChange(listener: (space: Space, sealed: Sealed | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  poke(): void {
    void this.#catchUp();
  }

  failure(): Error | undefined {
    return this.#failure;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPoll();
    await this.#listening?.close();
    await this.#reading;
  }

  #onAnnouncement(text: string): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    const announced = readAnnouncement(text);
    if (announced === undefined || announced.index <= this.#shard.index) return;
    if (announced.index === this.#shard.index + 1 && this.#reading === undefined) this.#fold(announced.index, announced.body);
    else void this.#catchUp();
  }

  /** Reads from the log until nothing is missing. Calls while one is running are served by one more pass. */
  #catchUp(): Promise<void> {
    this.#isReadDue = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    while (this.#isReadDue && !this.#isClosed && this.#failure === undefined) {
      this.#isReadDue = false;
      try {
        for await (const { index, body } of this.#options.log.read(this.#shard.index + 1)) {
          if (this.#isClosed) return;
          this.#fold(index, body);
        }
      } catch (error) {
        if (error instanceof OplusError && (error.code === 'TRANSPORT_TIMEOUT' || error.code === 'BROKER_UNREACHABLE')) return; // The poll tries again.
        this.#failure ??= error as Error;
        this.#notify(undefined);
      }
    }
  }

  #fold(index: number, body: string): void {
    try {
      const folded = foldRecord(this.#shard, index, body);
      this.#shard = folded.shard;
      if (folded.kind === 'folded') for (const sealed of folded.sealed) this.#notify(sealed);
    } catch (error) {
      this.#failure = error as Error;
      this.#notify(undefined);
    }
  }

  #notify(sealed: Sealed | undefined): void {
    const space = this.space();
    for (const listener of this.#listeners) listener(space, sealed);
  }

  #schedulePoll(): void {
    if (this.#isClosed || this.#failure !== undefined) return;
    this.#cancelPoll = this.#options.clock.after(this.#options.pollMs ?? 1_000, () => {
      void this.#catchUp().then(() => this.#schedulePoll());
    });
  }
}
