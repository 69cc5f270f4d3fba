/**
 * The real command in a process of its own, for tests.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sqliteLogReader } from '@oplus/transport-sqlite';

/** `code` is null after a signal that the process did not handle. */
export type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Started = { readonly child: ChildProcess; readonly ended: Promise<Ended> };

/** `env` is added to a small environment that knows neither CI nor colours nor models. */
export type CommandOptions = { readonly cwd: string; readonly env?: { readonly [name: string]: string } };

/** Path of the script that starts the command. */
export const OPLUS: string = fileURLToPath(new URL('../../bin/oplus.js', import.meta.url));

/** Runs the command to its end. */
export function oplus(args: readonly string[], options: CommandOptions): Promise<Ended> {
  return start(process.execPath, [OPLUS, ...args], options).ended;
}

/** Runs a line of the shell, in which `$OPLUS` is the command. */
export function shell(line: string, { cwd, env }: CommandOptions): Promise<Ended> {
  return start('bash', ['-c', line], { cwd, env: { ...env, OPLUS: `${process.execPath} ${OPLUS}` } }).ended;
}

/** Starts the command. */
export function startOplus(args: readonly string[], options: CommandOptions): Started {
  return start(process.execPath, [OPLUS, ...args], options);
}

/** A folder for as long as `use` takes. */
export async function inFolder<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-cli-'));
  try {
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Waits until a started command has come so far. Throws what it said when it ends before that. */
export async function until(started: Started, isFar: () => Promise<boolean>): Promise<void> {
  let early: Ended | undefined;
  void started.ended.then((ended) => {
    early = ended;
  });
  while (!(await isFar())) {
    if (early !== undefined) throw new Error(`the command ended too early: ${JSON.stringify(early)}`);
    await delay(POLL_MS);
  }
}

/** True when the SQLite log of a run in `dir` has that many records. */
export async function hasRecords(dir: string, recordCount: number): Promise<boolean> {
  if (!existsSync(join(dir, 'log.sqlite'))) return false;
  const log = await sqliteLogReader(join(dir, 'log.sqlite'));
  try {
    return (await log.tail()) >= recordCount;
  } finally {
    await log.close();
  }
}

/** True when that many actions stand in the trace of a run in `dir`. */
export async function hasActed(dir: string, actionCount: number): Promise<boolean> {
  const trace = join(dir, 'trace.jsonl');
  if (!existsSync(trace)) return false;
  return ((await readFile(trace, 'utf8')).match(/"outcome":"acted"/g)?.length ?? 0) >= actionCount;
}

const POLL_MS = 20;
const KEPT: readonly string[] = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE', 'OPLUS_NATS_SERVER', 'LD_LIBRARY_PATH'];

function start(program: string, args: readonly string[], { cwd, env }: CommandOptions): Started {
  const kept = Object.fromEntries(KEPT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  const child = spawn(program, args, { cwd, env: { ...kept, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended };
}
