/**
 * From cells to rows, and from rows to a table for people.
 */
import type { Anomalies } from './audit.ts';
import { anomalyCount } from './audit.ts';
import type { Durability } from './contender.ts';
import { addLatencies, percentileMs } from './latency.ts';
import type { Cell } from './matrix.ts';

/** One line of the table. `undefined` means not measured, never zero. Counts are sums over the rounds. */
export type Row = {
  readonly contender: string;
  readonly durability: Durability;
  readonly writers: number;
  readonly commitsPerSecond: number;
  /** The same per round: how far the rounds lie apart. */
  readonly commitsPerSecondByRound: readonly number[];
  /** Commits per second over those of the baseline with as many writers. */
  readonly ratio: number | undefined;
  readonly commits: number;
  readonly refusedShare: number;
  readonly retriesPerCommit: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMsPerCommit: number | undefined;
  readonly clientCpuMsPerCommit: number | undefined;
  /** Per patch that was decided, committed or refused. */
  readonly wireBytesPerPatch: number | undefined;
  readonly anomalies: number;
  /** Only the kinds that occurred. */
  readonly anomaliesByKind: Partial<Anomalies>;
  readonly failures: readonly string[];
};

/** One row per cell that gave at least one figure. `baseline` is the name of a contender. */
export function rowsOf(cells: readonly Cell[], baseline: string): readonly Row[] {
  const rows = cells.filter((cell) => cell.figures.length > 0).map(rowOf);
  return rows.map((row) => {
    const base = rows.find((other) => other.contender === baseline && other.writers === row.writers);
    return {
      ...row,
      ratio: base === undefined || base.commitsPerSecond === 0 ? undefined : row.commitsPerSecond / base.commitsPerSecond,
    };
  });
}

/** A plain-text table per number of writers. */
export function tableOf(rows: readonly Row[], baseline: string): string {
  const writerCounts = [...new Set(rows.map((row) => row.writers))];
  return writerCounts
    .map((writers) => {
      const lines = rows.filter((row) => row.writers === writers).map(columnsOf);
      return `${writers} ${writers === 1 ? 'writer' : 'writers'}\n${align([headings(baseline), ...lines])}`;
    })
    .join('\n\n');
}

function rowOf({ contender, writerCount, figures, failures }: Cell): Row {
  const total = (measure: (figure: Cell['figures'][number]) => number): number =>
    figures.reduce((sum, figure) => sum + measure(figure), 0);
  const commits = total((figure) => figure.committedCount);
  const refused = total((figure) => figure.refusedCount);
  const latencies = addLatencies(figures.map((figure) => figure.latencies));
  const hasCpu = figures.every((figure) => figure.cpuMs !== undefined);
  const hasWire = figures.every((figure) => figure.bytesOnWire !== undefined);
  const clientMs = total((figure) => figure.cpuMs?.client ?? 0);
  const serverMs = total((figure) => figure.cpuMs?.server ?? 0);
  const byKind = addAnomalies(figures.map((figure) => figure.anomalies));
  return {
    contender: contender.name,
    durability: contender.durability,
    writers: writerCount,
    commitsPerSecond: (commits * 1000) / total((figure) => figure.measuredMs),
    commitsPerSecondByRound: figures.map((figure) => (figure.committedCount * 1000) / figure.measuredMs),
    ratio: undefined,
    commits,
    refusedShare: refused / Math.max(1, commits + refused),
    retriesPerCommit: total((figure) => figure.retryCount) / Math.max(1, commits),
    p50Ms: percentileMs(latencies, 0.5),
    p99Ms: percentileMs(latencies, 0.99),
    cpuMsPerCommit: hasCpu ? (clientMs + serverMs) / Math.max(1, commits) : undefined,
    clientCpuMsPerCommit: hasCpu ? clientMs / Math.max(1, commits) : undefined,
    wireBytesPerPatch: hasWire ? total((figure) => figure.bytesOnWire ?? 0) / Math.max(1, commits + refused) : undefined,
    anomalies: Object.values(byKind).reduce((sum, count) => sum + count, 0),
    anomaliesByKind: byKind,
    failures,
  };
}

function addAnomalies(all: readonly Anomalies[]): Partial<Anomalies> {
  const kinds = all.filter((anomalies) => anomalyCount(anomalies) > 0).flatMap((anomalies) => Object.entries(anomalies));
  const sums = new Map<string, number>();
  for (const [kind, count] of kinds) if (count > 0) sums.set(kind, (sums.get(kind) ?? 0) + count);
  return Object.fromEntries(sums) as Partial<Anomalies>;
}

function headings(baseline: string): readonly string[] {
  return [
    'contender',
    'durability',
    'commits/s',
    `x ${baseline}`,
    'refused',
    'retries',
    'p50 ms',
    'p99 ms',
    'CPU ms',
    'of it client',
    'wire B',
    'anomalies',
  ];
}

function columnsOf(row: Row): readonly string[] {
  const kinds = Object.entries(row.anomaliesByKind).map(([kind, count]) => `${kind} ${count}`);
  return [
    row.contender,
    row.durability,
    row.commitsPerSecond.toFixed(0),
    number(row.ratio, 2),
    `${(row.refusedShare * 100).toFixed(1)} %`,
    row.retriesPerCommit.toFixed(2),
    row.p50Ms.toFixed(2),
    row.p99Ms.toFixed(2),
    number(row.cpuMsPerCommit, 3),
    number(row.clientCpuMsPerCommit, 3),
    number(row.wireBytesPerPatch, 0),
    row.anomalies === 0 ? '0' : `${row.anomalies} (${kinds.join(', ')})`,
  ];
}

function number(value: number | undefined, digits: number): string {
  return value === undefined ? 'n/m' : value.toFixed(digits);
}

/** First two columns and the last to the left, figures to the right. */
function align(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const isText = (column: number): boolean => column < 2 || column === widths.length - 1;
  const pad = (text: string, column: number): string =>
    isText(column) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}
