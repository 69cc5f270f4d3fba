import fc from 'fast-check';
import { expect, test } from 'vitest';

import { addLatencies, createLatencyRecorder, percentileMs } from './latency.ts';

test('[BEN12] percentiles are within 2 % of the exact ones, also over several rounds', () => {
  const latency = fc.double({ min: 0.002, max: 60_000, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(latency, { minLength: 1 }),
      fc.array(latency),
      fc.constantFrom(0.5, 0.9, 0.99, 1),
      (first, second, ratio) => {
        const rounds = [first, second].map((latencies) => {
          const recorder = createLatencyRecorder();
          for (const latencyMs of latencies) recorder.record(latencyMs);
          return recorder.counts();
        });
        const sorted = [...first, ...second].toSorted((a, b) => a - b);
        const exact = sorted[Math.ceil(sorted.length * ratio) - 1] ?? 0;
        const measured = percentileMs(addLatencies(rounds), ratio);
        expect(measured).toBeGreaterThanOrEqual(exact * 0.999);
        expect(measured).toBeLessThanOrEqual(exact * 1.021);
      },
    ),
  );
});

test('[BEN12] nothing recorded is 0', () => {
  expect(percentileMs(createLatencyRecorder().counts(), 0.5)).toBe(0);
});
