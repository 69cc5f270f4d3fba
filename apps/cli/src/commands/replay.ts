/**
 * `oplus replay [dir]`: folds the log again from its first record and compares with what the run said.
 */
import { readReport } from '@oplus/team';
import { EXIT_FINDING } from '../failure.ts';
import { withHistory } from '../history.ts';
import type { History, HistoryOptions } from '../history.ts';
import type { Colours, Terminal } from '../terminal.ts';

/** Exit code 1 when the state is another one than the run said. */
export async function replayCommand(terminal: Terminal, dir: string | undefined, options: HistoryOptions): Promise<number> {
  const replay = await withHistory(dir, options, (history) => replayOf(history, terminal));
  terminal.progressEnd();
  if (terminal.isJson) terminal.json(replay);
  else for (const line of linesOf(replay, terminal.colour)) terminal.out(line);
  return replay.ok ? 0 : EXIT_FINDING;
}

/** `revision` is -1 and `digest` empty when the log holds nothing. `equal` is null when there is no report to compare with. */
type Replay = {
  readonly v: 1;
  readonly ok: boolean;
  readonly dir: string;
  readonly finished: boolean;
  readonly revision: number;
  readonly digest: string;
  readonly reported: { readonly revision: number; readonly digest: string } | null;
  readonly equal: boolean | null;
  readonly proposals: number;
  readonly committed: number;
  readonly void: number;
};

async function replayOf(history: History, terminal: Terminal): Promise<Replay> {
  const report = await readReport(history.dir);
  const count = { proposals: 0, committed: 0 };
  let revision = -1;
  let digest = '';
  for await (const { space, decided } of history.rounds()) {
    ({ revision, state: digest } = space);
    count.proposals += decided.length;
    count.committed += decided.filter(({ verdict }) => verdict.kind === 'committed').length;
    terminal.progress(`replay r${revision}`);
  }
  const equal = report === undefined ? null : report.digest === digest && report.revision === revision;
  return {
    v: 1,
    ok: equal !== false,
    dir: history.dir,
    finished: history.isFinished,
    revision,
    digest,
    reported: report === undefined ? null : { revision: report.revision, digest: report.digest },
    equal,
    ...count,
    void: history.voidCount(),
  };
}

function linesOf(replay: Replay, colour: Colours): readonly string[] {
  const { dir, proposals, committed, revision, digest, reported, equal } = replay;
  const lines =
    revision < 0
      ? [`${dir}: the log is empty`]
      : [`${dir}: ${proposals} proposals, ${committed} committed, r${revision}`, `state digest   ${digest}`];
  if (replay.void > 0) lines.push(colour.yellow(`${replay.void} records do not continue the log before them, and are void`));
  if (reported === null || equal === null)
    return [...lines, colour.yellow('the run did not finish, so there is no digest to compare with')];
  return [
    ...lines,
    equal
      ? colour.green('equal to the digest of the run')
      : colour.red(`the run said ${reported.digest} at r${reported.revision}`),
  ];
}
