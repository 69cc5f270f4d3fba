/**
 * The coordinator's shell: feeds the step, carries out its effects, owns no decision.
 *
 * Messages that arrive in one turn of the event loop are told first and sealed together, so a lone proposal is sealed at
 * once and a crowd shares one append.
 */
import { hasSpills, OplusError, SPACE_PATTERN } from '@oplus/core';
import type { Sealed, Space, Spilled, StateSchema } from '@oplus/core';
import { encodeAnnouncement, isPassing } from '@oplus/protocol';
import type { Blobs, Bus, ChannelServer, Clock, Log, Replica, StoredRecord } from '@oplus/protocol';
import type { Barrier } from './barrier.ts';
import { recover } from './recover.ts';
import type { CoordinatorState, Effect, Input, Step } from './state.ts';
import type { Recovered } from './step.ts';
import { step, takeLead } from './step.ts';

export type CoordinatorOptions = {
  readonly log: Log;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly channel: string;
  /** The spaces of this shard with their schemas. */
  readonly schemas: ReadonlyMap<string, StateSchema>;
  /** Where the artefacts of fields that spill are stored, before the record that refers to them is appended. */
  readonly blobs?: Blobs;
  /** Genesis nonces by space, at most 64 characters; empty without one, which makes logs reproducible. */
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
  /**
   * Stops taking messages, seals and answers those it has taken, ends; gives up on what the log does not acknowledge. Idempotent:
   * every call resolves when it has ended. Does not close log and bus.
   */
  close(): Promise<void>;
}

/**
 * Folds the log, takes the lead and serves. Resolves when the term is in the log and every space is born. Throws
 * `LOG_DAMAGED`, `LOG_DIVERGED`, `SCHEMA_INVALID` when the log was begun with another definition, `FENCED` when another one
 * took over meanwhile, `USAGE` for a name or nonce that cannot be, or what the log and the bus throw.
 */
export async function openCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  assertUsable(options);
  const recovered = await recover(options.log, options.schemas);
  return new RunningCoordinator(options, recovered).open();
}

/** How long to wait before the tail is asked for again, when the log does not answer. */
const RETRY_MS = 200;

const NONCE_CHARS_MAX = 64;

type Listener = (space: Space, sealed: Sealed | undefined) => void;

