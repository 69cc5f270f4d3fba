import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Patch } from './board.ts';
import { cellOf, fold, initialBoard, refusalOf, viewOf } from './board.ts';
import { OPERATIONS_MAX, createPatchStream } from './workload.ts';

test('[BEN1] the same seed gives the same patches, another seed or writer gives others', () => {
  expect(alone({ seed: 7, writer: 3 })).toEqual(alone({ seed: 7, writer: 3 }));
  expect(operationsOf(alone({ seed: 8, writer: 3 }))).not.toEqual(operationsOf(alone({ seed: 7, writer: 3 })));
  expect(operationsOf(alone({ seed: 7, writer: 4 }))).not.toEqual(operationsOf(alone({ seed: 7, writer: 3 })));
});

test('[BEN2] a patch has one to four operations on different cells, sorted by cell', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(63), (seed, writer) => {
      for (const patch of alone({ seed, writer })) {
        const cells = patch.operations.map(cellOf);
        expect(cells.length).toBeGreaterThanOrEqual(1);
        expect(cells.length).toBeLessThanOrEqual(OPERATIONS_MAX);
        expect(new Set(cells).size).toBe(cells.length);
        expect(cells).toEqual(cells.toSorted());
      }
    }),
    { numRuns: 50 },
  );
});

test('[BEN2] every verb and every size of patch occurs', () => {
  const patches = alone({ seed: 1, writer: 0 }, 2_000);
  const verbs = new Set(patches.flatMap((patch) => patch.operations.map((operation) => operation.verb)));
  expect([...verbs].toSorted()).toEqual(['add', 'append', 'claim', 'inc', 'move', 'release', 'remove', 'set', 'spend']);
  expect([...new Set(patches.map((patch) => patch.operations.length))].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
});

test('[BEN4] a writer that reads the newest board is never refused', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const board = initialBoard();
      const view = viewOf(board);
      const streams = [0, 1, 2].map((writer) => createPatchStream({ seed, writer }));
      for (let step = 0; step < 300; step += 1) {
        const stream = streams[step % 3];
        const patch = stream?.next(view);
        if (patch === undefined) continue;
        expect(refusalOf(view, patch)).toBeUndefined();
        fold(board, patch.operations);
        stream?.settle(patch, true);
      }
    }),
    { numRuns: 50 },
  );
});

function alone(options: { readonly seed: number; readonly writer: number }, count = 100): readonly Patch[] {
  const board = initialBoard();
  const stream = createPatchStream(options);
  return Array.from({ length: count }, () => {
    const patch = stream.next(viewOf(board));
    fold(board, patch.operations);
    stream.settle(patch, true);
    return patch;
  });
}

function operationsOf(patches: readonly Patch[]): unknown {
  return patches.map((patch) => patch.operations.map((operation) => [cellOf(operation), operation.verb]));
}
