/**
 * The whole matrix: contenders by numbers of writers by rounds, each cell in a fresh process, interleaved so that drift of the
 * machine meets everybody. Odd rounds go through the contenders backwards.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { CellAnswer, CellOrder } from './cell.ts';
import type { Contender, Views } from './contender.ts';
import type { Figure } from './measure.ts';

export type MatrixPlan = {
  readonly contenders: readonly Contender[];
  readonly writerCounts: readonly number[];
  readonly views: Views;
  readonly roundCount: number;
  readonly seed: number;
  readonly warmupMs: number;
  /** Measured time of one cell in one round. */
  readonly measuredMs: number;
  readonly thinkMsMax: number;
  /** Where the temporary folder of each cell is made. */
  readonly directory: string;
};

/** All rounds of one contender with one number of writers. */
export type Cell = {
  readonly contender: Contender;
  readonly writerCount: number;
  readonly figures: readonly Figure[];
  /** Why a round gave no figure; such a cell must not be read as a result. */
  readonly failures: readonly string[];
};

/** Runs the cells one after another. `onCell` hears each one before it starts. Bounded: a cell that hangs is ended and counts as failed. */
export async function runMatrix(plan: MatrixPlan, onCell: (text: string) => void): Promise<readonly Cell[]> {
  let directory: string | undefined;
  const removeDirectory = (): void => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', removeDirectory);
  const cells = plan.writerCounts.flatMap((writerCount) =>
    plan.contenders.map((contender) => ({ contender, writerCount, figures: new Array<Figure>(), failures: new Array<string>() })),
  );
  let doneCount = 0;
  for (let round = 0; round < plan.roundCount; round += 1) {
    for (const cell of round % 2 === 0 ? cells : cells.toReversed()) {
      doneCount += 1;
      onCell(
        `${doneCount}/${cells.length * plan.roundCount} ${cell.contender.name}, ${cell.writerCount} writers, round ${round + 1}`,
      );
      const { views, warmupMs, measuredMs, thinkMsMax } = plan;
      const cellPlan = { writerCount: cell.writerCount, views, seed: plan.seed + round, warmupMs, measuredMs, thinkMsMax };
      directory = mkdtempSync(join(plan.directory, 'oplus-bench-'));
      const answer = await runCell({ contender: cell.contender.name, plan: { ...cellPlan, directory } });
      removeDirectory();
      if (answer.kind === 'figure') cell.figures.push(answer.figure);
      else cell.failures.push(answer.hint === undefined ? answer.message : `${answer.message} (${answer.hint})`);
    }
  }
  process.off('exit', removeDirectory);
  return cells;
}

/** Time for starting servers, connecting and settling, beside warm-up and measuring. */
const OVERHEAD_MS_MAX = 60_000;
const END_MS_MAX = 5_000;

function runCell(order: CellOrder): Promise<CellAnswer> {
  const execArgv = [...process.execArgv, '--disable-warning=ExperimentalWarning'];
  const child = fork(cellFile(), { execArgv, serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const limitMs = order.plan.warmupMs + order.plan.measuredMs + OVERHEAD_MS_MAX;
  return new Promise((resolve) => {
    let answer: CellAnswer = { kind: 'failed', message: 'the process of the cell ended without an answer', hint: undefined };
    let killer: NodeJS.Timeout | undefined;
    const limit = setTimeout(() => {
      answer = { kind: 'failed', message: `no figure after ${limitMs} ms`, hint: undefined };
      child.kill('SIGTERM');
      killer = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
    }, limitMs);
    child.once('message', (message) => (answer = message as CellAnswer));
    child.once('exit', () => {
      clearTimeout(limit);
      clearTimeout(killer);
      resolve(answer);
    });
    child.send(order);
  });
}

/** Run from source or built, the cell is the file beside this one. */
function cellFile(): string {
  const own = fileURLToPath(import.meta.url);
  return join(own, '..', `cell${extname(own)}`);
}
