/**
 * The worker's shell: one session in one space.
 */
import { AGENT_PATTERN, OplusError, project, trieAt, withoutEchoes } from '@oplus/core';
import type { Projection, Proposal, Reader, Space } from '@oplus/core';
import { ADDRESS_PATTERN } from '@oplus/protocol';
import type { Attachment, Bus, Clock, Replica } from '@oplus/protocol';
import type { Effect, Input, Step, WorkerState } from './state.ts';
import { fenced, greet, step } from './step.ts';
import type { Answer, Draft, View, Worker } from './view.ts';

export type JoinOptions = {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly channel: string;
  /** The space as this process knows it: followed from the log, or a coordinator's own. */
  readonly replica: Replica;
  readonly agent: string;
  readonly role: string;
  /** A token of 1 to 64 of `a-z 0-9 _ -` that no other session has ever used. */
  readonly session: string;
  /** Gives up waiting for the welcome when it fires; later it does nothing. */
  readonly signal?: AbortSignal;
};

/**
 * Says hello and waits for its identity, however long it takes. A live session under the same name is fenced. Throws `USAGE`
 * (a name, role or session that cannot be, an unknown space, no room), `SCHEMA_INVALID` (the space has another definition),
 * `PROTOCOL_VERSION`, why the replica failed, what the bus throws, or the reason of the signal.
 */
