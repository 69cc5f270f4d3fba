/**
 * A seat: one agent of the team with its worker, playing events of the task.
 */
import type { Agent, Model, OpenEvent, StepResult, Task, TokenCounter, TraceSink } from '@oplus/agent';
import { agentOn } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import type { Blobs, Replica } from '@oplus/protocol';
import type { View, Worker } from '@oplus/worker';
import type { CommitOrder } from './commit-order.ts';
import type { Halt } from './halt.ts';

/** One agent at the table. */
export type Seat = {
  readonly name: string;
  readonly worker: Worker;
  /** True from when it proposes until the round that decides the proposal, or until the gate refuses it. The runner clears it after a round. */
  hasSpoken: boolean;
  /** Called when `hasSpoken` has changed from within. */
  onSpoken: () => void;
  /** Takes one event to its end: committed and acted, or stalled. */
  play(event: OpenEvent): Promise<StepResult>;
};

export type SeatOptions = {
  readonly task: Task;
  readonly worker: Worker;
  readonly model: Model;
  readonly tokens: TokenCounter;
  readonly blobs: Blobs;
  readonly trace: TraceSink;
  readonly replica: Replica;
  readonly order: CommitOrder;
  readonly halt: Halt;
  /** Passes of the agent are not sent: the runner says them when nothing else comes in the round. */
  readonly isPassHeld: boolean;
};

/** Puts an agent on a worker. Throws what `agentOn` throws. */
export function seatOn(options: SeatOptions): Seat {
  const { task, worker, replica, order, halt } = options;
  const { environment } = task;
  let current: OpenEvent | undefined;
  const agent: Agent = agentOn({
    skill: task.skill,
    actionFault: task.actionFault,
    repairsMax: REPAIRS_MAX,
    worker: heard(worker, options.isPassHeld, (hasSpoken) => {
      seat.hasSpoken = hasSpoken;
      seat.onSpoken();
    }),
    model: options.model,
    tokens: options.tokens,
    blobs: options.blobs,
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
    hasSpoken: false,
    onSpoken: () => undefined,
    play: async (event) => {
      current = event;
      try {
        await reached(replica, event.revisionMin);
        return await agent.step(event.observation, halt.signal);
      } catch (error) {
        order.abandon(worker.agent, error as Error);
        throw error;
      }
    },
  };
  return seat;
}

/** How often issues go back within one event: in a crowd somebody is faster more than once. */
const REPAIRS_MAX = 12;

/** The worker, with a word each time it proposes and each time it is refused at the gate. */
function heard(worker: Worker, isPassHeld: boolean, onSpoken: (hasSpoken: boolean) => void): Worker {
  const listening = (view: View): View => ({
    ...view,
    propose: async (draft) => {
      onSpoken(true);
      const answer = await view.propose(draft);
      if (answer.kind === 'refused') onSpoken(false);
      return answer;
    },
    ...(isPassHeld ? { pass: async () => undefined } : {}),
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

/** Resolves when the replica stands at that revision or later. Throws why it will never stand there. */
function reached(replica: Replica, revision: number): Promise<void> {
  if (replica.space().revision >= revision) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = replica.onChange((space, sealed) => {
      if (sealed !== undefined && space.revision < revision) return;
      end();
      if (space.revision >= revision) resolve();
      else reject(replica.failure() ?? new OplusError('TRANSPORT_CLOSED', `nobody leads ${space.name} any more`));
    });
  });
}
