/**
 * `oplus run <skill>`: a team on a task, from an empty log to a judged end.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Model, Task } from '@oplus/agent';
import { openTraceFile, o200kTokens, scriptedModel } from '@oplus/agent';
import { emptyShard, foldRecord, loadState, OplusError } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import { modelFromName } from '@oplus/model-openai';
import { sha256 } from '@oplus/protocol';
import type { Log } from '@oplus/protocol';
import { createRunFolder, exportLog, openStage, openTeam, runTask, TRACE_FILE, writeReport } from '@oplus/team';
import type { Progress, RunReport, Stage } from '@oplus/team';
import { taskOf } from '../catalogue.ts';
import { EXIT_FINDING } from '../failure.ts';
import { RUNS } from '../history.ts';
import type { Terminal } from '../terminal.ts';
import { thinking } from '../thinking.ts';

export type RunCommandOptions = {
  readonly agents: number;
  readonly steps: number;
  readonly seed: number;
  readonly routing: string;
  readonly log: 'memory' | 'sqlite' | 'nats';
  readonly natsUrl?: string;
  readonly dir?: string;
  readonly barrier: boolean;
  readonly model: string;
};

export async function runCommand(terminal: Terminal, name: string, options: RunCommandOptions, signal: AbortSignal): Promise<number> {
  const { setup, definition } = taskOf(name);
  const schema = loadState(definition, sha256);
  const names = Array.from({ length: options.agents }, (_, i) => `w${i + 1}`);
  const plan = { agents: names, seed: options.seed, steps: options.steps, routing: options.routing };
  const task = setup(plan);
  const modelOf = modelsFor(task, options);
  const token = options.barrier ? `${name}-${options.seed}` : randomBytes(8).toString('hex');
  const dir = options.dir ?? join(RUNS, `${name}-${options.seed}-${randomBytes(4).toString('hex')}`);
  const space = name;
  await createRunFolder(dir, {
    v: 1,
    task: name,
    agents: options.agents,
    steps: options.steps,
    seed: options.seed,
    routing: options.routing,
    log: options.log,
    barrier: options.barrier,
    model: options.model,
    space,
    schema: schema.digest,
  });
  const stage = await openStage(
    options.log === 'nats'
      ? { kind: 'nats', dir, namespace: `oplus_${randomBytes(6).toString('hex')}`, ...(options.natsUrl === undefined ? {} : { url: options.natsUrl }) }
      : options.log === 'sqlite'
        ? { kind: 'sqlite', dir }
        : { kind: 'memory' },
  );
  let report: RunReport;
  try {
    const trace = await openTraceFile(join(dir, TRACE_FILE));
    try {
      const team = await openTeam({
        stage,
        space,
        schema,
        agents: names.map((agent) => ({ name: agent, role: task.skill.role })),
        session: token,
        nonce: token,
        isBarrier: options.barrier,
      });
      try {
        const lost = team.coordinator.ended.then((error) => {
          if (error !== undefined) throw error;
          return new Promise<never>(() => undefined);
        });
        const result = await Promise.race([
          runTask({
            task,
            stage,
            team,
            modelOf,
            tokens: await o200kTokens(),
            trace,
            isBarrier: options.barrier,
            signal,
            onProgress: (progress) => terminal.progress(progressLine(progress)),
          }),
          lost,
        ]);
        await Promise.race([Promise.all(team.workers.map((worker) => worker.leave())), lost]);
        await team.close();
        const { ruling, tally } = result;
        const led = team.replica.space();
        const replayDigest = await digestOf(stage.log, space, schema);
        report = {
          ok: ruling.violations.length === 0 && replayDigest === led.state && !result.isAborted,
          task: name,
          score: Math.round(ruling.score * 10_000) / 10_000,
          agents: options.agents,
          steps: options.steps,
          seed: options.seed,
          routing: options.routing,
          log: options.log,
          barrier: options.barrier,
          model: options.model,
          durability: stage.summary,
          events: ruling.events,
          solved: ruling.solved,
          ...tally,
          revision: led.revision,
          digest: led.state,
          replayDigest,
          violations: ruling.violations.length,
          violationList: ruling.violations.slice(0, 20),
          aborted: result.isAborted,
          dir,
        };
      } finally {
        await team.close();
      }
    } finally {
      await trace.close();
    }
    await exportLog(dir, stage.log);
  } finally {
    await stage.close();
  }
  if (!report.aborted) await writeReport(dir, report);
  terminal.progressEnd();
  if (terminal.isJson) terminal.json(report);
  else writeSummary(terminal, report, stage);
  return report.ok ? 0 : EXIT_FINDING;
}

function modelsFor(task: Task, options: RunCommandOptions): (agent: string) => Model {
  if (options.model === 'scripted') {
    const scripted = scriptedModel(({ state, observation, issues }) => task.policy({ view: state, observation, issues }));
    return options.barrier ? () => scripted : (agent) => thinking(scripted, options.seed, agent);
  }
  const model = modelFromName(options.model);
  return () => model;
}

/** The state digest of a log folded again from its first record. */
async function digestOf(log: Log, space: string, schema: StateSchema): Promise<string> {
  let shard = emptyShard(new Map([[space, schema]]));
  for await (const { index, body } of log.read(1)) shard = foldRecord(shard, index, body).shard;
  const folded = shard.spaces.get(space);
  if (folded === undefined) throw new OplusError('INVARIANT', `the log holds no space called ${space}`);
  return folded.state;
}

function progressLine({ steps, stepsTotal, revision, committed, rejected }: Progress): string {
  const width = 24;
  const done = Math.round((steps / stepsTotal) * width);
  return `${'█'.repeat(done)}${'░'.repeat(width - done)} ${steps}/${stepsTotal} steps  r${revision}  ${committed} committed  ${rejected} rejected`;
}

function writeSummary(terminal: Terminal, report: RunReport, stage: Stage): void {
  const { colour } = terminal;
  const { tokens } = report;
  const isReplayEqual = report.replayDigest === report.digest;
  const line = (label: string, text: string): void => terminal.out(`${colour.dim(label.padEnd(16))}${text}`);
  terminal.out(`${colour.bold(report.task)}  ${report.agents} agents, ${report.steps} steps, seed ${report.seed}, routing ${report.routing}${report.barrier ? ', barrier' : ''}, model ${report.model}`);
  line('log', stage.summary);
  line('score', `${report.score.toFixed(2)}  (${report.solved} of ${report.steps} events)`);
  line('proposals', `${report.proposals}: ${report.committed} committed, ${report.rejected} rejected; ${report.repaired} steps repaired, ${report.stalled} stalled`);
  line('merged', `${report.concurrent} committed beside others that they had not seen`);
  line('tokens a step', `${tokens.perStepMean} mean, ${tokens.perStepMax} max; ${tokens.perEventMean} an event with its repairs; ${tokens.total} in all`);
  line('revision', `r${report.revision}`);
  line('digest', report.digest);
  line('replay', isReplayEqual ? colour.green('equal') : colour.red(`differs: ${report.replayDigest}`));
  line('violations', report.violations === 0 ? colour.green('none') : colour.red(String(report.violations)));
  for (const violation of report.violationList) terminal.out(`  ${colour.red('-')} ${violation}`);
  line('files', report.dir);
  if (report.aborted) terminal.out(colour.yellow('stopped before the end; what was committed is in the log'));
}
