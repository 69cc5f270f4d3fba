import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import type { Row } from './report.ts';
import { rowsOf, tableOf } from './report.ts';
import { createLatencyRecorder } from './latency.ts';
import { createLedger } from './audit.ts';
import { initialBoard } from './board.ts';
import { memoryFold } from './contenders/memory-fold.ts';
import { sqliteFull } from './contenders/sqlite.ts';
import type { Figure } from './measure.ts';

test('[BEN14] what was not measured is n/m, and ratios stand beside the baseline', () => {
  const figure: Figure = {
    measuredMs: 1_000,
    committedCount: 100,
    refusedCount: 100,
    retryCount: 50,
    latencies: createLatencyRecorder().counts(),
    cpuMs: undefined,
    bytesOnWire: undefined,
    anomalies: createLedger(initialBoard()).audit(initialBoard(), 2),
  };
  const measured = { ...figure, committedCount: 300, cpuMs: { client: 200, server: 100 }, bytesOnWire: 40_000 };
  const cells = [
    { contender: memoryFold, writerCount: 4, figures: [figure, figure], failures: [] },
    { contender: sqliteFull, writerCount: 4, figures: [measured, { ...measured, committedCount: 100 }], failures: [] },
    { contender: sqliteFull, writerCount: 16, figures: [], failures: ['gone'] },
  ];
  const rows = rowsOf(cells, 'memory-fold');
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatchObject({
    commitsPerSecond: 100,
    ratio: 1,
    refusedShare: 0.5,
    retriesPerCommit: 0.5,
    cpuMsPerCommit: undefined,
    anomalies: 4,
  });
  expect(rows[1]).toMatchObject({
    commitsPerSecond: 200,
    ratio: 2,
    cpuMsPerCommit: 1.5,
    clientCpuMsPerCommit: 1,
    anomaliesByKind: { staleViews: 4 },
  });
  expect(rows[1]?.wireBytesPerPatch).toBeCloseTo(80_000 / 600);
  const [, headings, first, second] = tableOf(rows, 'memory-fold').split('\n');
  expect(headings).toContain('x memory-fold');
  expect(first?.match(/n\/m/g)).toHaveLength(3);
  expect(second).not.toContain('n/m');
  expect(rowsOf(cells, 'yjs')[0]?.ratio).toBeUndefined();
});

test('[BEN15] [BEN11] one document with conditions, rows and what is not measured', () => {
  const { status, stdout } = bench(
    ['--only', 'memory-fold,redis-lua', '--writers', '2', '--seconds', '1', '--rounds', '1', '--json'],
    { PATH: '' },
  );
  const document = JSON.parse(stdout) as {
    readonly ok: boolean;
    readonly rows: readonly Row[];
    readonly notMeasured: readonly unknown[];
    readonly failed: readonly unknown[];
  };
  expect(status).toBe(0);
  expect(document).toMatchObject({
    ok: true,
    conditions: { views: 'own', rounds: 1, seed: 1 },
    baseline: 'redis-lua',
    failed: [],
  });
  expect(document.rows).toMatchObject([{ contender: 'memory-fold', writers: 2, anomalies: 0, failures: [] }]);
  expect(document.notMeasured).toEqual([
    { contender: 'redis-lua', install: expect.stringContaining('apt-get install redis-server') as string },
  ]);
});

test.each([
  [['--only', 'nobody'], 'no contender nobody'],
  [['--writers', '0'], '--writers 0 is not a whole number'],
  [['--views', 'mine'], '--views mine is neither'],
  [['--what'], '--what'],
])('[BEN15] wrong use %j exits 2 with a hint', (args, message) => {
  const { status, stdout, stderr } = bench(args);
  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^error: .+\nhint: .+\n$/);
  expect(stderr).toContain(message);
});

function bench(
  args: readonly string[],
  env: Record<string, string> = {},
): ReturnType<typeof spawnSync> & { readonly stdout: string; readonly stderr: string } {
  const file = fileURLToPath(new URL('run.ts', import.meta.url));
  const run = ['--conditions=@oplus/source', '--disable-warning=ExperimentalWarning', file, ...args];
  return spawnSync(process.execPath, run, { encoding: 'utf8', env: { ...process.env, ...env }, timeout: 50_000 });
}
