/**
 * The report of a run: what `oplus run` says at the end, and what `oplus replay` compares with.
 */
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonical, OplusError } from '@oplus/core';
import type { Json } from '@oplus/core';
import { fileError } from './file-error.ts';
import type { RunTally } from './tally.ts';

/**
 * `steps` are the events of the plan, `events` those that were closed, `solved` those with their goal met. `digest` is that of the
 * state as it was led, `replayDigest` that of the state folded again from the stored log. `violations` counts what must never
 * happen; `violationList` names the first of them.
 */
export type RunReport = RunTally & {
  readonly v: 1;
  readonly ok: boolean;
  readonly task: string;
  readonly score: number;
  readonly agents: number;
  readonly steps: number;
  readonly seed: number;
  readonly routing: string;
  readonly log: string;
  readonly barrier: boolean;
  readonly model: string;
  readonly durability: string;
  readonly events: number;
  readonly solved: number;
  readonly revision: number;
  readonly digest: string;
  readonly replayDigest: string;
  readonly violations: number;
  readonly violationList: readonly string[];
  readonly aborted: boolean;
  readonly dir: string;
};

/** Writes the report, whole or not at all. Throws `LOG_FULL`, `USAGE`. */
export async function writeReport(dir: string, report: RunReport): Promise<void> {
  const path = join(dir, REPORT_FILE);
  try {
    await writeFile(`${path}.partial`, `${canonical(report as unknown as Json)}\n`, { flush: true });
    await rename(`${path}.partial`, path);
  } catch (error) {
    throw fileError(error, 'the report cannot be written', path);
  }
}

/** True when the run has finished. */
export function hasReport(dir: string): boolean {
  return existsSync(join(dir, REPORT_FILE));
}

/** The report of a run, `undefined` when it did not finish. Throws `LOG_DAMAGED` when it is not one. */
export async function readReport(dir: string): Promise<RunReport | undefined> {
  const path = join(dir, REPORT_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ENOENT') return undefined;
    throw fileError(error, 'the report cannot be read', path);
  }
  let report: Partial<RunReport> | null = null;
  try {
    report = JSON.parse(text) as Partial<RunReport> | null;
  } catch {
    // Told below.
  }
  if (report?.v === 1 && typeof report.digest === 'string' && typeof report.revision === 'number') return report as RunReport;
  throw new OplusError('LOG_DAMAGED', 'report.json is not the report of a run', {
    path,
    hint: 'Restore it from a copy, or remove it: the log tells the same.',
  });
}

const REPORT_FILE = 'report.json';
