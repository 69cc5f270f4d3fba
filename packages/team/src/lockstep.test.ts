import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model, Task } from '@oplus/agent';
import { sayDecision } from '@oplus/agent';
import { OplusError, loadState } from '@oplus/core';
import type { StateDefinition } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { ROUTINGS, warehouse, warehouseState } from '@oplus/skill-warehouse';
import type { View, Worker } from '@oplus/worker';
import { expect, test } from 'vitest';
import { openStage } from './stage.ts';
import type { StageOptions } from './stage.ts';
import type { Team } from './team.ts';
import { forgetful, hesitant } from './testing/models.ts';
import { play, scriptOf } from './testing/play.ts';
import type { Play, Played } from './testing/play.ts';
import { withEnvironment } from './testing/tasks.ts';

const schema = loadState(warehouseState as unknown as StateDefinition, sha256);

function taskFor(agents: number, steps: number, routing: string, seed = 42): Task {
  return warehouse({ agents: Array.from({ length: agents }, (_, i) => `w${i + 1}`), seed, steps, routing });
}

/** Plays in barrier mode on a stage of its own. */
async function playOn(options: StageOptions, task: Task, over: Partial<Play> = {}): Promise<Played> {
  const stage = await openStage(options);
  try {
    return await play({ stage, task, schema, isBarrier: true, ...over });
  } finally {
    await stage.close();
  }
}

