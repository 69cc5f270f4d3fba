import type { Model, Task } from '@oplus/agent';
import { testTrace } from '@oplus/agent/testing';
import { openCoordinator } from '@oplus/coordinator';
import { OplusError, loadState } from '@oplus/core';
import type { StateDefinition } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import type { Log } from '@oplus/protocol';
import { ROUTINGS, warehouse, warehouseState } from '@oplus/skill-warehouse';
import { memoryBus } from '@oplus/transport-memory';
import { describe, expect, test } from 'vitest';
import { CHANNEL } from './run-broker.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';
import type { Team } from './team.ts';
import { failing, hesitant } from './testing/models.ts';
import { digestOf, play, recordsOf, scriptOf, SPACE } from './testing/play.ts';
import type { Play, Played } from './testing/play.ts';

const schema = loadState(warehouseState as unknown as StateDefinition, sha256);

function taskFor(agents: number, steps: number, routing = 'shared', seed = 42): Task {
  return warehouse({ agents: Array.from({ length: agents }, (_, i) => `w${i + 1}`), seed, steps, routing });
}

/** Plays in memory; `use` sees the stage before and after. */
async function playOn(
  task: Task,
  over: Partial<Play> & { readonly stageOf?: (stage: Stage) => Stage } = {},
): Promise<Played & { readonly stage: Stage }> {
  const opened = await openStage({ kind: 'memory' });
  const stage = over.stageOf?.(opened) ?? opened;
  try {
    return { stage, ...(await play({ stage, task, schema, ...over })) };
  } finally {
    await opened.close();
  }
}

describe.each(ROUTINGS)('%s', (routing) => {
  test.each([1, 4, 16])(
    '[TM14] %i agents solve everything, violate nothing, and the log folds to the same state',
    async (agents) => {
      for (const seed of [42, 43, 44, 45, 46]) {
        const steps = 12 + agents * 2;
        const { result, digest } = await playOn(taskFor(agents, steps, routing, seed));
        const { ruling, tally, space, isAborted } = result;
        expect({ seed, ...ruling }).toMatchObject({
          seed,
          score: 1,
          events: steps,
          solved: steps,
          stalled: 0,
          invalid: 0,
          violations: [],
        });
        expect(tally).toMatchObject({ committed: steps, stalled: 0, proposals: steps + tally.rejected });
        expect(isAborted).toBe(false);
        expect(digest).not.toBe('');
        // Leaving is in the log too: the agents change, the fields do not.
        expect(space.revision).toBeGreaterThan(0);
      }
    },
  );
});

test('[TM15] whoever is idle gets the next event while others think', async () => {
  const task = taskFor(2, 20);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script = scriptOf(task);
  const slow: Model = { id: 'slow', complete: async (request) => (await held, script.complete(request)) };
  const behind: number[] = [];
  const wrap = (team: Team): Team => {
    team.replica.onChange((_, sealed) => {
      for (const { admitted, verdict } of sealed?.decided ?? []) {
        if (admitted.proposal.agent === 'w1') behind.push(verdict.revision - admitted.proposal.base.revision);
      }
    });
    return team;
  };
  const { result } = await playOn(task, {
    wrap,
    modelOf: (agent) => (agent === 'w1' ? slow : script),
    onProgress: ({ steps }) => steps === 19 && release(),
  });
  expect(result.ruling).toMatchObject({ score: 1, violations: [] });
  // The view of the slow one was made before nineteen others committed.
  expect(behind[0]).toBeGreaterThan(19);
});

