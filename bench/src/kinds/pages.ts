/**
 * The figures of the kinds as Markdown, to be read as they are or pasted.
 */
import { warmedUp } from './soak.ts';
import type { Soak } from './soak.ts';
import type { SizeRow } from './sizes.ts';
import { BASELINE, ENTRANTS } from './speed.ts';
import type { SpeedRow } from './speed.ts';
import { figure, markdownTable, spreadText } from './spread.ts';

/** Ratios first: absolute numbers are of one machine. Cells are medians, with the least and the greatest of the repetitions. */
export function speedPage(rows: readonly SpeedRow[], steps: number): string {
  const works = [...new Set(rows.map((row) => row.work))];
  const rowOf = (work: string, entrant: string): SpeedRow | undefined =>
    rows.find((row) => row.work === work && row.entrant === entrant);
  const names = ENTRANTS.map(({ name }) => name);
  const rivals = names.filter((name) => name !== BASELINE);
  const ratios = works.map((work) => [
    work,
    rowOf(work, BASELINE)?.state ?? '',
    ...rivals.map((name) => cell(rowOf(work, name)?.ratio)),
  ]);
  const speeds = works.map((work) => [work, ...names.map((name) => cell(rowOf(work, name)?.perSecond))]);
  const timed = names.filter((name) => rows.some((row) => row.entrant === name && row.gateMicros !== undefined));
  const micros = works.map((work) => [
    work,
    ...timed
      .map((name) => rowOf(work, name))
      .flatMap((row) => [
        cell(row?.gateMicros),
        cell(row?.sealMicros),
        row?.hashMicros === undefined ? 'n/m' : figure(row.hashMicros),
      ]),
  ]);
  return [
    `### Speed beside ${BASELINE} = 1, N = ${steps} operations, each a transaction of its own`,
    markdownTable(['', 'state', ...rivals], ratios),
    'Operations a second:',
    markdownTable(['', ...names], speeds),
    'Where the time of oplus goes, microseconds a proposal. SHA-256 is what hashing alone takes for the texts that the seal hashes:',
    markdownTable(['', ...timed.flatMap((name) => [`${name}: gate`, 'seal', 'SHA-256'])], micros),
    ENTRANTS.map(({ name, note }) => `- ${name}: ${note}.`).join('\n'),
  ].join('\n\n');
}

/** Microseconds a seal, by kind and size. */
export function sizesPage(rows: readonly SizeRow[]): string {
  const sizes = rows[0]?.bytes.map((bytes) => `${figure(bytes / 1000)} kB`) ?? [];
  return [
    '### Microseconds a seal of one operation, by size of the state',
    markdownTable(
      ['', 'operation', ...sizes, 'last over first'],
      rows.map((row) => [row.kind, row.operation, ...row.micros.map(spreadText), spreadText(row.growth)]),
    ),
  ].join('\n\n');
}

/** Sizes in bytes, at ten points on the way. */
export function soakPage(soak: Soak, agents: number): string {
  const { milestones, perSecond, valueBytesMax } = soak;
  const warm = warmedUp(soak, agents);
  const sizes = warm.map(({ snapshotBytes }) => snapshotBytes);
  const said =
    warm.length === 0
      ? 'The run was too short: not every agent has two verdicts behind it.'
      : `From ${whole(warm[0]?.commits ?? 0)} commits on, when every agent has two verdicts behind it, the snapshot has ${whole(Math.min(...sizes))} to ${whole(Math.max(...sizes))} B.`;
  return [
    `### A state with a field of every kind under ${agents} agents`,
    markdownTable(
      ['commits', 'proposals', 'revision', 'values B', 'fields B', 'agents B', 'snapshot B', 'heap MB'],
      milestones.map((at) => [
        ...[at.commits, at.proposals, at.revision, at.valueBytes, at.fieldBytes, at.agentBytes, at.snapshotBytes].map(whole),
        at.heapMb.toFixed(1),
      ]),
    ),
    [
      `Values may have ${whole(valueBytesMax)} B by their caps. ${said}`,
      'Before that the table of agents fills: a row for each, with the digest of its last proposal and the verdict on it. Later it',
      `varies with the length of the verdicts, and numbers gain a digit now and then. ${figure(perSecond)} proposals a second were gated and sealed.`,
    ].join('\n'),
  ].join('\n\n');
}

function cell(spread: SpeedRow['gateMicros']): string {
  return spread === undefined ? 'n/m' : spreadText(spread);
}

function whole(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
