/**
 * Contract of the port `Log`: what every adapter must show (protocol SPEC, rules LOG1 to LOG12).
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { AppendOutcome, Durability, Log, LogReader, StoredRecord } from '../ports/log.ts';
import { LOG_BODY_BYTES_MAX } from '../ports/log.ts';
import { check, expectCode, registerContract } from './check.ts';
import type { Check, Destroyable, OpenStore } from './check.ts';

/** One log store, empty at first. Opening it again after `close` is how a check looks whether something survived. */
export interface LogStore extends Destroyable {
  /** What its logs must declare. */
  readonly durability: Durability;
  /** `one`: while a log is open, `open` rejects with `LOG_LOCKED`. `many`: several may be open and race for the same index. */
  readonly writers: 'one' | 'many';
  /** A log on this store, with its own connection, handle or object, as another process would have it. */
  open(): Promise<Log>;
  /** A reader of its own, beside whatever else is open. The checks open a log on the store before the first reader. */
  openReader(): Promise<LogReader>;
}

/** Registers the checks below as tests. */
export function logContract(name: string, open: OpenStore<LogStore>): void {
  registerContract(name, logChecks, open);
}

/** Every check of the port. */
export const logChecks: readonly Check<LogStore>[] = [
  check<LogStore>('LOG1', 'indexes count from 1 without gaps', async (store) => {
    const log = await store.open();
    expect(await log.tail()).toBe(0);
    for (const index of [1, 2, 3, 4, 5]) {
      expect(await log.append(index - 1, `body ${index}`)).toEqual({ kind: 'appended', index });
      expect(await log.tail()).toBe(index);
    }
    expect(await recordsOf(log)).toEqual([1, 2, 3, 4, 5].map((index) => ({ index, body: `body ${index}` })));
  }),

  check<LogStore>('LOG2', 'an append at another tail stores nothing and tells the newest index', async (store) => {
    const log = await store.open();
    expect(await log.append(1, 'ahead of an empty log')).toEqual({ kind: 'conflict', tail: 0 });
    await appendAll(log, ['a', 'b', 'c']);
    for (const tail of [0, 1, 2, 4, 5, 1_000_000]) {
      expect(await log.append(tail, `at ${tail}`)).toEqual({ kind: 'conflict', tail: 3 });
    }
    expect(await log.append(3, 'd')).toEqual({ kind: 'appended', index: 4 });
    expect(bodiesOf(await recordsOf(log))).toEqual(['a', 'b', 'c', 'd']);
  }),

  check<LogStore>('LOG2', 'a tail that is no index is refused', async (store) => {
    const log = await store.open();
    for (const tail of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      await expectCode('USAGE', () => log.append(tail, 'x'));
    }
    expect(await log.tail()).toBe(0);
  }),

  check<LogStore>('LOG3', 'of two writers that race for an index one wins, and the other is told', async (store, wait) => {
    const first = await store.open();
    if (store.writers === 'one') {
      await appendAll(first, ['a']);
      await expectCode('LOG_LOCKED', () => store.open());
      expect(await first.append(1, 'b')).toEqual({ kind: 'appended', index: 2 });
      await first.close();
      const second = await store.open();
      await expectCode('LOG_LOCKED', () => store.open());
      expect(await second.append(2, 'c')).toEqual({ kind: 'appended', index: 3 });
      return;
    }
    const second = await store.open();
    const winners: string[] = [];
    for (let tail = 0; tail < 40; tail += 1) {
      // Who calls first alternates, so that no writer wins by its place.
      const order = tail % 2 === 0 ? [first, second] : [second, first];
      const outcomes = await wait.ends(
        Promise.all(order.map((log) => log.append(tail, `${tail} by ${log === first ? 'first' : 'second'}`))),
        'both answers to a race',
      );
      const won = outcomes.findIndex((outcome) => outcome.kind === 'appended');
      expect(outcomes[won]).toEqual({ kind: 'appended', index: tail + 1 });
      expect(outcomes[1 - won]).toEqual({ kind: 'conflict', tail: tail + 1 });
      winners.push(`${tail} by ${order[won] === first ? 'first' : 'second'}`);
    }
    expect(bodiesOf(await recordsOf(first))).toEqual(winners);
    expect(bodiesOf(await recordsOf(second))).toEqual(winners);
  }),

  check<LogStore>('LOG4', 'a read begins where it was asked to, ascends, and ends at the tail', async (store, wait) => {
    const log = await store.open();
    expect(await recordsOf(log)).toEqual([]);
    const bodies = Array.from({ length: 300 }, (_, k) => `record ${k + 1}`);
    await appendAll(log, bodies);
    const all = bodies.map((body, k) => ({ index: k + 1, body }));
    for (const from of [1, 2, 150, 299, 300, 301, 302, 10_000]) {
      expect(await wait.ends(recordsOf(log, from), `the end of a read from ${from}`)).toEqual(all.slice(from - 1));
    }
  }),

  check<LogStore>('LOG4', 'a read does not follow: what is appended after its first step is not in it', async (store, wait) => {
    const log = await store.open();
    await appendAll(log, ['a', 'b', 'c']);
    const reading = log.read(1)[Symbol.asyncIterator]();
    const seen = [await reading.next()].map((step) => (step.value as StoredRecord).body);
    await appendAll(log, ['d', 'e']);
    for (let step = await reading.next(); step.done !== true; step = await wait.ends(reading.next(), 'the end of a read')) {
      seen.push(step.value.body);
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(bodiesOf(await recordsOf(log))).toEqual(['a', 'b', 'c', 'd', 'e']);
  }),

  check<LogStore>('LOG4', 'reads run beside each other and may be left early', async (store, wait) => {
    const log = await store.open();
    await appendAll(log, ['a', 'b', 'c', 'd']);
    for await (const record of log.read(2)) {
      expect(record).toEqual({ index: 2, body: 'b' });
      break;
    }
    const [whole, half] = await Promise.all([recordsOf(log), recordsOf(log, 3)]);
    expect(bodiesOf(whole)).toEqual(['a', 'b', 'c', 'd']);
    expect(bodiesOf(half)).toEqual(['c', 'd']);
    await wait.ends(log.close(), 'close after a read that was left early');
  }),

  check<LogStore>('LOG4', 'a read from what is no index is refused', async (store) => {
    const log = await store.open();
    await appendAll(log, ['a']);
    for (const from of [0, -1, 1.5, Number.NaN]) await expectCode('USAGE', () => recordsOf(log, from));
  }),

  check<LogStore>('LOG5', 'bodies come back byte for byte', async (store) => {
    const log = await store.open();
    const bodies = [
      '',
      ' ',
      '\n',
      'line\r\nline\u2028',
      '\u0000',
      'a\u0000b',
      '\uFEFFafter a byte order mark',
      '"quoted" \\ \'; drop',
      'Grüße, 状態, état, \u{1F600}\u{10FFFF}',
      'e\u0301 is not \u00e9',
      '\u0001\u001f\u007f\u0080\uFFFD\uFFFF',
      'x'.repeat(LOG_BODY_BYTES_MAX),
      '状'.repeat(Math.floor(LOG_BODY_BYTES_MAX / 3)),
    ];
    await appendAll(log, bodies);
    const read = bodiesOf(await recordsOf(log));
    expect(read.length).toBe(bodies.length);
    // Not toEqual: a difference in half a megabyte must not be printed.
    expect(bodies.map((body, k) => body === read[k])).toEqual(bodies.map(() => true));
  }),

  check<LogStore>(
    'LOG6',
    'a body above the limit, counted in UTF-8 bytes, or ill-formed is refused and leaves no mark',
    async (store) => {
      const log = await store.open();
      await appendAll(log, ['a']);
      const bodies = ['x'.repeat(LOG_BODY_BYTES_MAX + 1), 'é'.repeat(LOG_BODY_BYTES_MAX / 2 + 1), '\ud83d', 'a\ude00b'];
      for (const body of bodies) await expectCode('USAGE', () => log.append(1, body));
      expect(await log.append(1, 'b')).toEqual({ kind: 'appended', index: 2 });
      expect(bodiesOf(await recordsOf(log))).toEqual(['a', 'b']);
    },
  ),

  check<LogStore>('LOG7', 'a closed log answers TRANSPORT_CLOSED, and closing it again does nothing', async (store, wait) => {
    const log = await store.open();
    await appendAll(log, ['a']);
    const reader = await store.openReader();
    for (const closed of [log, reader]) {
      await wait.ends(closed.close(), 'close');
      await wait.ends(closed.close(), 'the second close');
      await expectCode('TRANSPORT_CLOSED', () => closed.tail());
      await expectCode('TRANSPORT_CLOSED', () => recordsOf(closed));
    }
    await expectCode('TRANSPORT_CLOSED', () => log.append(1, 'b'));
    expect(bodiesOf(await recordsOf(await store.open()))).toEqual(['a']);
  }),

  check<LogStore>('LOG7', 'close waits for an append in flight, whose answer stays true', async (store, wait) => {
    const log = await store.open();
    const [outcome] = await wait.ends(Promise.all([log.append(0, 'a'), log.close()]), 'append and close at once');
    const bodies = bodiesOf(await recordsOf(await store.open()));
    expect([[], ['a']]).toContainEqual(bodies);
    if (outcome.kind !== 'unknown') expect(bodies).toEqual(outcome.kind === 'appended' ? ['a'] : []);
  }),

  check<LogStore>('LOG8', 'what an append acknowledged is there after closing and opening again', async (store) => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const log = await store.open();
      expect(bodiesOf(await recordsOf(log))).toEqual(acknowledged);
      expect(await log.tail()).toBe(acknowledged.length);
      for (let k = 0; k < 3; k += 1) {
        const body = `round ${round}, ${k}`;
        expect(await log.append(acknowledged.length, body)).toEqual({ kind: 'appended', index: acknowledged.length + 1 });
        acknowledged.push(body);
      }
      await log.close();
    }
    expect(bodiesOf(await recordsOf(await store.openReader()))).toEqual(acknowledged);
  }),

  check<LogStore>('LOG9', 'another reader sees at once what was acknowledged, in the same order', async (store) => {
    const log = await store.open();
    const reader = await store.openReader();
    expect(await reader.tail()).toBe(0);
    expect(await recordsOf(reader)).toEqual([]);
    for (let tail = 0; tail < 20; tail += 1) {
      await log.append(tail, `body ${tail + 1}`);
      expect(await reader.tail()).toBe(tail + 1);
      expect(await recordsOf(reader, tail + 1)).toEqual([{ index: tail + 1, body: `body ${tail + 1}` }]);
    }
    expect(await recordsOf(reader)).toEqual(await recordsOf(log));
    await reader.close();
    expect(await log.append(20, 'after the reader left')).toEqual({ kind: 'appended', index: 21 });
  }),

  check<LogStore>(
    'LOG9',
    'a reader beside a busy writer sees a prefix, and never a shorter one than before',
    async (store, wait) => {
      const log = await store.open();
      const reader = await store.openReader();
      const total = 60;
      let isWriting = true;
      const writing = (async () => {
        for (let tail = 0; tail < total; tail += 1) await log.append(tail, `body ${tail + 1}`);
        isWriting = false;
      })();
      let longest = 0;
      while (isWriting) {
        const records = await recordsOf(reader);
        expect(records).toEqual(records.map((_, k) => ({ index: k + 1, body: `body ${k + 1}` })));
        expect(records.length).toBeGreaterThanOrEqual(longest);
        longest = records.length;
        // Leaves the loop to an in-process writer, whose answers may come as microtasks only.
        await new Promise((resolve) => setImmediate(resolve));
      }
      await wait.ends(writing, 'the writer');
      expect((await recordsOf(reader)).length).toBe(total);
    },
  ),

  check<LogStore>('LOG10', 'the log declares the durability that its store has', async (store) => {
    const log = await store.open();
    expect(['none', 'process', 'power']).toContain(log.durability);
    expect(log.durability).toBe(store.durability);
  }),

  isolationCheck(),
  modelCheck(),
];

