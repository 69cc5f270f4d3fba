/**
 * A coordinator's step over an honest log, without a shell: tests tell it inputs and look at what must happen.
 */
import { counter, emptyShard, loadState, map, quota } from '@oplus/core';
import type { JsonObject, Space, StateSchema } from '@oplus/core';
import { assertAddress, assertLogBody, assertMessage, encodeMessage, foldLogRecord, readDownward, sha256 } from '@oplus/protocol';
import type { Downward } from '@oplus/protocol';
import type { Barrier } from '../barrier.ts';
import type { CoordinatorState, Effect, Input } from '../state.ts';
import { step, takeLead } from '../step.ts';

export const SPACE = 'board';

export const SCHEMA: StateSchema = loadState(
  {
    name: 'board',
    version: 1,
    roles: { agent: { priority: 0 }, boss: { priority: 1 } },
    agentsMax: 1024,
    fields: { done: counter(), by: map(counter(), { cap: 1024 }), budget: quota({ lo: 0, hi: 10, start: 0 }) },
  },
  sha256,
);

export type DeskOptions = {
  readonly spaces?: readonly string[];
  readonly schema?: StateSchema;
  readonly barrier?: Barrier;
  readonly log?: string[];
};

/** `effects` are those that nobody has carried out yet: appends and reads. All others are taken down at once. */
export class Desk {
  readonly log: string[];
  readonly sent: { readonly to: string; readonly message: Downward }[] = [];
  readonly announced: number[] = [];
  /** When the tick is due that was asked for. */
  tickAtMs: number | undefined;
  readonly spaces: readonly string[];
  readonly schema: StateSchema;
  state: CoordinatorState;
  asked: Extract<Effect, { kind: 'append' | 'readTail' }> | undefined;
  ended: Extract<Effect, { kind: 'ended' }>['error'] | undefined;
  nowMs = 0;

  constructor({ spaces = [SPACE], schema = SCHEMA, barrier, log = [] }: DeskOptions = {}) {
    this.log = log;
    this.spaces = spaces;
    this.schema = schema;
    let shard = emptyShard(new Map(spaces.map((name) => [name, schema])));
    for (const [i, body] of log.entries()) shard = foldLogRecord(shard, { index: i + 1, body }).shard;
    const { state, effects } = takeLead({ shard, recent: new Map() }, { nonces: new Map(), barrier });
    this.state = state;
    this.#takeDown(effects);
  }

  /** Leads, and every space is born. */
  static leading(options: DeskOptions = {}): Desk {
    const desk = new Desk(options);
    desk.rest();
    return desk;
  }

  get space(): Space {
    return this.state.shard.spaces.get(this.spaces[0] as string) as Space;
  }

  /** Tells one input; gives the messages that went out. */
  tell(input: Input): readonly Downward[] {
    const before = this.sent.length;
    const { state, effects } = step(this.state, input);
    this.state = state;
    this.#takeDown(effects);
    return this.sent.slice(before).map(({ message }) => message);
  }

  hear(from: string, body: string): readonly Downward[] {
    return this.tell({ kind: 'message', from, body });
  }

  turn(): readonly Downward[] {
    return this.tell({ kind: 'turn' });
  }

  /** Lets so much time pass, with the ticks that were asked for; everything is sealed and answered after each. */
  pass(ms: number): readonly Downward[] {
    const before = this.sent.length;
    const untilMs = this.nowMs + ms;
    while (this.tickAtMs !== undefined && this.tickAtMs <= untilMs) {
      this.tick();
      this.rest();
    }
    this.nowMs = untilMs;
    return this.sent.slice(before).map(({ message }) => message);
  }

  /** The tick that was asked for, at its time. */
  tick(): readonly Downward[] {
    this.nowMs = this.tickAtMs as number;
    this.tickAtMs = undefined;
    return this.tell({ kind: 'tick', at: this.nowMs });
  }

