/**
 * A whole cluster as data: coordinators and workers (their pure steps), a log, a bus, and every way in which these can go wrong.
 *
 * Nothing runs by itself. `moves` lists what may happen next, each with a name; a schedule picks one after the other. What a
 * coordinator must do is done one effect at a time, so it can be killed between any two of them. Workers do what they must at once.
 */
import { counter, cas, loadState, map } from '@oplus/core';
import type { JsonObject, Shard, Space, StateSchema } from '@oplus/core';
import { step as coordinatorStep, takeLead } from '@oplus/coordinator';
import type { CoordinatorState, Effect, Input, Step } from '@oplus/coordinator';
import { sha256 } from '@oplus/protocol';
import { greet, step as workerStep } from '@oplus/worker';
import type { Effect as WorkerEffect, Input as WorkerInput, WorkerState } from '@oplus/worker';
import { z } from 'zod';
import { auditor, Violation } from './audit.ts';
import type { Auditor } from './audit.ts';

export type ClusterOptions = {
  readonly workerCount: number;
  /** How often each worker counts its own field up before it is done. */
  readonly incrementCount: number;
  /** False for a log that may store an append whatever its tail, as some clusters did. */
  readonly isLogConditional: boolean;
  /** The coordinators' step; another one to plant a fault. */
  readonly step?: typeof coordinatorStep;
};

/** Something that may happen next. Faults are what a schedule ends without. */
export type Move = { readonly name: string; readonly isFault: boolean; run(pick: number): void };

export const SPACE = 'team';

export const SCHEMA: StateSchema = loadState(
  { name: 'team', version: 1, fields: { count: map(counter(), { cap: 16 }), total: counter(), last: cas(z.string().max(16)) } },
  sha256,
);

/** Where an append is: asked for, or on its way for ever so long after it was given up. */
type Append = { readonly tail: number; readonly body: string; readonly writer: number };

type Coordinator = {
  readonly id: number;
  state: CoordinatorState;
  effects: readonly Effect[];
  append: Append | undefined;
  readFrom: number | undefined;
};

type Worker = {
  readonly agent: string;
  session: string;
  state: WorkerState;
  isTimerDue: boolean;
  hasLeft: boolean;
};

type Upward = { readonly from: string; readonly body: string };

const COORDINATORS_MAX = 2;
const POOL_MAX = 24;