async function inFolder<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-lockstep-'));
  try {
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

test.each(ROUTINGS)(
  '[TM10] %s: the same seed gives the same log, twice in memory and once in SQLite, however long models think',
  async (routing) => {
    const plain = await playOn({ kind: 'memory' }, taskFor(4, 24, routing));
    expect(plain.result.ruling).toMatchObject({ score: 1, violations: [] });
    const task = taskFor(4, 24, routing);
    const hesitating = await playOn({ kind: 'memory' }, task, { modelOf: () => hesitant(scriptOf(task)) });
    expect(hesitating.records).toEqual(plain.records);
    const stored = await inFolder((dir) => playOn({ kind: 'sqlite', dir }, taskFor(4, 24, routing)));
    expect(stored.records).toEqual(plain.records);
    expect((await playOn({ kind: 'memory' }, taskFor(4, 24, routing, 43))).records).not.toEqual(plain.records);
  },
);

test('[TM10] in a round everybody proposes on the same revision', async () => {
  const bases = new Map<number, Set<number>>();
  const wrap = (team: Team): Team => {
    team.replica.onChange((_, sealed) => {
      for (const { admitted } of sealed?.decided ?? []) {
        bases.set(sealed?.revision ?? 0, (bases.get(sealed?.revision ?? 0) ?? new Set()).add(admitted.proposal.base.revision));
      }
    });
    return team;
  };
  const { result } = await playOn({ kind: 'memory' }, taskFor(4, 24, 'shared'), { wrap });
  for (const [revision, read] of bases) expect([...read]).toEqual([revision - 1]);
  expect(result.tally.concurrent).toBeGreaterThan(5);
});

test.each([1, 4, 8])('[TM11] with %i agents that give up or have nothing to say, runs end and stay the same', async (agents) => {
  const forgetting =
    (task: Task, slow: boolean) =>
    (agent: string): Model =>
      slow ? hesitant(forgetful(scriptOf(task), agent)) : forgetful(scriptOf(task), agent);
  const [one, two] = [taskFor(agents, 32, 'shared'), taskFor(agents, 32, 'shared')];
  const plain = await playOn({ kind: 'memory' }, one, { modelOf: forgetting(one, false) });
  expect(plain.result.ruling).toMatchObject({ events: 32, violations: [] });
  expect(plain.result.tally.stalled).toBeGreaterThan(0);
  const slow = await playOn({ kind: 'memory' }, two, { modelOf: forgetting(two, true) });
  expect(slow.records).toEqual(plain.records);
});

test('[TM11] a team in which nobody has anything to say comes to its end', async () => {
  const silent: Model = {
    id: 'silent',
    complete: async () => ({ text: sayDecision({ patch: {}, action: null }), form: 'fenced', finish: 'stop' }),
  };
  const { result } = await playOn({ kind: 'memory' }, taskFor(4, 20, 'shared'), { modelOf: () => silent });
  expect(result.ruling).toMatchObject({ events: 20, solved: 0, violations: [] });
  expect(result.tally).toMatchObject({ proposals: 0, repaired: 0, stalled: 0 });
});

test('[TM12] a proposal that the gate refuses was never said: its agent speaks again in the same round, or gives up', async () => {
  const refused = {
    kind: 'refused',
    issues: [{ path: '', code: 'too_large', rule: 'gate', recovery: 'change', hint: 'Too large.' }],
  } as const;
  const refusing = (worker: Worker, isRefused: () => boolean): Worker => {
    const wrap = (view: View): View => ({ ...view, propose: async (draft) => (isRefused() ? refused : view.propose(draft)) });
    return {
      agent: worker.agent,
      role: worker.role,
      view: async () => wrap(await worker.view()),
      newest: () => wrap(worker.newest()),
      viewAfter: async (view) => wrap(await worker.viewAfter(view)),
      leave: () => worker.leave(),
      close: () => worker.close(),
    };
  };
  let count = 0;
  const wrap = (team: Team): Team => ({
    ...team,
    workers: team.workers.map((worker) => {
      if (worker.agent === 'w2') return refusing(worker, () => true);
      return refusing(worker, () => {
        count += 1;
        return count % 3 === 0;
      });
    }),
  });
  const { result } = await playOn({ kind: 'memory' }, taskFor(3, 18, 'disjoint'), { wrap });
  expect(result.ruling).toMatchObject({ events: 18, solved: 12, stalled: 6, violations: [] });
  expect(result.tally).toMatchObject({ proposals: 12, committed: 12, stalled: 6 });
});

test('[TM13] stopped in the middle, a round is seen through and nothing new begins', async () => {
  const controller = new AbortController();
  const task = taskFor(4, 400, 'shared');
  const { result, led, digest } = await playOn({ kind: 'memory' }, task, {
    modelOf: () => hesitant(scriptOf(task)),
    signal: controller.signal,
    onProgress: ({ steps }) => steps === 9 && controller.abort(new OplusError('TRANSPORT_CLOSED', 'enough')),
  });
  expect(result.isAborted).toBe(true);
  expect(result.ruling.violations).toEqual([]);
  expect(result.ruling.events).toBeLessThan(40);
  expect(result.tally.committed).toBe(result.ruling.actions);
  expect(digest).toBe(led);
});

test.each(['assign', 'done'] as const)(
  '[TM16] a task that throws in %s ends the run with its error, after the others are through',
  async (call) => {
    const task = withEnvironment(taskFor(3, 30, 'shared'), (environment) => {
      let count = 0;
      const throwing =
        <T extends readonly unknown[], R>(does: (...args: T) => R): ((...args: T) => R) =>
        (...args) => {
          count += 1;
          if (count === 5) throw new Error('the task fails');
          return does(...args);
        };
      return { [call]: throwing(environment[call] as (...args: readonly unknown[]) => unknown) };
    });
    await expect(playOn({ kind: 'memory' }, task)).rejects.toThrow('the task fails');
  },
);

test('[TM16] a task that is not over and gives nobody an event is a mistake, and told', async () => {
  const task = withEnvironment(taskFor(3, 30, 'shared'), ({ assign }) => {
    let dealt = 0;
    return {
      assign: (idle) => {
        dealt += 1;
        return dealt > 4 ? [] : assign(idle);
      },
    };
  });
  await expect(playOn({ kind: 'memory' }, task)).rejects.toMatchObject({ code: 'INVARIANT' });
});