export async function join(options: JoinOptions): Promise<Worker> {
  const { agent, session, signal } = options;
  if (!AGENT_PATTERN.test(agent)) {
    throw new OplusError('USAGE', `${JSON.stringify(agent)} cannot be the name of an agent`, {
      hint: 'Use a-z, 0-9 and -, beginning with a letter, at most 32.',
    });
  }
  if (!ADDRESS_PATTERN.test(session)) {
    throw new OplusError('USAGE', `${JSON.stringify(session)} cannot be the token of a session`, {
      hint: 'Use a-z, 0-9, _ and -, at most 64.',
    });
  }
  signal?.throwIfAborted();
  const joining = new Session(options);
  const abort = (): void => joining.end(signal?.reason as Error);
  signal?.addEventListener('abort', abort);
  try {
    await joining.open();
  } catch (error) {
    await joining.close();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  return joining;
}

type Ask<T> = { readonly resolve: (value: T) => void; readonly reject: (error: Error) => void };

class Session implements Worker {
  readonly agent: string;
  readonly role: string;
  readonly #options: JoinOptions;
  #state: WorkerState;
  #attachment: Attachment | undefined;
  #cancelWake: () => void = () => undefined;
  #unlistenTerm: () => void = () => undefined;
  /** The one who waits for the session: to be joined, or to be over. */
  #waiting: Ask<void> | undefined;
  #asking: Ask<Answer> | undefined;
  #ending: Error | undefined;
  /** The incarnation that held the name when this session began: a later one of another session is not one to take over from. */
  #incarnationBefore = 0;
  /** Those who wait for a view; called when the session ends. */
  readonly #lookers = new Set<() => void>();
  /** Proposals, passes and the leave wait for each other here. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: JoinOptions) {
    this.agent = options.agent;
    this.role = options.role;
    this.#options = options;
    this.#state = this.#greeting().state;
  }

  async open(): Promise<void> {
    const { bus, channel, agent, replica } = this.#options;
    this.#incarnationBefore = trieAt(replica.space().agents, agent)?.incarnation ?? 0;
    this.#attachment = await bus.attach(channel, agent, (body) => this.#tell({ kind: 'message', body }));
    if (this.#ending !== undefined) throw this.#ending;
    this.#unlistenTerm = this.#options.replica.onTerm(() => this.#tell({ kind: 'term' }));
    await new Promise<void>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#take(this.#greeting());
    });
  }

  view(): Promise<View> {
    return this.#viewAt(this.#state.revision);
  }

  newest(): View {
    return this.#viewOf(this.#options.replica.space());
  }

  viewAfter(view: View): Promise<View> {
    return this.#viewAt(Math.max(view.space.revision + 1, this.#state.revision));
  }

  async leave(): Promise<void> {
    try {
      await this.#inTurn(async () => {
        if (this.#ending !== undefined || this.#fencing() !== undefined) return;
        await new Promise<void>((resolve, reject) => {
          this.#waiting = { resolve, reject };
          this.#tell({ kind: 'leave' });
        });
      });
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.end(new OplusError('TRANSPORT_CLOSED', `${this.agent} has closed its session`));
    await this.#attachment?.close();
  }

  /** Ends the session for this reason, unless it has ended: whoever waits for it is told, no timer is left. */
  end(error: Error): void {
    if (this.#ending !== undefined) return;
    this.#ending = error;
    this.#cancelWake();
    this.#unlistenTerm();
    this.#waiting?.reject(error);
    this.#asking?.reject(error);
    this.#waiting = undefined;
    this.#asking = undefined;
    for (const look of this.#lookers) look();
    this.#attachment?.close().catch(() => undefined); // `close` reports what it throws.
  }

  #greeting(): Step {
    const { agent, role, session, replica } = this.#options;
    const { name, schema } = replica.space();
    return greet({ space: name, agent, role, session, schema: schema.id });
  }

  #viewOf(space: Space): View {
    return {
      space,
      project: (reader: Omit<Reader, 'agent' | 'role'>, charsMax: number, projection?: Projection) =>
        project(space, { ...reader, agent: this.agent, role: this.role }, charsMax, projection),
      propose: (draft) => this.#ask('propose', space, draft),
      rehearse: (draft) => this.#ask('rehearse', space, draft),
      pass: () =>
        this.#inTurn(async () => {
          if (this.#ending === undefined) this.#tell({ kind: 'pass', revision: space.revision });
        }),
    };
  }

  #ask(kind: 'propose' | 'rehearse', space: Space, draft: Draft): Promise<Answer> {
    return this.#inTurn(() => {
      const over = this.#ending ?? this.#fencing();
      if (over !== undefined) {
        this.end(over);
        throw over;
      }
      return new Promise<Answer>((resolve, reject) => {
        this.#asking = { resolve, reject };
        try {
          this.#tell({ kind, proposal: this.#proposalOf(space, draft) });
        } catch (cause) {
          this.#asking = undefined;
          throw new OplusError('USAGE', 'the draft cannot be said in JSON', {
            hint: 'No undefined, no numbers that are not finite, no deep nesting.',
            cause,
          });
        }
      });
    });
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(run);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #proposalOf(space: Space, draft: Draft): Omit<Proposal, 'n' | 'incarnation'> {
    const { action, premises, why } = draft;
    const lean = withoutEchoes(space, draft.patch);
    // A patch that is nothing but echoes goes out as it is: without an action an empty one would have nothing to decide.
    const patch = Object.keys(lean).length === 0 && action === undefined && premises === undefined ? draft.patch : lean;
    return {
      kind: 'proposal',
      v: 1,
      space: space.name,
      agent: this.agent,
      schema: space.schema.id,
      base: { revision: space.revision, digest: space.head.slice(0, 16) },
      patch,
      ...(action === undefined ? {} : { action }),
      ...(premises === undefined ? {} : { premises }),
      ...(why === undefined ? {} : { why }),
    };
  }

  /** The first view of at least that revision. */
  async #viewAt(least: number): Promise<View> {
    const { replica, clock } = this.#options;
    const failure = this.#ending ?? replica.failure();
    if (failure !== undefined) throw failure;
    const now = replica.space();
    if (now.revision >= least) return this.#viewOf(now);
    let cancelPoke: () => void = () => undefined;
    let unlisten: () => void = () => undefined;
    let look: () => void = () => undefined;
    try {
      return await new Promise<View>((resolve, reject) => {
        look = () => {
          const lost = this.#ending ?? replica.failure();
          const space = replica.space();
          if (lost !== undefined) reject(lost);
          else if (space.revision >= least) resolve(this.#viewOf(space));
        };
        const poke = (): void => {
          cancelPoke = clock.after(POKE_MS, poke);
          replica.poke();
        };
        cancelPoke = clock.after(POKE_MS, poke);
        unlisten = replica.onChange(look);
        this.#lookers.add(look);
      });
    } finally {
      cancelPoke();
      unlisten();
      this.#lookers.delete(look);
    }
  }

  #tell(input: Input): void {
    if (this.#ending === undefined) this.#take(step(this.#state, input));
  }

  #take({ state, effects }: Step): void {
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'send':
        this.#attachment?.send(effect.body);
        break;
      case 'wake':
        this.#cancelWake();
        this.#cancelWake = this.#options.clock.after(effect.delayMs, () => this.#onTimer());
        break;
      case 'joined':
        this.#cancelWake();
        this.#waiting?.resolve();
        this.#waiting = undefined;
        break;
      case 'answered':
        this.#cancelWake();
        this.#asking?.resolve(effect.answer);
        this.#asking = undefined;
        break;
      case 'ended':
        if (effect.error === undefined) this.#waiting?.resolve();
        this.#waiting = effect.error === undefined ? undefined : this.#waiting;
        this.end(effect.error ?? new OplusError('TRANSPORT_CLOSED', `${this.agent} has left`));
        break;
    }
  }

  /** A replica that has failed cannot lead to a view again, so nobody waits for an answer either. */
  #onTimer(): void {
    const { replica } = this.#options;
    const failure = replica.failure() ?? this.#fencing();
    if (failure === undefined) this.#tell({ kind: 'timer', revision: replica.space().revision });
    else this.end(failure);
  }

  /**
   * Why this session is over, when the state says that a later one holds its name. A bus may let the newest of one name hear
   * alone, so an older session need not be told.
   */
  #fencing(): OplusError | undefined {
    const record = trieAt(this.#options.replica.space().agents, this.agent);
    if (record === undefined || record.session === this.#options.session) return undefined;
    return record.incarnation > (this.#state.identity?.incarnation ?? this.#incarnationBefore) ? fenced(this.#state) : undefined;
  }
}

/** How long a view may be missing before the log is looked at. */
const POKE_MS = 100;
