/**
 * A run in words: its progress while it goes on, and its summary at the end.
 */
import type { Progress, RunReport } from '@oplus/team';
import type { Colours } from './terminal.ts';

/** One line, redrawn as the run goes on. */
export function progressLine({ steps, stepsTotal, revision, committed, rejected }: Progress): string {
  const done = Math.round((steps / stepsTotal) * BAR_CHARS);
  const bar = `${'█'.repeat(done)}${'░'.repeat(BAR_CHARS - done)}`;
  return `${bar} ${steps}/${stepsTotal} steps  r${revision}  ${committed} committed  ${rejected} rejected`;
}

/** The lines at the end of a run. */
export function summaryLines(report: RunReport, colour: Colours): readonly string[] {
  const { tokens } = report;
  const line = (label: string, text: string): string => `${colour.dim(label.padEnd(LABEL_CHARS))}${text}`;
  const isReplayEqual = report.replayDigest === report.digest;
  const setting = `${report.agents} agents, ${report.steps} steps, seed ${report.seed}, routing ${report.routing}${report.barrier ? ', barrier' : ''}`;
  return [
    `${colour.bold(report.task)}  ${setting}, model ${report.model}`,
    line('log', report.durability),
    line('score', `${report.score.toFixed(2)}  (${report.solved} of ${report.steps} events)`),
    line(
      'proposals',
      `${report.proposals}: ${report.committed} committed, ${report.rejected} rejected; ${report.repaired} events repaired, ${report.stalled} stalled`,
    ),
    line('merged', `${report.concurrent} committed beside others that they had not seen`),
    line(
      'tokens a step',
      `${tokens.perStepMean} mean, ${tokens.perStepMax} max; ${tokens.perEventMean} an event with its repairs; ${tokens.total} in all`,
    ),
    line('revision', `r${report.revision}`),
    line('digest', report.digest),
    line('replay', isReplayEqual ? colour.green('equal') : colour.red(`differs: ${report.replayDigest}`)),
    line('violations', report.violations === 0 ? colour.green('none') : colour.red(String(report.violations))),
    ...report.violationList.map((violation) => `  ${colour.red('-')} ${violation}`),
    line('files', report.dir),
    ...(report.aborted ? [colour.yellow('stopped before the end; what was committed is in the log')] : []),
  ];
}

const BAR_CHARS = 24;
const LABEL_CHARS = 16;