function isolationCheck(): Check<LogStore> {
  return {
    rule: 'LOG11',
    title: 'a fresh store is empty, whatever another one holds',
    async run(open) {
      const stores = [await open(), await open()] as const;
      try {
        const [first, second] = [await stores[0].open(), await stores[1].open()];
        await appendAll(first, ['only here']);
        expect(await second.tail()).toBe(0);
        expect(await recordsOf(second)).toEqual([]);
        await appendAll(second, ['only there']);
        expect(bodiesOf(await recordsOf(first))).toEqual(['only here']);
      } finally {
        for (const store of stores) await store.destroy();
      }
    },
  };
}

/** Any history of calls gives what a plain array would give. Each history has a store of its own. */
function modelCheck(): Check<LogStore> {
  return {
    rule: 'LOG12',
    title: 'any history of appends, reads and reopenings behaves as an array does',
    async run(open) {
      await fc.assert(
        fc.asyncProperty(fc.array(callArbitrary(), { minLength: 1, maxLength: 30 }), async (calls) => {
          const store = await open();
          try {
            const model: string[] = [];
            let log = await store.open();
            for (const call of calls) log = await compare(store, log, model, call);
            expect(bodiesOf(await recordsOf(log))).toEqual(model);
          } finally {
            await store.destroy();
          }
        }),
        { numRuns: MODEL_RUNS },
      );
    },
  };
}