export class Cluster {
  readonly auditor: Auditor;
  readonly #options: ClusterOptions;
  readonly #log: string[] = [];
  readonly #late: Append[] = [];
  readonly #coordinators: Coordinator[] = [];
  readonly #workers: Worker[] = [];
  readonly #up: Upward[] = [];
  readonly #down: { readonly to: string; readonly body: string }[] = [];
  readonly #births = new Map<string, number>();
  #coordinatorCount = 0;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.auditor = auditor(SPACE, SCHEMA, (session) => this.#births.get(session) ?? -1);
    this.#startCoordinator();
    for (let i = 0; i < options.workerCount; i += 1) this.#startWorker(`w${i}`);
  }

  /** True when every worker has counted its field up as often as it wanted to, knows it, and has left. */
  isDone(): boolean {
    return this.#workers.every((worker) => worker.hasLeft);
  }

  /** What the fields of the space hold: by worker, and in sum. */
  totals(): { readonly counts: readonly number[]; readonly total: number } {
    const space = this.auditor.space();
    const agents = [...new Set(this.#workers.map(({ agent }) => agent))].toSorted();
    return { counts: agents.map((agent) => this.#countOf(space, agent)), total: jsonOf(space, 'total') as number };
  }

  /** Everything that may happen now. Never empty. */
  moves(): readonly Move[] {
    const moves: Move[] = [];
    const add = (name: string, run: (pick: number) => void): void => void moves.push({ name, isFault: false, run });
    const fault = (name: string, run: (pick: number) => void): void => void moves.push({ name, isFault: true, run });
    if (this.#coordinators.length === 0) add('start', () => this.#startCoordinator());
    else if (this.#coordinators.length < COORDINATORS_MAX) fault('takeover', () => this.#startCoordinator());
    for (const one of this.#coordinators) this.#movesOf(one, add, fault);
    if (this.#up.length > 0) {
      add('up', () => this.#deliverUp(0, this.#coordinators));
      fault('up reordered', (pick) => this.#deliverUp(pick % this.#up.length, this.#coordinators));
      fault('up lost', (pick) => void this.#up.splice(pick % this.#up.length, 1));
      fault('up doubled', (pick) => this.#double(this.#up, pick));
      fault('up to one', (pick) => this.#deliverUp(pick % this.#up.length, this.#coordinators.slice(pick % 2, (pick % 2) + 1)));
    }
    if (this.#down.length > 0) {
      add('down', () => this.#deliverDown(0));
      fault('down reordered', (pick) => this.#deliverDown(pick % this.#down.length));
      fault('down lost', (pick) => void this.#down.splice(pick % this.#down.length, 1));
      fault('down doubled', (pick) => this.#double(this.#down, pick));
    }
    if (this.#late.length > 0) {
      add('late append stored', (pick) => this.#storeIfAllowed(this.#late.splice(pick % this.#late.length, 1)[0] as Append));
      fault('late append lost', (pick) => void this.#late.splice(pick % this.#late.length, 1));
    }
    for (const worker of this.#workers) {
      if (worker.state.phase === 'idle') {
        if (this.#countOf(this.auditor.space(), worker.agent) < this.#options.incrementCount)
          add(`${worker.agent} proposes`, (pick) => this.#propose(worker, pick));
        else add(`${worker.agent} leaves`, () => this.#tellWorker(worker, { kind: 'leave' }));
      }
      if (worker.isTimerDue)
        add(`${worker.agent} waits`, () => this.#tellWorker(worker, { kind: 'timer', revision: this.auditor.space().revision }));
      fault(`${worker.agent} dies`, () => {
        this.#endSessions((one) => one.agent === worker.agent);
        this.#startWorker(worker.agent);
      });
      if (worker.state.phase !== 'joining' && this.#sessionCountOf(worker.agent) === 1)
        fault(`${worker.agent} twins`, () => this.#startWorker(worker.agent));
    }
    return moves;
  }

  #movesOf(
    one: Coordinator,
    add: (name: string, run: (pick: number) => void) => void,
    fault: (name: string, run: (pick: number) => void) => void,
  ): void {
    const name = `c${one.id}`;
    const { append, readFrom } = one;
    if (one.effects.length > 0) add(`${name} ${(one.effects[0] as Effect).kind}`, () => this.#carryOut(one));
    if (append !== undefined) {
      add(`${name} answered`, () => this.#settle(one, append));
      fault(`${name} unknown, stored`, () => {
        this.#storeIfAllowed(append);
        this.#tell(one, { kind: 'unknown' }, 'append');
      });
      fault(`${name} unknown, lost`, () => this.#tell(one, { kind: 'unknown' }, 'append'));
      fault(`${name} unknown, late`, () => {
        this.#late.push(append);
        this.#tell(one, { kind: 'unknown' }, 'append');
      });
      if (!this.#options.isLogConditional) {
        fault(`${name} stored anyway`, () => {
          this.#store(append);
          this.#tell(one, { kind: 'appended', index: this.#log.length }, 'append');
        });
      }
    }
    if (readFrom !== undefined)
      add(`${name} reads`, () => this.#tell(one, { kind: 'tail', records: this.#recordsFrom(readFrom) }, 'readFrom'));
    if (one.state.phase === 'leading' && one.state.inFlight === undefined && one.state.waiting.size > 0)
      add(`${name} turn`, () => this.#tell(one, { kind: 'turn' }));
    fault(`${name} killed`, () => this.#remove(one));
  }

  #startCoordinator(): void {
    const shard = this.auditor.prefixes.at(-1) as Shard;
    const { state, effects } = takeLead({ shard, recent: new Map() }, { nonces: new Map(), barrier: undefined });
    this.#coordinators.push({ id: this.#coordinatorCount, state, effects, append: undefined, readFrom: undefined });
    this.#coordinatorCount += 1;
  }

  #remove(one: Coordinator): void {
    this.#coordinators.splice(this.#coordinators.indexOf(one), 1);
    if (one.append !== undefined) this.#late.push(one.append);
  }

  #tell(one: Coordinator, input: Input, settled?: 'append' | 'readFrom'): void {
    if (settled !== undefined) one[settled] = undefined;
    const { state, effects }: Step = (this.#options.step ?? coordinatorStep)(one.state, input);
    this.auditor.held(state.shard);
    one.state = state;
    one.effects = [...one.effects, ...effects];
  }

  /** Carries out the next effect. Two appends under way at once would be a fault of ours. */
  #carryOut(one: Coordinator): void {
    const [effect, ...rest] = one.effects as readonly [Effect, ...Effect[]];
    one.effects = rest;
    switch (effect.kind) {
      case 'append':
      case 'readTail':
        if (one.append !== undefined || one.readFrom !== undefined)
          throw new Violation(`c${one.id} asks two things of the log at once`);
        if (effect.kind === 'append') one.append = { tail: effect.tail, body: effect.body, writer: one.id };
        else one.readFrom = effect.from;
        break;
      case 'send':
        this.auditor.said(effect.body);
        if (this.#down.length < POOL_MAX) this.#down.push({ to: effect.to, body: effect.body });
        break;
      case 'ended':
        if (effect.error.code !== 'FENCED') throw new Violation(`c${one.id} ended: ${effect.error.message}`);
        this.#remove(one);
        break;
      case 'announce':
        if (this.#log[effect.index - 1] !== effect.body)
          throw new Violation(`c${one.id} announces what is not at ${effect.index}`);
        break;
      case 'committed':
      case 'leading':
      case 'wake':
        break;
    }
  }

  #settle(one: Coordinator, append: Append): void {
    const isStored = this.#storeIfAllowed(append);
    this.#tell(
      one,
      isStored ? { kind: 'appended', index: this.#log.length } : { kind: 'conflict', tail: this.#log.length },
      'append',
    );
  }

  #storeIfAllowed(append: Append): boolean {
    if (append.tail !== this.#log.length) return false;
    this.#store(append);
    return true;
  }

  #store({ body, writer }: Append): void {
    this.#log.push(body);
    this.auditor.stored(body, writer);
  }

  #recordsFrom(from: number): readonly { readonly index: number; readonly body: string }[] {
    return this.#log.slice(from - 1).map((body, i) => ({ index: from + i, body }));
  }

  #deliverUp(index: number, to: readonly Coordinator[]): void {
    const [message] = this.#up.splice(index, 1) as [Upward];
    for (const one of to) this.#tell(one, { kind: 'message', ...message });
  }

  #deliverDown(index: number): void {
    const [{ to, body }] = this.#down.splice(index, 1) as [{ readonly to: string; readonly body: string }];
    for (const worker of this.#workers.filter((one) => one.agent === to)) this.#tellWorker(worker, { kind: 'message', body });
  }

  #double<T>(pool: T[], pick: number): void {
    if (pool.length < POOL_MAX) pool.push(pool[pick % pool.length] as T);
  }

  /** One more session of that name. */
  #startWorker(agent: string): void {
    const session = `s${this.#births.size}`;
    this.#births.set(session, this.#births.size);
    const { state, effects } = greet({ space: SPACE, agent, role: 'agent', session, schema: SCHEMA.id });
    const worker: Worker = { agent, session, state, isTimerDue: false, hasLeft: false };
    this.#workers.push(worker);
    this.#carryOutOf(worker, effects);
  }

  /** Sessions that are gone without a word; what they had under way is still on the bus. */
  #endSessions(isOver: (worker: Worker) => boolean): void {
    for (const worker of this.#workers.filter(isOver)) this.#workers.splice(this.#workers.indexOf(worker), 1);
  }

  #sessionCountOf(agent: string): number {
    return this.#workers.filter((worker) => worker.agent === agent).length;
  }

  #tellWorker(worker: Worker, input: WorkerInput): void {
    const { state, effects } = workerStep(worker.state, input);
    worker.state = state;
    this.#carryOutOf(worker, effects);
  }

  #carryOutOf(worker: Worker, effects: readonly WorkerEffect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'send':
          if (worker.state.phase === 'proposing') this.auditor.proposed(effect.body);
          if (this.#up.length < POOL_MAX) this.#up.push({ from: worker.agent, body: effect.body });
          break;
        case 'wake':
          worker.isTimerDue = true;
          break;
        case 'answered':
          if (effect.answer.kind === 'committed') this.auditor.acknowledged(worker.agent, worker.state.identity?.n ?? 0);
          if (effect.answer.kind === 'refused')
            throw new Violation(`${worker.agent} is refused: ${effect.answer.issues[0]?.code ?? ''}`);
          worker.isTimerDue = false;
          break;
        case 'joined':
          worker.isTimerDue = false;
          break;
        case 'ended':
          worker.isTimerDue = false;
          if (effect.error === undefined) worker.hasLeft = true;
          else if (effect.error.code === 'FENCED') {
            this.auditor.fenced(worker.agent, worker.session);
            this.#endSessions((one) => one === worker);
          } else throw new Violation(`${worker.agent} ended: ${effect.error.message}`);
          break;
      }
    }
  }

  /** On any view that is not older than its own last answer. */
  #propose(worker: Worker, pick: number): void {
    const views = this.auditor.prefixes
      .map((shard) => shard.spaces.get(SPACE) as Space)
      .filter(({ revision }) => revision >= Math.max(0, worker.state.revision));
    const view = views[views.length - 1 - (pick % views.length)];
    if (view === undefined) return;
    const patch: JsonObject = {
      count: { at: { [worker.agent]: { inc: 1 } } },
      total: { inc: 1 },
      ...(pick % 3 === 0 ? { last: { set: `${worker.agent} ${view.revision}` } } : {}),
    };
    const base = { revision: view.revision, digest: view.head.slice(0, 16) };
    this.#tellWorker(worker, {
      kind: 'propose',
      proposal: { kind: 'proposal', v: 1, space: SPACE, agent: worker.agent, schema: SCHEMA.id, base, patch },
    });
  }

  #countOf(space: Space, agent: string): number {
    return (jsonOf(space, 'count') as Record<string, number> | null)?.[agent] ?? 0;
  }
}

function jsonOf(space: Space, field: string): unknown {
  const index = SCHEMA.indexOf.get(field) as number;
  return SCHEMA.kinds[index]?.json(space.cells[index]);
}