class RunningCoordinator implements Coordinator {
  readonly ended: Promise<OplusError | undefined>;
  readonly #options: CoordinatorOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  #first: Step | undefined;
  #state: CoordinatorState;
  #server: ChannelServer | undefined;
  #isTurnDue = false;
  #closing: Promise<void> | undefined;
  #failure: OplusError | undefined;
  #cancelRetry: () => void = () => undefined;
  #cancelTick: () => void = () => undefined;
  /** How long ticks have waited together, in milliseconds: so much time has passed, whatever the wall clock did. */
  #waitedMs = 0;
  #opened: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #settleEnded: (error: OplusError | undefined) => void = () => undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: CoordinatorOptions, recovered: Recovered) {
    this.#options = options;
    const first = takeLead(recovered, { nonces: options.nonces ?? new Map(), barrier: options.barrier });
    this.#first = first;
    this.#state = first.state;
    this.ended = new Promise((resolve) => {
      this.#settleEnded = resolve;
    });
  }

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
    for (const effect of this.#first?.effects ?? []) this.#carryOut(effect);
    this.#first = undefined;
    try {
      await opened;
    } catch (error) {
      await this.#server.close();
      throw error;
    }
    return this;
  }

  replica(name: string): Replica {
    if (!this.#state.shard.spaces.has(name)) {
      throw new OplusError('USAGE', `no space is called ${name} here`, {
        hint: `This shard holds ${[...this.#state.shard.spaces.keys()].join(', ')}.`,
      });
    }
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    const own = new Set<Listener>();
    return {
      space: () => this.#state.shard.spaces.get(name) as Space,
      onChange: (listener) => {
        // A wrapper of its own, so that the same function may listen twice and end once.
        const call: Listener = (space, sealed) => listener(space, sealed);
        listeners.add(call);
        own.add(call);
        return () => {
          listeners.delete(call);
          own.delete(call);
        };
      },
      // Once another one leads, this replica has failed.
      onTerm: () => () => undefined,
      poke: () => undefined,
      failure: () => this.#failure,
      close: async () => {
        for (const call of own) listeners.delete(call);
      },
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#tell({ kind: 'turn' });
    if (this.#state.inFlight !== undefined && this.#state.phase !== 'ended') {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#fail(new OplusError('TRANSPORT_CLOSED', 'the coordinator was closed'));
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
    if (this.#closing !== undefined && (input.kind === 'message' || input.kind === 'turn' || input.kind === 'tick')) return;
    try {
      const { state, effects } = step(this.#state, input);
      this.#state = state;
      for (const effect of effects) this.#carryOut(effect);
    } catch (cause) {
      // The step is total and a message of ours can be sent: this is a mistake of ours, or of a field kind.
      const error = new OplusError('INVARIANT', `the coordinator failed on the input "${input.kind}"`, { cause });
      this.#state = step(this.#state, { kind: 'failed', error }).state;
      this.#end(error);
    }
    if (this.#state.inFlight === undefined) this.#onIdle?.();
    if (this.#opened !== undefined && this.#isBorn()) {
      this.#opened.resolve();
      this.#opened = undefined;
    }
  }

  #carryOut(effect: Effect): void {
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
        for (const sealed of effect.sealed) this.#notify(sealed.space, sealed);
        break;
      case 'leading':
        break;
      case 'wake':
        this.#cancelTick = this.#options.clock.after(effect.delayMs, () => {
          this.#waitedMs += effect.delayMs;
          this.#tell({ kind: 'tick', at: this.#waitedMs });
        });
        break;
      case 'ended':
        this.#end(effect.error);
        break;
    }
  }

  #end(error: OplusError): void {
    this.#fail(error);
    this.#server?.close().catch(() => undefined);
    this.#opened?.reject(error);
    this.#opened = undefined;
    this.#settleEnded(error);
  }

  /** From now on the replicas do not move, and say so. */
  #fail(error: OplusError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#cancelRetry();
    this.#cancelTick();
    for (const [name] of this.#listeners) this.#notify(this.#state.shard.spaces.get(name) as Space, undefined);
  }

  #notify(space: Space, sealed: Sealed | undefined): void {
    for (const listener of this.#listeners.get(space.name) ?? []) {
      try {
        listener(space, sealed);
      } catch (error) {
        // A mistake of whoever listens: it must not cost others their verdicts, nor go unnoticed.
        setImmediate(() => {
          throw error;
        });
      }
    }
  }

  #isBorn(): boolean {
    return this.#state.phase === 'leading' && [...this.#state.shard.spaces.values()].every((space) => space.revision >= 0);
  }

  #append(tail: number, body: string): void {
    const spilled = this.#state.inFlight?.sealed.flatMap((sealed) => sealed.spilled) ?? [];
    const appended =
      spilled.length === 0
        ? this.#options.log.append(tail, body)
        : this.#store(spilled).then(() => this.#options.log.append(tail, body));
    appended.then(
      (outcome) => (outcome.kind === 'unknown' ? this.#doubt() : this.#tell(outcome)),
      // Whoever could not even ask does not know either: the record may be there.
      (error: unknown) => (isPassing(error) ? this.#doubt() : this.#tell({ kind: 'failed', error: ofLog(error) })),
    );
  }

  /** Nobody may find a digest in the state whose artefact is not there. Storing the same bytes again does nothing. */
  async #store(spilled: readonly Spilled[]): Promise<void> {
    const encoder = new TextEncoder();
    await Promise.all(spilled.map(async ({ text }) => this.#options.blobs?.put(encoder.encode(text))));
  }

  /** Settled by reading, for which there is no time left while closing: the workers ask whoever leads next. */
  #doubt(): void {
    const error = new OplusError('TRANSPORT_TIMEOUT', 'the log did not say what became of the last append', {
      hint: 'Whoever leads next finds out.',
    });
    this.#tell(this.#closing === undefined ? { kind: 'unknown' } : { kind: 'failed', error });
  }

  #readTail(from: number): void {
    this.#collect(from).then(
      (records) => this.#tell({ kind: 'tail', records }),
      (error: unknown) => {
        if (!isPassing(error) || this.#closing !== undefined) this.#tell({ kind: 'failed', error: ofLog(error) });
        else this.#cancelRetry = this.#options.clock.after(RETRY_MS, () => this.#readTail(from));
      },
    );
  }

  async #collect(from: number): Promise<readonly StoredRecord[]> {
    const records: StoredRecord[] = [];
    for await (const record of this.#options.log.read(from)) records.push(record);
    return records;
  }
}

function ofLog(error: unknown): OplusError {
  return error instanceof OplusError ? error : new OplusError('INVARIANT', 'the log threw a foreign error', { cause: error });
}

function assertUsable({ schemas, nonces, blobs }: CoordinatorOptions): void {
  for (const [name, schema] of schemas) {
    if (blobs === undefined && hasSpills(schema))
      throw new OplusError('USAGE', `a field of ${name} spills, and there is nowhere to store artefacts`, {
        hint: "Give blobs, or use overflow: 'keep-last'.",
      });
  }
  for (const name of schemas.keys()) {
    if (!SPACE_PATTERN.test(name)) {
      throw new OplusError('USAGE', `${JSON.stringify(name)} cannot be the name of a space`, {
        hint: 'Use a-z, 0-9 and -, beginning with a letter or digit, at most 64.',
      });
    }
  }
  for (const [name, nonce] of nonces ?? []) {
    if (nonce.length > NONCE_CHARS_MAX)
      throw new OplusError('USAGE', `the nonce of ${name} has more than ${NONCE_CHARS_MAX} characters`);
  }
}
