import { SAMPLE_KINDS } from '@oplus/core/testing';
import { expect, test } from 'vitest';

import { soakPage } from './pages.ts';
import { runSoak, warmedUp } from './soak.ts';
import { kindsOfTeam } from './team-state.ts';

const SHORT = { agents: 40, commits: 1_500, seed: 1, heapMb: () => 1 };

test('[BEN19] the state has a field of every kind', () => {
  expect([...SAMPLE_KINDS.map(({ kind }) => kind), 'derived'].filter((name) => !kindsOfTeam().has(name))).toEqual([]);
});

test('[BEN19] the same seed gives the same sizes, which stay within their caps', () => {
  const soak = runSoak(SHORT);
  expect(runSoak(SHORT).milestones).toEqual(soak.milestones);
  expect(runSoak({ ...SHORT, seed: 2 }).milestones).not.toEqual(soak.milestones);
  expect(soak.milestones).toHaveLength(10);
  expect(soak.milestones.at(-1)?.commits).toBeGreaterThanOrEqual(SHORT.commits);
  for (const { valueBytes, fieldBytes, agentBytes, snapshotBytes } of soak.milestones) {
    expect(valueBytes).toBeLessThanOrEqual(soak.valueBytesMax);
    expect(fieldBytes + agentBytes).toBeLessThan(snapshotBytes);
  }
});

test('[BEN19] what grows after the warm-up is told, and a run without one too', () => {
  const soak = runSoak(SHORT);
  const warm = warmedUp(soak, SHORT.agents);
  expect(warm.length).toBeGreaterThan(5);
  const page = soakPage(soak, SHORT.agents);
  const [, least, most] = /the snapshot has ([\d,]+) to ([\d,]+) B/.exec(page) ?? [];
  const [from, to] = [least, most].map((text) => Number(text?.replaceAll(',', '')));
  expect(from).toBe(Math.min(...warm.map(({ snapshotBytes }) => snapshotBytes)));
  const grown = {
    ...soak,
    milestones: soak.milestones.map((at, i) => ({ ...at, snapshotBytes: at.snapshotBytes + i * 10_000 })),
  };
  expect(soakPage(grown, SHORT.agents)).not.toContain(`to ${to?.toLocaleString('en')} B`);
  expect(soakPage(soak, 1_000_000)).toContain('The run was too short');
});
