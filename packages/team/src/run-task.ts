/**
 * Runs a team on a task: hands events to idle agents, lets each one step, carries committed actions out in the order of the
 * log, and lets the task judge at the end.
 *
 * Free-running, an idle agent gets the next event while others still think, so bases go stale. In barrier mode all agents
 * move in rounds, so the same seed gives the same log, byte for byte.
 */
import type { Model, OpenEvent, Ruling, StepResult, Task, TokenCounter, TraceSink } from '@oplus/agent';
import type { Space } from '@oplus/core';
import { OplusError } from '@oplus/core';
import { commitOrder } from './commit-order.ts';
import { freeRun } from './free-run.ts';
import { haltOn } from './halt.ts';
import { lockstep } from './lockstep.ts';
import { seatOn } from './seat.ts';
import type { Stage } from './stage.ts';
import { tallyOf } from './tally.ts';
import type { RunTally } from './tally.ts';
import type { Team } from './team.ts';

export type RunOptions = {
  readonly task: Task;
  readonly stage: Pick<Stage, 'blobs' | 'lost'>;
  readonly team: Team;
  /** The model of each agent, by name. */
  readonly modelOf: (agent: string) => Model;
  readonly tokens: TokenCounter;
  readonly trace: TraceSink;
  /** As the team was opened. */
  readonly isBarrier: boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** Stops the run: no new event, no new proposal; what was proposed is decided, and acted out when committed. */
  readonly signal?: AbortSignal;
};

/** `steps` counts closed events, of `stepsTotal` in the plan. */
export type Progress = {
  readonly steps: number;
  readonly stepsTotal: number;
  readonly revision: number;
  readonly committed: number;
  readonly rejected: number;
};

/** `isAborted`: the signal came before the task was over. */
export type RunResult = {
  readonly ruling: Ruling;
  readonly tally: RunTally;
  readonly space: Space;
  readonly isAborted: boolean;
};

/**
 * Runs until the task is over or the signal aborts, and nobody is at work any more. Throws the first thing that agents, bus or
 * trace throw, after the others have been seen through; what ends the coordinator or the stage (`LOG_FULL`, `FENCED` ...) at once.
 */
export async function runTask(options: RunOptions): Promise<RunResult> {
  const { task, team, isBarrier, signal } = options;
  const { environment, plan } = task;
  const { replica } = team;
  const halt = haltOn(signal);
  const tally = tallyOf(replica);
  const order = commitOrder(replica);
  let stepCount = 0;
  const finish = (event: OpenEvent, result: StepResult): void => {
    tally.step(result);
    environment.done(event, result.outcome === 'stalled' ? 'stalled' : 'acted');
    stepCount += 1;
    const { committed, rejected } = tally.read();
    options.onProgress?.({ steps: stepCount, stepsTotal: plan.steps, revision: replica.space().revision, committed, rejected });
  };
  const ended = team.coordinator.ended.then(
    (error) => error ?? new OplusError('TRANSPORT_CLOSED', 'the coordinator was closed during the run'),
  );
  const lost = Promise.race([ended, options.stage.lost]).then(halt.fail);
  try {
    const seats = team.workers.map((worker) =>
      seatOn({
        task,
        worker,
        model: options.modelOf(worker.agent),
        tokens: options.tokens,
        blobs: options.stage.blobs,
        trace: options.trace,
        replica,
        order,
        halt,
        isPassHeld: isBarrier,
      }),
    );
    const table = { seats, environment, finish, halt };
    await Promise.race([isBarrier ? lockstep({ ...table, replica }) : freeRun(table), lost]);
    if (halt.hasFailed()) throw halt.failure();
    const isAborted = signal?.aborted === true && !environment.isOver();
    return { ruling: task.judge(replica.space()), tally: tally.read(), space: replica.space(), isAborted };
  } finally {
    order.close();
    tally.close();
  }
}
