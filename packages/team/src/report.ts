/**
 * The report of a run: what `oplus run` says at the end, and what `oplus replay` compares with.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonical } from '@oplus/core';
import type { Json } from '@oplus/core';
import type { TokenTally } from './tally.ts';

/** `replayDigest` is that of the state folded again from the stored log; `digest` that of the state as it was led. */
export type RunReport = {
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
  readonly proposals: number;
  readonly committed: number;
  readonly rejected: number;
  readonly repaired: number;
  readonly stalled: number;
  readonly concurrent: number;
  readonly tokens: TokenTally;
  readonly revision: number;
  readonly digest: string;
  readonly replayDigest: string;
  readonly violations: number;
  readonly violationList: readonly string[];
  readonly aborted: boolean;
  readonly dir: string;
};

const REPORT_FILE = 'report.json';

export async function writeReport(dir: string, report: RunReport): Promise<void> {
  await writeFile(join(dir, REPORT_FILE), `${canonical(report as unknown as Json)}\n`);
}

/** The report of a run, `undefined` when it did not finish. */
export async function readReport(dir: string): Promise<RunReport | undefined> {
  const text = await readFile(join(dir, REPORT_FILE), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as RunReport);
}
