/**
 * `oplus replay [dir]`: folds the log again from its first record and compares with what the run said.
 */
import { openHistory } from '../history.ts';
import { readReport } from '@oplus/team';
import { EXIT_FINDING } from '../failure.ts';
import type { Terminal } from '../terminal.ts';

export async function replayCommand(terminal: Terminal, dir: string | undefined): Promise<number> {
  const history = await openHistory(dir);
  let revision = -1;
  let digest = '';
  let proposalCount = 0;
  let committedCount = 0;
  for await (const { sealed } of history.rounds()) {
    ({ revision } = sealed);
    digest = sealed.space.state;
    proposalCount += sealed.decided.length;
    committedCount += sealed.decided.filter(({ verdict }) => verdict.kind === 'committed').length;
    if (revision % 50 === 0) terminal.progress(`replay r${revision}`);
  }
  terminal.progressEnd();
  const report = await readReport(history.dir);
  const isEqual = report === undefined ? undefined : report.digest === digest && report.revision === revision;
  const document = {
    ok: isEqual !== false,
    dir: history.dir,
    revision,
    digest,
    reported: report === undefined ? null : { revision: report.revision, digest: report.digest },
    equal: isEqual ?? null,
    proposals: proposalCount,
    committed: committedCount,
    void: history.voidCount(),
  };
  if (terminal.isJson) terminal.json(document);
  else {
    const { colour } = terminal;
    terminal.out(`${history.dir}: ${proposalCount} proposals, ${committedCount} committed, r${revision}`);
    terminal.out(`state digest   ${digest}`);
    terminal.out(
      isEqual === undefined
        ? 'the run did not finish, so there is no digest to compare with'
        : isEqual
          ? colour.green('equal to the digest of the run')
          : colour.red(`the run said ${report?.digest ?? ''} at r${report?.revision ?? 0}`),
    );
  }
  return isEqual === false ? EXIT_FINDING : 0;
}