describe('ends before the end', () => {
  test('[TM20] a stopped run begins nothing new, and leaves state and world alike and a log that can be read', async () => {
    const controller = new AbortController();
    const task = taskFor(6, 400);
    const { result, led, digest } = await playOn(task, {
      modelOf: () => hesitant(scriptOf(task)),
      signal: controller.signal,
      onProgress: ({ steps }) => steps === 11 && controller.abort(new Error('enough')),
    });
    expect(result.isAborted).toBe(true);
    expect(result.ruling.violations).toEqual([]);
    expect(result.ruling.events).toBeGreaterThanOrEqual(11);
    expect(result.ruling.events).toBeLessThanOrEqual(11 + 6);
    expect(result.tally.committed).toBe(result.ruling.actions);
    expect(digest).toBe(led);
  });

  test('[TM20] a run that was stopped before it began does nothing, and one that is over was not stopped', async () => {
    const early = new AbortController();
    early.abort(new Error('never mind'));
    const { result } = await playOn(taskFor(3, 9), { signal: early.signal });
    expect(result).toMatchObject({ isAborted: true, tally: { proposals: 0 }, ruling: { events: 0, violations: [] } });
    const late = new AbortController();
    const done = await playOn(taskFor(3, 9), {
      signal: late.signal,
      onProgress: ({ steps }) => steps === 9 && late.abort(new Error('late')),
    });
    expect(done.result).toMatchObject({ isAborted: false, ruling: { events: 9, score: 1 } });
  });

  test.each([false, true])(
    '[TM21] a model that fails ends the run with its error, after the others are through (barrier %s)',
    async (isBarrier) => {
      const task = taskFor(5, 200);
      const error = new OplusError('MODEL_UNREACHABLE', 'the model is gone');
      const opened = await openStage({ kind: 'memory' });
      const fails = failing(scriptOf(task), 6, error);
      const running = play({
        stage: opened,
        task,
        schema,
        isBarrier,
        modelOf: (agent) => (agent === 'w3' ? fails : hesitant(scriptOf(task))),
      });
      await expect(running).rejects.toBe(error);
      const { actions, events } = task.environment.tally();
      const committed = (await recordsOf(opened.log)).join('').match(/"kind":"committed"/g)?.length ?? 0;
      expect(actions).toBe(committed);
      expect(events).toBe(actions);
      expect(await digestOf(opened.log, schema)).not.toBe('');
      await opened.close();
    },
  );

  test.each([false, true])(
    '[TM21] a trace that cannot be written ends the run, also between a commit and its action (barrier %s)',
    async (isBarrier) => {
      for (const failAt of [1, 2, 3, 8, 9, 10, 17]) {
        const trace = testTrace(failAt);
        await expect(playOn(taskFor(4, 60), { trace, isBarrier })).rejects.toThrow('the trace cannot be written');
        expect(trace.events).toHaveLength(failAt - 1);
      }
    },
  );

  const limited = (log: Log, recordsMax: number): Log => ({
    durability: log.durability,
    tail: () => log.tail(),
    read: (from) => log.read(from),
    close: () => log.close(),
    append: async (tail, body) => {
      if (tail >= recordsMax) throw new OplusError('LOG_FULL', 'there is no room');
      return log.append(tail, body);
    },
  });

  test.each([false, true])('[TM22] a full log ends the run with LOG_FULL (barrier %s)', async (isBarrier) => {
    for (const recordsMax of [4, 7, 12]) {
      const task = taskFor(4, 100);
      const stageOf = (stage: Stage): Stage => ({ ...stage, log: limited(stage.log, recordsMax) });
      await expect(playOn(task, { isBarrier, stageOf })).rejects.toMatchObject({ code: 'LOG_FULL', message: 'there is no room' });
    }
  });

  test('[TM22] another coordinator that takes the lead ends the run with FENCED', async () => {
    const stage = await openStage({ kind: 'memory' });
    const task = taskFor(4, 1000);
    const later: Promise<unknown>[] = [];
    const running = play({
      stage,
      task,
      schema,
      onProgress: ({ steps }) => {
        if (steps !== 8) return;
        const schemas = new Map([[SPACE, schema]]);
        later.push(
          openCoordinator({ log: stage.log, bus: memoryBus(), clock: stage.clock, channel: CHANNEL, schemas }).then((one) =>
            one.close(),
          ),
        );
      },
    });
    await expect(running).rejects.toMatchObject({ code: 'FENCED' });
    await Promise.all(later);
    expect(await digestOf(stage.log, schema)).not.toBe('');
    await stage.close();
  });

  test('[TM22] a coordinator that ends does not wait for a model that hears nothing', async () => {
    const task = taskFor(2, 100);
    const deaf: Model = { id: 'deaf', complete: () => new Promise(() => undefined) };
    const stageOf = (stage: Stage): Stage => ({ ...stage, log: limited(stage.log, 9) });
    const running = playOn(task, { stageOf, modelOf: (agent) => (agent === 'w1' ? deaf : scriptOf(task)) });
    await expect(running).rejects.toMatchObject({ code: 'LOG_FULL' });
  });

  test('[TM22] a team that is closed during a run says so', async () => {
    const running = playOn(taskFor(3, 200), { onProgress: ({ steps }, team) => void (steps === 6 && team.close()) });
    await expect(running).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  });
});