type Call =
  | { readonly kind: 'append'; readonly offset: number; readonly body: string }
  | { readonly kind: 'read'; readonly from: number }
  | { readonly kind: 'tail' }
  | { readonly kind: 'reopen' };

const MODEL_RUNS = 25;

function callArbitrary(): fc.Arbitrary<Call> {
  // Equal bodies are common, since a store may take the second for a repetition of the first.
  const body = fc.oneof(fc.constantFrom('a', 'b'), fc.string({ unit: 'binary', maxLength: 40 }));
  // Mostly at the tail, else most appends are refused and nothing grows.
  const offset = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) });
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), offset, body }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const), from: fc.integer({ min: 1, max: 20 }) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'tail' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
  );
}

async function compare(store: LogStore, log: Log, model: string[], call: Call): Promise<Log> {
  switch (call.kind) {
    case 'append': {
      const tail = Math.max(0, model.length + call.offset);
      const expected: AppendOutcome =
        tail === model.length ? { kind: 'appended', index: tail + 1 } : { kind: 'conflict', tail: model.length };
      expect(await log.append(tail, call.body)).toEqual(expected);
      if (expected.kind === 'appended') model.push(call.body);
      return log;
    }
    case 'read':
      expect(bodiesOf(await recordsOf(log, call.from))).toEqual(model.slice(call.from - 1));
      return log;
    case 'tail':
      expect(await log.tail()).toBe(model.length);
      return log;
    case 'reopen':
      await log.close();
      return store.open();
  }
}

async function recordsOf(log: LogReader, from = 1): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const { index, body } of log.read(from)) records.push({ index, body });
  return records;
}

function bodiesOf(records: readonly StoredRecord[]): string[] {
  return records.map((record) => record.body);
}

async function appendAll(log: Log, bodies: readonly string[]): Promise<void> {
  let tail = await log.tail();
  for (const body of bodies) {
    expect(await log.append(tail, body)).toEqual({ kind: 'appended', index: tail + 1 });
    tail += 1;
  }
}
