/**
 * A log in an array. It survives nothing, and it is the yardstick: every other log behaves like this one.
 */
import { OplusError } from '@oplus/core';
import { assertIndex, assertLogBody } from '@oplus/protocol';
import type { Log } from '@oplus/protocol';

/** What logs share: record k + 1 is `bodies[k]`. Only the logs that stand on it may change it. */
export type MemoryLogStore = { readonly bodies: string[] };

/** An empty store. */
export function memoryLogStore(): MemoryLogStore {
  return { bodies: [] };
}

/** A log on `store`. Any number may stand on one store, and race there as writers of one stream would. */
export function memoryLog(store: MemoryLogStore = memoryLogStore()): Log {
  const { bodies } = store;
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw new OplusError('TRANSPORT_CLOSED', 'the log is closed');
  };
  return {
    durability: 'none',
    async tail() {
      assertOpen();
      return bodies.length;
    },
    async append(tail, body) {
      assertOpen();
      assertIndex(tail, 0);
      assertLogBody(body);
      // No `await` between the comparison and the push: that is what makes the append conditional.
      if (tail !== bodies.length) return { kind: 'conflict', tail: bodies.length };
      return { kind: 'appended', index: bodies.push(body) };
    },
    async *read(from) {
      assertOpen();
      assertIndex(from, 1);
      const tail = bodies.length;
      for (let index = from; index <= tail; index += 1) {
        yield { index, body: bodies[index - 1] as string };
        assertOpen();
      }
    },
    async close() {
      isClosed = true;
    },
  };
}