  /** The log answers what it was asked, honestly. */
  answer(): readonly Downward[] {
    const { asked } = this;
    if (asked === undefined) throw new Error('nothing was asked of the log');
    this.asked = undefined;
    if (asked.kind === 'readTail') {
      return this.tell({
        kind: 'tail',
        records: this.log.slice(asked.from - 1).map((body, i) => ({ index: asked.from + i, body })),
      });
    }
    if (asked.tail !== this.log.length) return this.tell({ kind: 'conflict', tail: this.log.length });
    return this.tell({ kind: 'appended', index: this.log.push(asked.body) });
  }

  /** The answer of the log is lost. */
  lose(isStored: boolean): readonly Downward[] {
    const { asked } = this;
    this.asked = undefined;
    if (isStored && asked?.kind === 'append' && asked.tail === this.log.length) this.log.push(asked.body);
    return this.tell({ kind: 'unknown' });
  }

  /** Everything that was said is sealed, appended and answered. */
  rest(): readonly Downward[] {
    const before = this.sent.length;
    this.turn();
    while (this.asked !== undefined) this.answer();
    return this.sent.slice(before).map(({ message }) => message);
  }

  /** Lets an agent join and gives its proposals. */
  join(agent: string, session: string = `${agent}-1`, after = 0): Hand {
    this.hear(agent, hello(agent, session, { after, schema: this.schema.id, space: this.spaces[0] as string }));
    this.rest();
    return new Hand(this, agent, after + 1);
  }

  #takeDown(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'append':
        case 'readTail':
          if (effect.kind === 'append') assertLogBody(effect.body);
          if (this.asked !== undefined) throw new Error('two things are asked of the log at once');
          this.asked = effect;
          break;
        case 'send':
          assertAddress('sender', effect.to);
          assertMessage(effect.body);
          this.sent.push({ to: effect.to, message: readDownward(effect.body) });
          break;
        case 'announce':
          this.announced.push(effect.index);
          break;
        case 'ended':
          this.ended = effect.error;
          break;
        case 'wake':
          if (this.tickAtMs !== undefined) throw new Error('two ticks are asked for at once');
          this.tickAtMs = this.nowMs + effect.delayMs;
          break;
        case 'committed':
        case 'leading':
          break;
      }
    }
  }
}

/** One agent's pen: writes proposals on the newest state. */
export class Hand {
  readonly agent: string;
  readonly incarnation: number;
  readonly #desk: Desk;

  constructor(desk: Desk, agent: string, incarnation: number) {
    this.#desk = desk;
    this.agent = agent;
    this.incarnation = incarnation;
  }

  /** Text of the n-th proposal; other members replace those of the envelope. */
  write(n: number, patch: JsonObject = { done: { inc: 1 } }, other: JsonObject = {}): string {
    const { space } = this.#desk;
    return proposal({
      space: space.name,
      agent: this.agent,
      incarnation: this.incarnation,
      n,
      schema: space.schema.id,
      base: { revision: space.revision, digest: space.head.slice(0, 16) },
      patch,
      ...other,
    });
  }

  /** Sends the n-th proposal. */
  propose(n: number, patch?: JsonObject, other?: JsonObject): readonly Downward[] {
    return this.#desk.hear(this.agent, this.write(n, patch, other));
  }
}

export function proposal(members: JsonObject): string {
  return encodeMessage({ kind: 'proposal', v: 1, ...members } as never);
}

export function hello(agent: string, session: string, other: JsonObject = {}): string {
  return encodeMessage({
    kind: 'hello',
    v: 1,
    space: SPACE,
    agent,
    role: 'agent',
    session,
    schema: SCHEMA.id,
    after: 0,
    ...other,
  });
}

export function leave(agent: string, incarnation: number): string {
  return encodeMessage({ kind: 'leave', v: 1, space: SPACE, agent, incarnation });
}

export function pass(agent: string, incarnation: number, revision: number): string {
  return encodeMessage({ kind: 'pass', v: 1, space: SPACE, agent, incarnation, revision });
}
