/**
 * `oplus run <skill>`: a team on a task, from an empty log to a judged end.
 */
import { EXIT_FINDING } from '../failure.ts';
import { recordRun } from '../recorded-run.ts';
import { runSetup } from '../run-setup.ts';
import type { RunOptions } from '../run-setup.ts';
import { progressLine, summaryLines } from '../summary.ts';
import type { Terminal } from '../terminal.ts';

/** Exit code 1 when the task found a violation, or the log folds to another state. */
export async function runCommand(terminal: Terminal, name: string, options: RunOptions, signal: AbortSignal): Promise<number> {
  const setup = await runSetup(name, options, (line) => terminal.note(line));
  const report = await recordRun(setup, { signal, onProgress: (progress) => terminal.progress(progressLine(progress)) });
  terminal.progressEnd();
  if (terminal.isJson) terminal.json(report);
  else for (const line of summaryLines(report, terminal.colour)) terminal.out(line);
  return report.ok ? 0 : EXIT_FINDING;
}
