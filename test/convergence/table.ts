/**
 * A table at which real shells sit: one log, one bus and one manual clock in memory, with hands on what gets through.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { cas, counter, loadState, map, quota } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import { openCoordinator } from '@oplus/coordinator';
import type { Coordinator, CoordinatorOptions } from '@oplus/coordinator';
import type { AppendOutcome, Bus, Log, Replica } from '@oplus/protocol';
import { sha256 } from '@oplus/protocol';
import { manualClock, memoryHub, memoryLog, memoryLogStore } from '@oplus/transport-memory';
import type { ManualClock, MemoryLogStore } from '@oplus/transport-memory';
import { follow, join } from '@oplus/worker';
import type { JoinOptions, Worker } from '@oplus/worker';
import { z } from 'zod';

export const SPACE = 'board';

export const SCHEMA: StateSchema = loadState(
  {
    name: 'board',
    version: 1,
    fields: {
      done: counter(),
      lead: cas(z.string().max(20)),
      by: map(counter(), { cap: 64 }),
      budget: quota({ lo: 0, hi: 3, start: 0 }),
    },
  },
  sha256,
);

/** How a message travels: how many times it arrives. 1 when it says nothing. */
export type Passing = (way: 'up' | 'down' | 'announcement', body: string) => number | undefined;

/** What the log does instead of its work; `undefined` lets it work. A returned error is thrown. */
export type LogFaults = {
  append?: ((body: string, store: () => Promise<AppendOutcome>) => Promise<AppendOutcome> | undefined) | undefined;
  read?: ((from: number) => Error | undefined) | undefined;
};

export class Table {
  readonly store: MemoryLogStore = memoryLogStore();
  readonly clock: ManualClock = manualClock();
  readonly faults: LogFaults = {};
  passing: Passing = () => 1;
  readonly #hub = memoryHub();

  /** A log on the store, subject to `faults`. */
  log(): Log {
    const log = memoryLog(this.store);
    const { faults } = this;
    return {
      ...log,
      append: (tail, body) => faults.append?.(body, () => log.append(tail, body)) ?? log.append(tail, body),
      async *read(from) {
        const error = faults.read?.(from);
        if (error !== undefined) throw error;
        yield* log.read(from);
      },
    };
  }

  /** A bus on the hub, subject to `passing`. */
  bus(): Bus {
    const bus = this.#hub.open();
    const repeat = (way: Parameters<Passing>[0], body: string, send: (body: string) => void): void => {
      for (let count = this.passing(way, body) ?? 1; count > 0; count -= 1) send(body);
    };
    return {
      ...bus,
      async serve(channel, onMessage) {
        const server = await bus.serve(channel, onMessage);
        return {
          send: (to, body) => repeat('down', body, () => server.send(to, body)),
          announce: (body) => repeat('announcement', body, () => server.announce(body)),
          close: () => server.close(),
        };
      },
      async attach(channel, as, onMessage) {
        const end = await bus.attach(channel, as, onMessage);
        return { send: (body) => repeat('up', body, () => end.send(body)), close: () => end.close() };
      },
    };
  }

  lead(other: Partial<CoordinatorOptions> = {}): Promise<Coordinator> {
    return openCoordinator({
      log: this.log(),
      bus: this.bus(),
      clock: this.clock,
      channel: 'main',
      schemas: new Map([[SPACE, SCHEMA]]),
      ...other,
    });
  }

  follow(other: Partial<Parameters<typeof follow>[0]> = {}): Promise<Replica> {
    return follow({
      log: this.log(),
      bus: this.bus(),
      clock: this.clock,
      channel: 'main',
      space: SPACE,
      schema: SCHEMA,
      ...other,
    });
  }

  join(replica: Replica, agent: string, other: Partial<JoinOptions> = {}): Promise<Worker> {
    return join({
      bus: this.bus(),
      clock: this.clock,
      channel: 'main',
      replica,
      agent,
      role: 'agent',
      session: `${agent}-1`,
      ...other,
    });
  }

  /** Lets everything that is under way arrive. */
  async rest(): Promise<void> {
    for (let i = 0; i < 12; i += 1) await turn();
  }

  /** Moves time on in steps, letting what happens in each arrive. */
  async pass(durationMs: number, stepMs = 50): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
      this.clock.advance(stepMs);
      await this.rest();
    }
  }
}

/** Runs `body` and gives the errors that nobody caught meanwhile, which would otherwise fail the test run. */
export async function uncaughtDuring(body: () => Promise<void>): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const own = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => errors.push(error));
  try {
    await body();
    for (let i = 0; i < 12; i += 1) await turn();
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of own) process.on('uncaughtException', listener);
  }
  return errors;
}

/** How a promise stands, without waiting for it. */
export async function stateOf<T>(promise: Promise<T>): Promise<'pending' | 'resolved' | 'rejected'> {
  let state: 'pending' | 'resolved' | 'rejected' = 'pending';
  promise.then(
    () => (state = 'resolved'),
    () => (state = 'rejected'),
  );
  for (let i = 0; i < 3; i += 1) await turn();
  return state;
}
