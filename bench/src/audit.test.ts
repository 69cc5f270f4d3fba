import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Anomalies, Ledger } from './audit.ts';
import { anomalyCount, createLedger } from './audit.ts';
import type { Board, Operation, Patch } from './board.ts';
import { BUDGET_MAX, JOURNAL_MAX, TAGS_MAX, fold, initialBoard, refusalOf, viewOf } from './board.ts';
import { createRandom } from './random.ts';
import { createPatchStream } from './workload.ts';

test('[BEN6] an engine that decides one after another has no anomaly, on whatever old views', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 20 }), (seed, writerCount, lag) => {
      const { ledger, board } = staleRun({ seed, writerCount, lag, stepCount: 400 });
      expect(anomalyCount(ledger.audit(board, 0))).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test('[BEN6] answers may overtake each other', () => {
  const board = initialBoard();
  const ledger = createLedger(initialBoard());
  const first = patchOf(
    'w0-1',
    { field: 'tags', verb: 'add', value: 'w0-1' },
    { field: 'cas0', verb: 'set', value: 'w0-1', expected: 'cas0' },
  );
  const second = patchOf(
    'w1-1',
    { field: 'tags', verb: 'remove', value: 'w0-1' },
    { field: 'cas0', verb: 'set', value: 'w1-1', expected: 'w0-1' },
  );
  fold(board, first.operations);
  fold(board, second.operations);
  ledger.acknowledge(second, { sentMs: 2, answeredMs: 3 });
  ledger.acknowledge(first, { sentMs: 1, answeredMs: 4 });
  expect(anomalyCount(ledger.audit(board, 0))).toBe(0);
});

/** Each plants one fault into a faultless run of one writer: what the ledger is told and what the board is part. */
const FAULTS: readonly (readonly [keyof Anomalies, string, (run: Run) => void])[] = [
  [
    'lostIncrements',
    'an increment that did not land',
    ({ acknowledge }) => acknowledge(1, { field: 'counter0', verb: 'inc', value: 1 }),
  ],
  [
    'lostIncrements',
    'an increment that landed twice',
    ({ board }) => fold(board, [{ field: 'counter0', verb: 'inc', value: 1 }]),
  ],
  [
    'lostUpdates',
    'two compare-and-sets on one value',
    ({ board, acknowledge }) => {
      acknowledge(1, { field: 'cas0', verb: 'set', value: 'w1-1', expected: 'cas0' });
      acknowledge(2, { field: 'cas0', verb: 'set', value: 'w2-1', expected: 'cas0' });
      board.registers['cas0'] = 'w2-1';
    },
  ],
  [
    'doubleClaims',
    'two holders of one row',
    ({ board, acknowledge }) => {
      acknowledge(1, { field: 'tasks', key: 'task00', verb: 'claim', value: 'w1-1@task00' });
      acknowledge(2, { field: 'tasks', key: 'task00', verb: 'claim', value: 'w2-1@task00' });
      fold(board, [{ field: 'tasks', key: 'task00', verb: 'claim', value: 'w2-1@task00' }]);
    },
  ],
  [
    'doubleClaims',
    'two holders of one row, both released since',
    ({ acknowledge }) => {
      for (const verb of ['claim', 'release'] as const) {
        for (const writer of [1, 2]) acknowledge(writer, { field: 'tasks', key: 'task00', verb, value: `w${writer}-1@task00` });
      }
    },
  ],
  [
    'doubleClaims',
    'a claim that is not on the board',
    ({ acknowledge }) => acknowledge(1, { field: 'tasks', key: 'task00', verb: 'claim', value: 'w1-1@task00' }),
  ],
  [
    'budgetBroken',
    'money that was spent and is still there',
    ({ acknowledge }) => acknowledge(1, { field: 'budget', verb: 'spend', value: 5 }),
  ],
  [
    'budgetBroken',
    'a budget seen below zero on the way',
    ({ board, ledger }) => {
      const { budget } = board;
      board.budget = -1;
      ledger.observe(0, viewOf(board));
      board.budget = budget;
    },
  ],
  [
    'capsBroken',
    'one entry too many seen on the way',
    ({ board, ledger }) => {
      const { journal } = board;
      board.journal = [...journal, 'one more'];
      ledger.observe(0, viewOf(board));
      board.journal = journal;
    },
  ],
  [
    'journalBroken',
    'an entry that is missing',
    ({ acknowledge }) => acknowledge(1, { field: 'journal', verb: 'append', value: 'w1-1 an entry' }),
  ],
  [
    'journalBroken',
    'an entry that nobody was told is committed',
    ({ board }) => {
      board.journal[7] = 'w1-1 a stray entry';
    },
  ],
  [
    'journalBroken',
    'an entry that stands twice',
    ({ board }) => {
      board.journal[7] = board.journal[8] ?? '';
    },
  ],
  ['tagsBroken', 'a tag that is missing', ({ acknowledge }) => acknowledge(1, { field: 'tags', verb: 'add', value: 'w1-1' })],
  ['tagsBroken', 'a tag that came back', ({ acknowledge }) => acknowledge(1, { field: 'tags', verb: 'remove', value: 'tag03' })],
  [
    'movesBroken',
    'a status that no move led to',
    ({ board }) => fold(board, [{ field: 'tasks', key: 'task05', verb: 'move', value: 'doing', expected: 'todo' }]),
  ],
  [
    'registersBroken',
    'a note that nobody wrote',
    ({ board }) => {
      board.registers['note2'] = 'w1-1';
    },
  ],
  [
    'registersBroken',
    'an older title of the same writer',
    ({ board, acknowledge }) => {
      acknowledge(1, { field: 'tasks', key: 'task09', verb: 'set', value: 'w1-1 older' });
      acknowledge(1, { field: 'tasks', key: 'task09', verb: 'set', value: 'w1-2 newer' });
      fold(board, [{ field: 'tasks', key: 'task09', verb: 'set', value: 'w1-1 older' }]);
    },
  ],
  [
    'tornPatches',
    'half a pair seen on the way',
    ({ board, ledger }) => {
      const before = board.registers['left'] ?? '';
      board.registers['left'] = 'w1-1';
      ledger.observe(3, viewOf(board));
      board.registers['left'] = before;
    },
  ],
];

test.each(FAULTS)('[BEN7] %s: %s', (kind, _, plant) => {
  const run = createRun();
  expect(anomalyCount(run.ledger.audit(run.board, 0))).toBe(0);
  plant(run);
  expect(onlyKinds(run.ledger.audit(run.board, 0))).toEqual([kind]);
});

test('[BEN7] tornPatches: half of a refused patch stands', () => {
  const { ledger, board } = createRun();
  ledger.refuse(
    patchOf('w1-9', { field: 'note0', verb: 'set', value: 'w1-9' }, { field: 'budget', verb: 'spend', value: BUDGET_MAX }),
  );
  ledger.acknowledge(patchOf('w2-1', { field: 'note0', verb: 'set', value: 'w2-1' }), { sentMs: 1, answeredMs: 2 });
  board.registers['note0'] = 'w1-9';
  expect(ledger.audit(board, 0)).toMatchObject({ tornPatches: 1, registersBroken: 1 });
});

test('[BEN7] budgetBroken and capsBroken: bounds that the final board breaks', () => {
  const { ledger, board } = createRun();
  board.budget = -3;
  while (board.tags.length <= TAGS_MAX) board.tags.push(`more${board.tags.length}`);
  board.journal.push('one more');
  expect(ledger.audit(board, 0)).toMatchObject({ budgetBroken: 2, capsBroken: 2 });
});

test('[BEN7] journalBroken: one entry gone from the middle of a long run', () => {
  const { ledger, board } = createRun();
  for (let n = 1; n <= 3 * JOURNAL_MAX; n += 1) {
    const patch = patchOf(`w0-${n}`, { field: 'journal', verb: 'append', value: `w0-${n} an entry` });
    if (n !== 3 * JOURNAL_MAX - 10) fold(board, patch.operations);
    ledger.acknowledge(patch, { sentMs: 2 * n, answeredMs: 2 * n + 1 });
  }
  expect(onlyKinds(ledger.audit(board, 0))).toEqual(['journalBroken']);
});

test('[BEN7] one lost patch in a busy run is found', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const { ledger, board } = staleRun({ seed, writerCount: 4, lag: 3, stepCount: 200 });
      ledger.acknowledge(patchOf('w9-1', { field: 'counter3', verb: 'inc', value: 1 }), { sentMs: 1_000, answeredMs: 1_001 });
      expect(ledger.audit(board, 0)).toMatchObject({ lostIncrements: 1 });
    }),
    { numRuns: 10 },
  );
});

