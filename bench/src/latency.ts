/**
 * A histogram of latencies with buckets 2 % apart: exact enough for percentiles, small enough to send between processes
 * and to add up over rounds.
 */

/** Counts by bucket; bucket `b` holds latencies from `BASE_MS * GROWTH ** b` ms up to the next. */
export type LatencyCounts = readonly number[];

export interface LatencyRecorder {
  record(latencyMs: number): void;
  counts(): LatencyCounts;
}

export function createLatencyRecorder(): LatencyRecorder {
  const counts = Array.from({ length: BUCKET_COUNT }, () => 0);
  return {
    record(latencyMs) {
      const bucket = Math.floor(Math.log(Math.max(latencyMs, BASE_MS) / BASE_MS) / Math.log(GROWTH));
      const index = Math.min(bucket, BUCKET_COUNT - 1);
      counts[index] = (counts[index] ?? 0) + 1;
    },
    counts: () => counts,
  };
}

export function addLatencies(all: readonly LatencyCounts[]): LatencyCounts {
  return Array.from({ length: BUCKET_COUNT }, (_, bucket) => all.reduce((sum, counts) => sum + (counts[bucket] ?? 0), 0));
}

/** Upper end of the bucket that holds the percentile, in ms; `ratio` in `(0, 1]`. 0 when nothing was recorded. */
export function percentileMs(counts: LatencyCounts, ratio: number): number {
  const totalCount = counts.reduce((sum, count) => sum + count, 0);
  let seenCount = 0;
  for (const [bucket, count] of counts.entries()) {
    seenCount += count;
    if (count > 0 && seenCount >= totalCount * ratio) return BASE_MS * GROWTH ** (bucket + 1);
  }
  return 0;
}

const BASE_MS = 0.001;
const GROWTH = 1.02;
/** Reaches beyond a minute. */
const BUCKET_COUNT = 920;
