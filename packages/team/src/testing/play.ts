/**
 * A whole run on a stage, for tests: opens a team, plays a task, lets everybody leave, and gives back what the log holds.
 */
import type { Model, Task, TraceSink } from '@oplus/agent';
import { scriptedModel } from '@oplus/agent';
import { testTrace } from '@oplus/agent/testing';
import type { StateSchema } from '@oplus/core';
import { emptyShard } from '@oplus/core';
import { foldLogRecord } from '@oplus/protocol';
import type { LogReader } from '@oplus/protocol';
import { runTask } from '../run-task.ts';
import type { Progress, RunResult } from '../run-task.ts';
import type { Stage } from '../stage.ts';
import { openTeam } from '../team.ts';
import type { Team } from '../team.ts';

export type Play = {
  readonly stage: Stage;
  readonly task: Task;
  readonly schema: StateSchema;
  readonly isBarrier?: boolean;
  /** The task's own policy when left out. */
  readonly modelOf?: (agent: string) => Model;
  readonly trace?: TraceSink;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress, team: Team) => void;
  /** Changes the team that is played with. */
  readonly wrap?: (team: Team) => Team;
};

/** `led` is the state digest of the coordinator after everybody has left, `digest` that of the log folded again. */
export type Played = {
  readonly result: RunResult;
  readonly records: readonly string[];
  readonly led: string;
  readonly digest: string;
};

/** Plays to the end. Closes the team, and not the stage. Throws what `runTask` throws. */
export async function play(given: Play): Promise<Played> {
  const { stage, task, schema, isBarrier = false, signal } = given;
  const agents = task.plan.agents.map((name) => ({ name, role: task.skill.role }));
  const opened = await openTeam({ stage, space: SPACE, schema, agents, session: 'test', nonce: 'test', isBarrier });
  const team = given.wrap?.(opened) ?? opened;
  try {
    const result = await runTask({
      task,
      stage,
      team,
      modelOf: given.modelOf ?? (() => scriptOf(task)),
      tokens: { vocabulary: 'characters', count: (text) => text.length >> 2 },
      trace: given.trace ?? testTrace(),
      isBarrier,
      onProgress: (progress) => given.onProgress?.(progress, team),
      ...(signal === undefined ? {} : { signal }),
    });
    await team.leave();
    const led = team.replica.space().state;
    return { result, led, records: await recordsOf(stage.log), digest: await digestOf(stage.log, schema) };
  } finally {
    await opened.close();
  }
}

/** Name of the space that is played in. */
export const SPACE = 'test';

/** The model that follows the task's policy. */
export function scriptOf(task: Task): Model {
  return scriptedModel(({ state, observation, issues }) => task.policy({ view: state, observation, issues }));
}

/** The bodies of a log. */
export async function recordsOf(log: Pick<LogReader, 'read'>): Promise<readonly string[]> {
  const records: string[] = [];
  for await (const { body } of log.read(1)) records.push(body);
  return records;
}

/** The state digest of a log, folded from its first record. */
export async function digestOf(log: Pick<LogReader, 'read'>, schema: StateSchema): Promise<string> {
  let shard = emptyShard(new Map([[SPACE, schema]]));
  for await (const record of log.read(1)) shard = foldLogRecord(shard, record).shard;
  return shard.spaces.get(SPACE)?.state ?? '';
}
