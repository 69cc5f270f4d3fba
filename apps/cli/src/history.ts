/**
 * The log of a run, folded again: round after round, each checked against what the log says.
 */
import { join } from 'node:path';
import { emptyShard, OplusError } from '@oplus/core';
import { loadState } from '@oplus/core';
import type { FoldedRecord, Sealed, Shard, Space, StateSchema } from '@oplus/core';
import { foldLogRecord, sha256 } from '@oplus/protocol';
import type { StoredRecord } from '@oplus/protocol';
import { hasReport, newestRun, openRunLog, readRunFile } from '@oplus/team';
import type { RunFile, RunLog } from '@oplus/team';
import { taskOf } from './catalogue.ts';

/** Where runs go when no folder is named. */
export const RUNS = 'runs';

/** `natsUrl`: where the log of a run that was not exported is. */
export type HistoryOptions = { readonly natsUrl?: string };

export type History = {
  readonly dir: string;
  readonly run: RunFile;
  readonly schema: StateSchema;
  /** False for a run that goes on, was stopped, or was killed. */
  readonly isFinished: boolean;
  /** Every round in order. Throws `LOG_DAMAGED` or `LOG_DIVERGED` where the log stops being sound. */
  rounds(): AsyncGenerator<Sealed>;
  /** The states at these revisions, the newest for `undefined`. Throws `USAGE` when the log does not reach that far. */
  states(revisions: readonly (number | undefined)[]): Promise<readonly Space[]>;
  /** Records that the void rule skips. Known once `rounds` has ended. */
  voidCount(): number;
};

/**
 * Opens the run in `dir`, or the newest one, for as long as `use` takes. Throws `USAGE` when there is none, `SCHEMA_INVALID` when the
 * skill has changed since, and what `openRunLog` and `use` throw.
 */
export async function withHistory<T>(
  dir: string | undefined,
  { natsUrl }: HistoryOptions,
  use: (history: History) => Promise<T>,
): Promise<T> {
  const folder = dir ?? (await newestRun(RUNS));
  if (folder === undefined) {
    throw new OplusError('USAGE', 'there is no run yet', {
      path: join(process.cwd(), RUNS),
      hint: 'Make one with: oplus run warehouse',
    });
  }
  const run = await readRunFile(folder);
  const schema = loadState(taskOf(run.task).definition, sha256);
  if (schema.digest !== run.schema) {
    throw new OplusError('SCHEMA_INVALID', `the run was made with another version of ${run.task}`, {
      path: folder,
      hint: `It has schema ${run.schema.slice(0, 16)}, this is ${schema.id}. Use the version of the skill that made it.`,
    });
  }
  const log = await openRunLog(folder, run, natsUrl);
  try {
    return await use({ dir: folder, run, schema, isFinished: hasReport(folder), ...historyOn(log, run.space, schema, folder) });
  } finally {
    await log.close();
  }
}

/** What stands on stderr beside what is read of a run without a report. */
export const UNFINISHED = 'this run has no report: it goes on, or it was stopped; what stands here is what its log holds';

/** A revision as people write it: `12` or `r12`. Throws `USAGE` for anything else. */
export function readRevision(text: string): number {
  const match = /^r?(\d{1,15})$/.exec(text);
  if (match === null) throw new OplusError('USAGE', `${text.slice(0, 32)} is not a revision`, { hint: 'Write r12 or 12.' });
  return Number(match[1]);
}

/** The agents of a run, in the order of its plan. */
export function agentNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `w${i + 1}`);
}

function historyOn(
  log: RunLog,
  name: string,
  schema: StateSchema,
  dir: string,
): Pick<History, 'rounds' | 'states' | 'voidCount'> {
  let voids = 0;
  async function* rounds(): AsyncGenerator<Sealed> {
    let shard = emptyShard(new Map([[name, schema]]));
    voids = 0;
    for await (const record of log.read(1)) {
      const folded = foldPlaced(shard, record, log.place);
      shard = folded.shard;
      if (folded.kind === 'void') voids += 1;
      else yield* folded.sealed;
    }
  }
  return {
    rounds,
    states: async (revisions) => {
      const found = new Map<number, Space>();
      let newest: Space | undefined;
      for await (const { space, revision } of rounds()) {
        newest = space;
        if (revisions.includes(revision)) found.set(revision, space);
      }
      return revisions.map((revision) => {
        const space = revision === undefined ? newest : found.get(revision);
        if (space !== undefined) return space;
        const hint =
          newest === undefined
            ? 'Its log is empty: it was stopped before anybody had joined.'
            : `The newest is r${newest.revision}.`;
        throw new OplusError('USAGE', revision === undefined ? 'the run has no state' : `the run has no revision r${revision}`, {
          path: dir,
          hint,
        });
      });
    },
    voidCount: () => voids,
  };
}

/** Folds a record; what is wrong with it says where it stands. */
function foldPlaced(shard: Shard, record: StoredRecord, place: string): FoldedRecord {
  try {
    return foldLogRecord(shard, record);
  } catch (error) {
    if (!(error instanceof OplusError) || error.path !== undefined) throw error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw new OplusError(error.code, error.message, { path: `${place}, record ${record.index}`, ...hint, cause: error });
  }
}
