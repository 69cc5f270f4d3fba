/**
 * The folder of one run: what was asked (`run.json`), the log, an export of the log (`log.jsonl`), the trace and the report.
 */
import { existsSync } from 'node:fs';
import { open, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { canonical, compareText, OplusError } from '@oplus/core';
import type { Json } from '@oplus/core';
import { fileError, makeFolder } from './file-error.ts';

/** What a run was asked to do; enough to fold its log again. `namespace` and `address` say where on a broker its log is. */
export type RunFile = {
  readonly v: 1;
  readonly task: string;
  readonly agents: number;
  readonly steps: number;
  readonly seed: number;
  readonly routing: string;
  readonly log: 'memory' | 'sqlite' | 'nats';
  readonly barrier: boolean;
  readonly model: string;
  readonly space: string;
  readonly schema: string;
  /** Of a log on NATS: the prefix of its streams. */
  readonly namespace?: string;
  /** Host and port of a broker that was given; without it the store is in the folder. */
  readonly address?: string;
};

/** A folder that is ready for a run. */
export type RunFolder = {
  readonly dir: string;
  /** Writes `run.json`, from when on the folder holds a run. Throws `USAGE` when another one was faster, `LOG_FULL`. */
  describe(run: RunFile): Promise<void>;
  /** Takes the folder away again, and those above it that were made for it, as far as they are empty. */
  release(): Promise<void>;
};

export const TRACE_FILE = 'trace.jsonl';
export const EXPORT_FILE = 'log.jsonl';

/** Makes the folder. Throws `USAGE` when it holds a run already or cannot be made, `LOG_FULL`. */
export async function openRunFolder(dir: string): Promise<RunFolder> {
  const made = await makeFolder(dir);
  if ([RUN_FILE, EXPORT_FILE].some((name) => existsSync(join(dir, name)))) throw taken(dir);
  return {
    dir,
    describe: async (run) => {
      const path = join(dir, RUN_FILE);
      try {
        await writeFile(path, `${canonical(run as unknown as Json)}\n`, { flag: 'wx', flush: true });
      } catch (error) {
        throw (error as { readonly code?: string }).code === 'EEXIST'
          ? taken(dir)
          : fileError(error, 'run.json cannot be written', path);
      }
    },
    release: async () => {
      if (made === undefined) return;
      const top = resolve(made);
      for (let folder = resolve(dir); folder.length >= top.length; folder = dirname(folder)) {
        try {
          await rmdir(folder);
        } catch {
          return; // Something stands in it.
        }
      }
    },
  };
}

/** Reads `run.json`. Throws `USAGE` when there is none, `LOG_DAMAGED` when it cannot be read. */
export async function readRunFile(dir: string): Promise<RunFile> {
  const path = join(dir, RUN_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (existsSync(path)) throw fileError(cause, 'run.json cannot be read', path);
    throw new OplusError('USAGE', existsSync(dir) ? 'the folder holds no run' : 'there is no such folder', {
      path: dir,
      hint: `Name the folder of a run, or make one with: oplus run warehouse --dir ${dir}`,
      cause,
    });
  }
  const run = parsed(text);
  if (isRunFile(run)) return run;
  throw new OplusError('LOG_DAMAGED', 'run.json is not a description of a run', {
    path,
    hint: 'Restore it from a copy; the log itself is beside it.',
  });
}

/** The newest run below a folder of runs, `undefined` when there is none. Of two made at the same time, the greater name. */
export async function newestRun(runs: string): Promise<string | undefined> {
  const names = await readdir(runs).catch(() => []);
  const dated = await Promise.all(
    names.map(async (name) => {
      const handle = await open(join(runs, name, RUN_FILE)).catch(() => undefined);
      const stat = await handle?.stat();
      await handle?.close();
      return { name, writtenMs: stat?.mtimeMs ?? -1 };
    }),
  );
  const newest = dated
    .filter(({ writtenMs }) => writtenMs >= 0)
    .toSorted((a, b) => b.writtenMs - a.writtenMs || compareText(b.name, a.name))[0];
  return newest === undefined ? undefined : join(runs, newest.name);
}

const RUN_FILE = 'run.json';

function taken(dir: string): OplusError {
  return new OplusError('USAGE', 'the folder already holds a run', {
    path: dir,
    hint: `Choose another --dir, or look at this one with: oplus log ${dir}`,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRunFile(value: unknown): value is RunFile {
  const run = (typeof value === 'object' ? value : undefined) as { readonly [key: string]: unknown } | null | undefined;
  if (run?.['v'] !== 1) return false;
  const isText = (name: string): boolean => typeof run[name] === 'string';
  const isCount = (name: string): boolean => Number.isSafeInteger(run[name]);
  return (
    ['task', 'routing', 'log', 'model', 'space', 'schema'].every(isText) &&
    ['agents', 'steps', 'seed'].every(isCount) &&
    typeof run['barrier'] === 'boolean' &&
    ['namespace', 'address'].every((name) => run[name] === undefined || isText(name))
  );
}
