/**
 * A contract as a list of named checks, so that a test file can register them and a test of the tests can run a single one.
 */
import { OplusError } from '@oplus/core';
import type { ErrorCode } from '@oplus/core';
import { describe, expect, test } from 'vitest';

/** What every store under test can do: vanish, with all that it holds. Everything opened from it may be left open before. */
export interface Destroyable {
  destroy(): Promise<void>;
}

/** Gives a fresh, empty store. */
export type OpenStore<Store extends Destroyable> = () => Promise<Store>;

/**
 * One rule of a port, run against one fresh store: `run` resolves when the rule holds and rejects when it does not.
 * `waitMsMax` bounds the wait for what must happen some time (10,000 when left out); a quiet machine never needs it.
 */
export type Check<Store extends Destroyable> = {
  readonly rule: string;
  readonly title: string;
  run(open: OpenStore<Store>, waitMsMax?: number): Promise<void>;
};

/** Makes a check that opens its own store and destroys it whatever happens. */
export function check<Store extends Destroyable>(
  rule: string,
  title: string,
  body: (store: Store, wait: Wait) => Promise<void>,
): Check<Store> {
  return {
    rule,
    title,
    async run(open, waitMsMax = WAIT_MS_MAX) {
      const store = await open();
      try {
        await body(store, waitOf(waitMsMax));
      } finally {
        await store.destroy();
      }
    },
  };
}

/** Registers every check as a test `[RULE] title` under `name`. */
export function registerContract<Store extends Destroyable>(
  name: string,
  checks: readonly Check<Store>[],
  open: OpenStore<Store>,
): void {
  describe(name, () => {
    for (const { rule, title, run } of checks) test(`[${rule}] ${title}`, () => run(open));
  });
}

/** The ways in which a check waits. */
export type Wait = {
  /** Resolves as soon as `holds()`; rejects with `what` when it never does. */
  until(holds: () => boolean, what: string): Promise<void>;
  /** Lets everything that is already under way arrive, as far as that can be known from outside. */
  settle(): Promise<void>;
  /** Resolves as the promise does; rejects with `what` when it never does. */
  ends<T>(promise: Promise<T>, what: string): Promise<T>;
};

/** Asserts that the call rejects, or throws, with an `OplusError` of that code. */
export async function expectCode(code: ErrorCode, call: () => unknown): Promise<void> {
  let thrown: unknown = 'nothing was thrown';
  try {
    await call();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(OplusError);
  expect((thrown as OplusError).code).toBe(code);
}

const WAIT_MS_MAX = 10_000;
const SETTLE_MS = 25;

function waitOf(waitMsMax: number): Wait {
  return {
    async until(holds, what) {
      const deadlineMs = performance.now() + waitMsMax;
      while (!holds()) {
        if (performance.now() > deadlineMs) throw new Error(`still waiting: ${what}`);
        await sleep(1);
      }
    },
    async settle() {
      await sleep(SETTLE_MS);
    },
    async ends(promise, what) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`still waiting: ${what}`)), waitMsMax);
      });
      try {
        return await Promise.race([promise, late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
