/**
 * Runs a team on a task: hands events to idle agents, lets each one step, carries committed actions out in the order of the
 * log, and lets the task judge at the end.
 *
 * Free-running, an idle agent gets the next event while others still think, so bases go stale. In barrier mode all agents
 * move in rounds: nobody is given anything before everybody has spoken, so the same seed gives the same log, byte for byte.
 */
import type { Agent, Environment, Model, OpenEvent, Ruling, StepResult, Task, TokenCounter, TraceSink } from '@oplus/agent';
import { agentOn } from '@oplus/agent';
import type { Space } from '@oplus/core';
import type { Replica } from '@oplus/protocol';
import type { View, Worker } from '@oplus/worker';
import { commitOrder } from './commit-order.ts';
import type { CommitOrder } from './commit-order.ts';
import { lockstep } from './lockstep.ts';
import type { Stage } from './stage.ts';
import { tallyOf } from './tally.ts';
import type { RunTally } from './tally.ts';
import type { Team } from './team.ts';

export type RunOptions = {
  readonly task: Task;
  readonly stage: Stage;
  readonly team: Team;
  /** The model of each agent, by name. */
  readonly modelOf: (agent: string) => Model;
  readonly tokens: TokenCounter;
  readonly trace: TraceSink;
  readonly isBarrier: boolean;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
};

export type Progress = { readonly steps: number; readonly stepsTotal: number; readonly revision: number; readonly committed: number; readonly rejected: number };

export type RunResult = { readonly ruling: Ruling; readonly tally: RunTally; readonly space: Space; readonly isAborted: boolean };

/** Runs until the task is over or the signal aborts; then every worker leaves. Throws what agents, log and bus throw. */
export async function runTask(options: RunOptions): Promise<RunResult> {
  const { task, team, isBarrier, signal } = options;
  const { environment, plan } = task;
  const tally = tallyOf(team.replica);
  const order = commitOrder(team.replica);
  const seats = team.workers.map((worker) => seatOf(options, environment, order, worker));
  let stepCount = 0;
  const report = (): void => {
    const { committed, rejected } = tally.read();
    options.onProgress?.({ steps: stepCount, stepsTotal: plan.steps, revision: team.replica.space().revision, committed, rejected });
  };
  const finish = (event: OpenEvent, result: StepResult): void => {
    tally.step(result);
    environment.done(event, result.outcome === 'stalled' ? 'stalled' : 'acted');
    stepCount += 1;
    report();
  };
  try {
    if (isBarrier) await lockstep({ seats, environment, replica: team.replica, clock: options.stage.clock, finish, signal });
    else await freeRun({ seats, environment, finish, signal });
    return { ruling: task.judge(team.replica.space()), tally: tally.read(), space: team.replica.space(), isAborted: signal?.aborted === true };
  } finally {
    order.close();
    tally.close();
  }
}

/** How often issues go back within one event: in a crowd somebody is faster more than once. */
const REPAIRS_MAX = 12;

/** One agent at the table. */
export type Seat = {
  readonly name: string;
  readonly worker: Worker;
  /** Newest revision on which this agent has proposed, -1 before the first. */
  spokenAt: number;
  /** Called when it has proposed. */
  onSpoken: () => void;
  /** Takes one event to its end: committed and acted, or stalled. */
  play(event: OpenEvent): Promise<StepResult>;
};

export type Finish = (event: OpenEvent, result: StepResult) => void;

type FreeRun = {
  readonly seats: readonly Seat[];
  readonly environment: Environment;
  readonly finish: Finish;
  readonly signal: AbortSignal | undefined;
};

function freeRun({ seats, environment, finish, signal }: FreeRun): Promise<void> {
  return new Promise((resolve, reject) => {
    const idle = new Set(seats.map((seat) => seat.name));
    let playing = 0;
    let failure: unknown;
    const deal = (): void => {
      if (failure === undefined && signal?.aborted !== true && !environment.isOver()) {
        for (const event of environment.assign([...idle])) start(event);
      }
      if (playing > 0) return;
      if (failure === undefined) resolve();
      else reject(failure as Error);
    };
    const start = (event: OpenEvent): void => {
      const seat = seats.find(({ name }) => name === event.agent) as Seat;
      idle.delete(seat.name);
      playing += 1;
      seat
        .play(event)
        .then((result) => finish(event, result))
        .catch((error: unknown) => {
          if (signal?.aborted !== true) failure ??= error;
        })
        .finally(() => {
          playing -= 1;
          idle.add(seat.name);
          deal();
        });
    };
    deal();
  });
}

function seatOf(options: RunOptions, environment: Environment, order: CommitOrder, worker: Worker): Seat {
  let current: OpenEvent | undefined;
  const agent: Agent = agentOn({
    skill: options.task.skill,
    actionFault: options.task.actionFault,
    repairsMax: REPAIRS_MAX,
    worker: heard(worker, (revision) => {
      seat.spokenAt = revision;
      seat.onSpoken();
    }),
    model: options.modelOf(worker.agent),
    tokens: options.tokens,
    blobs: options.stage.blobs,
    trace: options.trace,
    actuator: {
      act: (action, key) =>
        order.run(key, (revision) => {
          const { ok, text } = environment.act(current as OpenEvent, action, revision);
          return { kind: ok ? 'done' : 'failed', observation: text };
        }),
    },
  });
  const seat: Seat = {
    name: worker.agent,
    worker,
    spokenAt: -1,
    onSpoken: () => undefined,
    play: async (event) => {
      current = event;
      await reached(options.team.replica, event.revisionMin);
      return agent.step(event.observation, options.signal);
    },
  };
  return seat;
}

/** The worker, with a word each time it proposes. */
function heard(worker: Worker, onProposed: (revision: number) => void): Worker {
  const listening = (view: View): View => ({
    ...view,
    propose: (draft) => {
      const answer = view.propose(draft);
      onProposed(view.space.revision);
      return answer;
    },
  });
  return {
    agent: worker.agent,
    role: worker.role,
    view: async () => listening(await worker.view()),
    newest: () => listening(worker.newest()),
    viewAfter: async (view) => listening(await worker.viewAfter(view)),
    leave: () => worker.leave(),
    close: () => worker.close(),
  };
}

/** Resolves when the replica stands at that revision or later. */
export function reached(replica: Replica, revision: number): Promise<void> {
  if (replica.space().revision >= revision) return Promise.resolve();
  return new Promise((resolve) => {
    const end = replica.onChange((space) => {
      if (space.revision < revision) return;
      end();
      resolve();
    });
  });
}
