/**
 * A run that leaves a folder: opens folder, stage, trace and team in this order, plays, folds the log again, and closes in the
 * opposite order.
 */
import { join } from 'node:path';
import { openTraceFile, o200kTokens } from '@oplus/agent';
import { emptyShard, OplusError } from '@oplus/core';
import { foldLogRecord } from '@oplus/protocol';
import type { Log } from '@oplus/protocol';
import { closings, exportLog, kept, openRunFolder, openStage, openTeam, runTask, TRACE_FILE, writeReport } from '@oplus/team';
import type { Closings, Progress, RunReport, RunResult, Stage } from '@oplus/team';
import type { RunSetup } from './run-setup.ts';

export type Recording = { readonly signal: AbortSignal; readonly onProgress: (progress: Progress) => void };

/**
 * Plays the run. The report is in the folder too, unless the run was stopped. Whatever goes wrong, the log is left readable: in
 * its file, or as an export. Throws what folder, stage, trace, team and model throw.
 */
export async function recordRun(setup: RunSetup, recording: Recording): Promise<RunReport> {
  const opened = closings();
  try {
    const stage = await openFolderAndStage(setup, opened);
    const report = await play(setup, recording, stage, opened);
    await opened.close();
    if (!report.aborted) await writeReport(setup.dir, report);
    return report;
  } catch (error) {
    await opened.close().catch(() => undefined); // The first error is the one that matters.
    throw error;
  }
}

async function openFolderAndStage({ dir, stage: options, file }: RunSetup, opened: Closings): Promise<Stage> {
  const folder = await openRunFolder(dir);
  let stage: Stage;
  try {
    stage = kept(await openStage(options), opened);
    if ((await stage.log.tail()) > 0) {
      throw new OplusError('USAGE', 'the folder already holds a log', {
        path: dir,
        hint: 'Choose another --dir: a run begins with an empty log.',
      });
    }
    await folder.describe({ ...file, ...(stage.address === undefined ? {} : { address: stage.address }) });
  } catch (error) {
    await opened.close().catch(() => undefined);
    await folder.release();
    throw error;
  }
  opened.add(() => exportLog(dir, stage.log));
  return stage;
}

async function play(setup: RunSetup, { signal, onProgress }: Recording, stage: Stage, opened: Closings): Promise<RunReport> {
  const { task, schema, token, file, dir } = setup;
  const { role } = task.skill;
  const trace = kept(await openTraceFile(join(dir, TRACE_FILE)), opened);
  const agents = task.plan.agents.map((name) => ({ name, role }));
  const team = kept(
    await openTeam({ stage, space: file.space, schema, agents, session: token, nonce: token, isBarrier: file.barrier }),
    opened,
  );
  const tokens = await o200kTokens();
  const result = await runTask({
    task,
    stage,
    team,
    modelOf: setup.modelOf,
    tokens,
    trace,
    isBarrier: file.barrier,
    signal,
    onProgress,
  });
  await team.leave();
  await team.close();
  const { revision, state } = team.replica.space();
  return reportOf(setup, stage, result, { revision, digest: state, replayDigest: await digestOf(stage.log, setup) });
}

function reportOf(
  { file, dir }: RunSetup,
  stage: Stage,
  { ruling, tally, isAborted }: RunResult,
  end: Pick<RunReport, 'revision' | 'digest' | 'replayDigest'>,
): RunReport {
  const { task, agents, steps, seed, routing, log, barrier, model } = file;
  const { score, events, solved, violations } = ruling;
  return {
    v: 1,
    ok: violations.length === 0 && end.digest === end.replayDigest && !isAborted,
    task,
    score: Math.round(score * 10_000) / 10_000,
    agents,
    steps,
    seed,
    routing,
    log,
    barrier,
    model,
    durability: stage.summary,
    events,
    solved,
    ...tally,
    ...end,
    violations: violations.length,
    violationList: violations.slice(0, VIOLATIONS_SHOWN),
    aborted: isAborted,
    dir,
  };
}

const VIOLATIONS_SHOWN = 20;

/** The state digest of a log folded again from its first record. */
async function digestOf(log: Log, { file, schema }: RunSetup): Promise<string> {
  let shard = emptyShard(new Map([[file.space, schema]]));
  for await (const record of log.read(1)) shard = foldLogRecord(shard, record).shard;
  const folded = shard.spaces.get(file.space);
  if (folded === undefined) throw new OplusError('INVARIANT', `the log holds no space called ${file.space}`);
  return folded.state;
}
