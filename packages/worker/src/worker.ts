/**
 * The worker's shell: one session in one space.
 */
import { AGENT_PATTERN, OplusError, project, withoutEchoes } from '@oplus/core';
import type { Projection, Proposal, Reader, Space } from '@oplus/core';
import { encodeMessage, PROTOCOL_VERSION } from '@oplus/protocol';
import type { Attachment, Bus, Clock, Replica } from '@oplus/protocol';
import type { Effect, Input, Step, WorkerState } from './state.ts';
import { greet, step } from './step.ts';
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
};

/**
 * Says hello and waits for its identity, however long it takes. Throws `USAGE` or `PROTOCOL_VERSION` when it is refused.
 * A live session under the same name is fenced.
 */
export async function join(options: JoinOptions): Promise<Worker> {
  if (!AGENT_PATTERN.test(options.agent)) {
    throw new OplusError('USAGE', `${options.agent} cannot be the name of an agent`, { hint: 'Use a-z, 0-9 and -, beginning with a letter, at most 32.' });
  }
  const session = new Session(options);
  await session.open();
  return session;
}

type Ask<T> = { readonly resolve: (value: T) => void; readonly reject: (error: Error) => void };

class Session implements Worker {
  readonly agent: string;
  readonly role: string;
  readonly #options: JoinOptions;
  #state: WorkerState;
  #attachment: Attachment | undefined;
  #cancelWake: () => void = () => undefined;
  #joining: Ask<void> | undefined;
  #asking: Ask<Answer> | undefined;
  #leaving: Ask<void> | undefined;
  #ending: Error | undefined;
  /** Proposals wait for each other here. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: JoinOptions) {
    this.agent = options.agent;
    this.role = options.role;
    this.#options = options;
    this.#state = this.#greeting().state;
  }

  async open(): Promise<void> {
    const { bus, channel, agent } = this.#options;
    this.#attachment = await bus.attach(channel, agent, (body) => this.#tell({ kind: 'message', body }));
    const welcomed = new Promise<void>((resolve, reject) => {
      this.#joining = { resolve, reject };
    });
    this.#take(this.#greeting());
    await welcomed;
  }

  async view(): Promise<View> {
    return this.#viewOf(await this.#spaceAt((space) => space.revision >= this.#state.revision));
  }

  newest(): View {
    return this.#viewOf(this.#options.replica.space());
  }

  async viewAfter(view: View): Promise<View> {
    const past = Math.max(view.space.revision + 1, this.#state.revision);
    return this.#viewOf(await this.#spaceAt((space) => space.revision >= past));
  }

  async leave(): Promise<void> {
    if (this.#state.phase === 'ended') return;
    await this.#turn.catch(() => undefined);
    const left = new Promise<void>((resolve, reject) => {
      this.#leaving = { resolve, reject };
    });
    this.#tell({ kind: 'leave' });
    await left;
    await this.close();
  }

  async close(): Promise<void> {
    this.#cancelWake();
    this.#end(new OplusError('TRANSPORT_CLOSED', `${this.agent} has closed its session`));
    await this.#attachment?.close();
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
      propose: (draft) => this.#propose(space, draft),
      pass: async () => {
        const { identity } = this.#state;
        if (identity === undefined || this.#ending !== undefined) return;
        this.#attachment?.send(
          encodeMessage({
            kind: 'pass',
            v: PROTOCOL_VERSION,
            space: space.name,
            agent: this.agent,
            incarnation: identity.incarnation,
            revision: space.revision,
          }),
        );
      },
    };
  }

  #propose(space: Space, draft: Draft): Promise<Answer> {
    const answer = this.#turn.then(() => {
      if (this.#ending !== undefined) throw this.#ending;
      return new Promise<Answer>((resolve, reject) => {
        this.#asking = { resolve, reject };
        this.#tell({ kind: 'propose', proposal: this.#proposalOf(space, draft) });
      });
    });
    this.#turn = answer.catch(() => undefined);
    return answer;
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

  #spaceAt(isEnough: (space: Space) => boolean): Promise<Space> {
    const { replica, clock } = this.#options;
    const now = replica.space();
    if (isEnough(now)) return Promise.resolve(now);
    return new Promise<Space>((resolve, reject) => {
      const stop = (): void => {
        end();
        cancel();
      };
      const look = (): void => {
        const failure = replica.failure() ?? this.#ending;
        if (failure !== undefined) {
          stop();
          reject(failure);
        } else if (isEnough(replica.space())) {
          stop();
          resolve(replica.space());
        }
      };
      const end = replica.onChange(look);
      let cancel: () => void = () => undefined;
      const poke = (): void => {
        replica.poke();
        look();
        cancel = clock.after(POKE_MS, poke);
      };
      cancel = clock.after(POKE_MS, poke);
      look();
    });
  }

  #tell(input: Input): void {
    this.#take(step(this.#state, input));
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
        this.#cancelWake = this.#options.clock.after(effect.delayMs, () => this.#tell({ kind: 'timer' }));
        break;
      case 'joined':
        this.#cancelWake();
        this.#joining?.resolve();
        break;
      case 'answered':
        this.#cancelWake();
        this.#asking?.resolve(effect.answer);
        this.#asking = undefined;
        break;
      case 'ended':
        this.#cancelWake();
        this.#leaving?.resolve();
        this.#end(effect.error ?? new OplusError('TRANSPORT_CLOSED', `${this.agent} has left`));
        break;
    }
  }

  #end(error: Error): void {
    this.#ending ??= error;
    this.#joining?.reject(this.#ending);
    this.#asking?.reject(this.#ending);
    this.#asking = undefined;
  }
}

/** How long a view may be missing before the log is looked at. */
const POKE_MS = 100;
