/**
 * Blobs and a trace in memory, for tests.
 */
import { createHash } from 'node:crypto';
import type { Blobs } from '@oplus/protocol';
import type { TraceEvent, TraceSink } from '../trace.ts';
import { traceLine } from '../trace.ts';

/** Blobs in a map, whose texts can be read back at once. */
export interface TestBlobs extends Blobs {
  text(digest: string): string | undefined;
}

export function testBlobs(): TestBlobs {
  const stored = new Map<string, Uint8Array>();
  return {
    async put(bytes) {
      const digest = createHash('sha256').update(bytes).digest('hex');
      stored.set(digest, Uint8Array.from(bytes));
      return digest;
    },
    get: async (digest) => stored.get(digest),
    close: async () => undefined,
    text: (digest) => {
      const bytes = stored.get(digest);
      return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    },
  };
}

/** A trace that is kept. `failAt` makes the append of that number (counted from 1) and all later ones fail. */
export interface TestTrace extends TraceSink {
  readonly events: readonly TraceEvent[];
  text(): string;
}

export function testTrace(failAt: number = Infinity): TestTrace {
  const events: TraceEvent[] = [];
  let appended = 0;
  return {
    events,
    async append(event) {
      appended += 1;
      if (appended >= failAt) throw new Error('the trace cannot be written');
      events.push(event);
    },
    close: async () => undefined,
    text: () => events.map((event) => `${traceLine(event)}\n`).join(''),
  };
}
