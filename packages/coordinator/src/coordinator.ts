/**
 * The coordinator's shell: feeds the step, carries out its effects, owns no decision.
 *
 * Messages that arrive in one turn of the event loop are told first and sealed together, so a lone proposal is sealed at
 * once and a crowd shares one append.
 */
import { emptyShard, foldRecord, OplusError } from '@oplus/core';
import type { Sealed, Shard, Space, StateSchema } from '@oplus/core';
import { encodeAnnouncement } from '@oplus/protocol';
import type { Bus, ChannelServer, Clock, Log, Replica, StoredRecord } from '@oplus/protocol';
import type { CoordinatorState, Effect, Input, Step } from './state.ts';
import { step, takeLead } from './step.ts';
import type { Barrier } from './waiting.ts';

export type CoordinatorOptions = {
  readonly log: Log;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly channel: string;
  /** The spaces of this shard with their schemas. */
  readonly schemas: ReadonlyMap<string, StateSchema>;
  /** Genesis nonces by space; without one a space gets its own name, which makes logs reproducible. */
  readonly nonces?: ReadonlyMap<string, string>;
  /** Holds rounds until everybody has spoken: for experiments. */
  readonly barrier?: Barrier;
};

/** A running coordinator. */
export interface Coordinator {
  readonly term: number;
  /** The state of a space as far as it is in the log. Throws `USAGE` for a space that it does not lead. */
  replica(space: string): Replica;
  /** Resolves when it stops for any reason; with the reason when it was not `close`. */
  readonly ended: Promise<OplusError | undefined>;
  /** Stops taking messages, waits for the append in flight, answers it, ends. Idempotent. Does not close log and bus. */
  close(): Promise<void>;
}

/**
 * Folds the log, takes the lead and serves. Resolves when the term is in the log and every space is born. Throws
 * `LOG_DAMAGED`, `LOG_DIVERGED` or what the log and the bus throw.
 */
export async function openCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const shard = await recover(options.log, options.schemas);
  return new RunningCoordinator(options, shard).open();
}

/** Folds a whole log. */
export async function recover(log: Pick<Log, 'read'>, schemas: ReadonlyMap<string, StateSchema>): Promise<Shard> {
  let shard = emptyShard(schemas);
  for await (const { index, body } of log.read(1)) shard = foldRecord(shard, index, body).shard;
  return shard;
}

/** How long to wait before the tail is asked for again, when the log does not answer. */
const RETRY_MS = 200;

class RunningCoordinator implements Coordinator {
  readonly ended: Promise<OplusError | undefined>;
  readonly #options: CoordinatorOptions;
  readonly #listeners = new Map<string, Set<(space: Space, sealed: Sealed | undefined) => void>>();
  #state: CoordinatorState;
  #server: ChannelServer | undefined;
  #isTurnDue = false;
  #isClosing = false;
  #opened: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #settleEnded: (error: OplusError | undefined) => void = () => undefined;
  #idle: (() => void) | undefined;

  constructor(options: CoordinatorOptions, shard: Shard) {
    this.#options = options;
    const first = takeLead(shard, { nonces: options.nonces ?? new Map(), barrier: options.barrier });
    this.#state = first.state;
    this.ended = new Promise((resolve) => {
      this.#settleEnded = resolve;
    });
    this.#first = first;
  }

  #first: Step | undefined;

  get term(): number {
    return this.#state.term;
  }

  async open(): Promise<Coordinator> {
    this.#server = await this.#options.bus.serve(this.#options.channel, (from, body) => {
      this.#tell({ kind: 'message', from, body });
      this.#scheduleTurn();
    });
    const opened = new Promise<void>((resolve, reject) => {
      this.#opened = { resolve, reject };
    });
    const first = this.#first as Step;
    this.#first = undefined;
    this.#carryOut(first.effects);
    await opened;
    return this;
  }

  replica(name: string): Replica {
    if (!this.#state.shard.spaces.has(name)) {
      throw new OplusError('USAGE', `no space is called ${name} here`, { hint: `This shard holds ${[...this.#state.shard.spaces.keys()].join(', ')}.` });
    }
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    return {
      space: () => this.#state.shard.spaces.get(name) as Space,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      poke: () => undefined,
      failure: () => undefined,
      close: async () => undefined,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (this.#state.inFlight !== undefined && this.#state.phase !== 'ended') {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    await this.#server?.close();
    this.#settleEnded(undefined);
  }

  #scheduleTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      this.#tell({ kind: 'turn' });
    });
  }

  #tell(input: Input): void {
    if (this.#isClosing && (input.kind === 'message' || input.kind === 'turn')) return;
    const { state, effects } = step(this.#state, input);
    this.#state = state;
    this.#carryOut(effects);
    if (state.inFlight === undefined || state.phase === 'ended') this.#idle?.();
  }

  #carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'send':
          this.#server?.send(effect.to, effect.body);
          break;
        case 'announce':
          this.#server?.announce(encodeAnnouncement(effect.index, effect.body));
          break;
        case 'append':
          this.#append(effect.tail, effect.body);
          break;
        case 'readTail':
          this.#readTail(effect.from);
          break;
        case 'committed':
          for (const sealed of effect.sealed) for (const listener of this.#listeners.get(sealed.space.name) ?? []) listener(sealed.space, sealed);
          break;
        case 'leading':
          break;
        case 'ended':
          void this.#server?.close();
          this.#opened?.reject(effect.error);
          this.#settleEnded(effect.error);
          break;
      }
    }
    if (this.#isBorn()) this.#opened?.resolve();
  }

  #isBorn(): boolean {
    return this.#opened !== undefined && this.#state.phase === 'leading' && [...this.#state.shard.spaces.values()].every((space) => space.revision >= 0);
  }

  #append(tail: number, body: string): void {
    if (this.#isClosing && this.#state.inFlight === undefined) return;
    this.#options.log.append(tail, body).then(
      (outcome) => this.#tell({ kind: outcome.kind }),
      (error: unknown) => this.#tell({ kind: 'failed', error: error instanceof OplusError ? error : new OplusError('INVARIANT', 'the log threw a foreign error', { cause: error }) }),
    );
  }

  #readTail(from: number): void {
    this.#collect(from).then(
      (records) => this.#tell({ kind: 'tail', records }),
      (error: unknown) => {
        const isLost = error instanceof OplusError && error.code !== 'TRANSPORT_TIMEOUT' && error.code !== 'BROKER_UNREACHABLE';
        if (isLost || this.#isClosing) {
          this.#tell({ kind: 'failed', error: error as OplusError });
        } else this.#options.clock.after(RETRY_MS, () => this.#readTail(from));
      },
    );
  }

  async #collect(from: number): Promise<readonly StoredRecord[]> {
    const records: StoredRecord[] = [];
    for await (const record of this.#options.log.read(from)) records.push(record);
    return records;
  }
}
