/**
 * One figure: so many writers on one contender for so long, every answer into the ledger, the final board audited.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Anomalies } from './audit.ts';
import { createLedger } from './audit.ts';
import type { Board } from './board.ts';
import { canonicalText, initialBoard } from './board.ts';
import type { Contender, CpuMs, Session, Views } from './contender.ts';
import type { LatencyCounts } from './latency.ts';
import { createLatencyRecorder } from './latency.ts';
import { createRandom } from './random.ts';
import { createPatchStream } from './workload.ts';

export type Plan = {
  readonly writerCount: number;
  readonly views: Views;
  readonly seed: number;
  readonly warmupMs: number;
  readonly measuredMs: number;
  /** Writers think this long at most between reading and proposing, uniformly drawn; 0 for none. */
  readonly thinkMsMax: number;
  readonly directory: string;
};

/** Counts of the measured time only; anomalies of the whole run, warm-up included. */
export type Figure = {
  readonly measuredMs: number;
  readonly committedCount: number;
  readonly refusedCount: number;
  readonly retryCount: number;
  /** Of committed patches, from the call to its answer. */
  readonly latencies: LatencyCounts;
  readonly cpuMs: CpuMs | undefined;
  readonly bytesOnWire: number | undefined;
  readonly anomalies: Anomalies;
};

/** Opens, warms up, measures, audits, closes. Throws what the contender throws. */
export async function measure(contender: Contender, plan: Plan): Promise<Figure> {
  const session = await contender.open(plan);
  try {
    return await measureSession(session, plan);
  } finally {
    await session.close();
  }
}

/** How long views may take, after the last answer, to show the final board. */
const SETTLE_MS_MAX = 5_000;

async function measureSession(session: Session, plan: Plan): Promise<Figure> {
  const ledger = createLedger(initialBoard());
  const latency = createLatencyRecorder();
  const counts = { committed: 0, refused: 0, retries: 0 };
  let isMeasuring = false;
  let isOver = false;

  const write = async (index: number): Promise<void> => {
    const writer = session.writer(index);
    const stream = createPatchStream({ seed: plan.seed, writer: index });
    const thinking = createRandom(plan.seed, index + 1_000_000);
    while (!isOver) {
      ledger.observe(index, writer.view());
      const patch = stream.next(writer.view());
      if (plan.thinkMsMax > 0) await sleep(thinking.below(plan.thinkMsMax + 1));
      if (isOver) break;
      const sentMs = performance.now();
      const { outcome, retryCount } = await writer.commit(patch);
      const answeredMs = performance.now();
      stream.settle(patch, outcome === 'committed');
      if (outcome === 'committed') ledger.acknowledge(patch, { sentMs, answeredMs });
      else ledger.refuse(patch);
      if (!isMeasuring) continue;
      counts.retries += retryCount;
      if (outcome === 'committed') {
        counts.committed += 1;
        latency.record(answeredMs - sentMs);
      } else counts.refused += 1;
    }
  };

  const writing = Promise.all(Array.from({ length: plan.writerCount }, (_, index) => write(index)));
  const timing = async (): Promise<Meters> => {
    await sleep(plan.warmupMs);
    const before = read(session);
    isMeasuring = true;
    await sleep(plan.measuredMs);
    isMeasuring = false;
    const after = read(session);
    isOver = true;
    return difference(before, after);
  };
  const [meters] = await Promise.all([timing(), writing.finally(() => (isOver = true))]);

  const final = await session.finalState();
  const staleViewCount = await countStaleViews(session, plan.writerCount, final);
  return {
    ...meters,
    committedCount: counts.committed,
    refusedCount: counts.refused,
    retryCount: counts.retries,
    latencies: latency.counts(),
    anomalies: ledger.audit(final, staleViewCount),
  };
}

type Meters = Pick<Figure, 'measuredMs' | 'cpuMs' | 'bytesOnWire'>;

function read(session: Session): Meters {
  return { measuredMs: performance.now(), cpuMs: session.cpuMs(), bytesOnWire: session.bytesOnWire() };
}

function difference(before: Meters, after: Meters): Meters {
  const cpuMs =
    before.cpuMs === undefined || after.cpuMs === undefined
      ? undefined
      : { client: after.cpuMs.client - before.cpuMs.client, server: after.cpuMs.server - before.cpuMs.server };
  const bytesOnWire =
    before.bytesOnWire === undefined || after.bytesOnWire === undefined ? undefined : after.bytesOnWire - before.bytesOnWire;
  return { measuredMs: after.measuredMs - before.measuredMs, cpuMs, bytesOnWire };
}

async function countStaleViews(session: Session, writerCount: number, final: Board): Promise<number> {
  const wanted = canonicalText(final);
  let behind = Array.from({ length: writerCount }, (_, index) => session.writer(index));
  const deadlineMs = performance.now() + SETTLE_MS_MAX;
  for (;;) {
    behind = behind.filter((writer) => canonicalText(writer.board()) !== wanted);
    if (behind.length === 0 || performance.now() > deadlineMs) return behind.length;
    await sleep(20);
  }
}