type Run = {
  readonly ledger: Ledger;
  readonly board: Board;
  readonly acknowledge: (writer: number, operation: Operation) => void;
};

function createRun(): Run {
  const ledger = createLedger(initialBoard());
  let nowMs = 0;
  return {
    ledger,
    board: initialBoard(),
    acknowledge: (writer, operation) => {
      nowMs += 2;
      ledger.acknowledge({ id: `w${writer}-1`, writer, operations: [operation] }, { sentMs: nowMs, answeredMs: nowMs + 1 });
    },
  };
}

/** Writers propose on boards that are up to `lag` commits old; one fold decides. */
function staleRun(options: {
  readonly seed: number;
  readonly writerCount: number;
  readonly lag: number;
  readonly stepCount: number;
}): { readonly ledger: Ledger; readonly board: Board } {
  const { seed, writerCount, lag, stepCount } = options;
  const random = createRandom(seed, 77);
  const board = initialBoard();
  const ledger = createLedger(initialBoard());
  const history = [initialBoard()];
  const streams = Array.from({ length: writerCount }, (_, writer) => createPatchStream({ seed, writer }));
  for (let step = 0; step < stepCount; step += 1) {
    const writer = random.below(writerCount);
    const seen = viewOf(history[Math.max(0, history.length - 1 - random.below(lag))] ?? board);
    ledger.observe(writer, seen);
    const patch = streams[writer]?.next(seen);
    if (patch === undefined) continue;
    const isCommitted = refusalOf(viewOf(board), patch) === undefined;
    if (isCommitted) {
      fold(board, patch.operations);
      history.push(structuredClone(board));
      ledger.acknowledge(patch, { sentMs: step, answeredMs: step + 0.5 });
    } else ledger.refuse(patch);
    streams[writer]?.settle(patch, isCommitted);
  }
  return { ledger, board };
}

function onlyKinds(anomalies: Anomalies): readonly string[] {
  return Object.entries(anomalies).flatMap(([kind, count]) => (count > 0 ? [kind] : []));
}

function patchOf(id: string, ...operations: readonly Operation[]): Patch {
  return { id, writer: Number(/\d+/.exec(id)?.[0]), operations };
}
