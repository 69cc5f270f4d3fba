/**
 * The log of a finished run, folded again: round after round, each checked against what the log says.
 */
import { join } from 'node:path';
import { emptyShard, foldRecord, loadState, OplusError } from '@oplus/core';
import type { Sealed, Space, StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { newestRun, openRunLog, readRunFile } from '@oplus/team';
import type { RunFile } from '@oplus/team';
import { taskOf } from './catalogue.ts';

/** Where runs go when no folder is named. */
export const RUNS = 'runs';

export type History = {
  readonly dir: string;
  readonly run: RunFile;
  readonly schema: StateSchema;
  /** Every round in order, `before` being the state it was sealed on. Throws `LOG_DAMAGED` or `LOG_DIVERGED` where the log stops being sound. */
  rounds(): AsyncGenerator<{ readonly before: Space; readonly sealed: Sealed }>;
  /** The state at a revision, or the newest. Throws `USAGE` when the log does not reach that far. */
  at(revision: number | undefined): Promise<Space>;
  /** Records that the void rule skips. Known once `rounds` has ended. */
  voidCount(): number;
};

/** Opens the run in `dir`, or the newest one. Throws `USAGE` when there is none, `SCHEMA_INVALID` when the skill has changed since. */
export async function openHistory(dir: string | undefined): Promise<History> {
  const folder = dir ?? (await newestRun(RUNS));
  if (folder === undefined) throw new OplusError('USAGE', 'there is no run yet', { path: join(process.cwd(), RUNS), hint: 'Make one with: oplus run warehouse' });
  const run = await readRunFile(folder);
  const schema = loadState(taskOf(run.task).definition, sha256);
  if (schema.digest !== run.schema) {
    throw new OplusError('SCHEMA_INVALID', `the run was made with another version of ${run.task}`, {
      path: folder,
      hint: `It has schema ${run.schema.slice(0, 16)}, this is ${schema.id}. Use the version of the skill that made it.`,
    });
  }
  let voids = 0;

  async function* rounds(): AsyncGenerator<{ readonly before: Space; readonly sealed: Sealed }> {
    const log = await openRunLog(folder as string);
    try {
      let shard = emptyShard(new Map([[run.space, schema]]));
      voids = 0;
      for await (const { index, body } of log.read(1)) {
        const before = shard.spaces.get(run.space) as Space;
        const folded = foldRecord(shard, index, body);
        shard = folded.shard;
        if (folded.kind === 'void') voids += 1;
        else for (const sealed of folded.sealed) yield { before, sealed };
      }
    } finally {
      await log.close();
    }
  }

  return {
    dir: folder,
    run,
    schema,
    rounds,
    at: async (revision) => {
      let space: Space | undefined;
      for await (const { sealed } of rounds()) {
        space = sealed.space;
        if (sealed.revision === revision) return space;
      }
      if (space !== undefined && revision === undefined) return space;
      throw new OplusError('USAGE', `the run has no revision r${revision ?? 0}`, { path: folder as string, hint: space === undefined ? 'Its log is empty.' : `The newest is r${space.revision}.` });
    },
    voidCount: () => voids,
  };
}

/** A revision as people write it: `12` or `r12`. Throws `USAGE` for anything else. */
export function readRevision(text: string): number {
  const match = /^r?(\d{1,15})$/.exec(text);
  if (match === null) throw new OplusError('USAGE', `${text.slice(0, 32)} is not a revision`, { hint: 'Write r12 or 12.' });
  return Number(match[1]);
}
