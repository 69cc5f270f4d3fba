import { expect, test } from 'vitest';
import { textOf } from '../house/source.ts';
import { BY_AGENTS, BY_STEPS, measure, rowOf } from './token-table.ts';

test('[TM34] the page of tokens holds every cell, and the figures of two that are run again', async () => {
  const lines = textOf('docs/tokens.md').split('\n');
  for (const { steps, agents } of [...BY_STEPS, ...BY_AGENTS]) {
    expect(lines.some((line) => line.startsWith(`| ${steps} | ${agents} |`))).toBe(true);
  }
  for (const cell of [
    { steps: 25, agents: 4 },
    { steps: 100, agents: 1 },
  ])
    expect(lines).toContain(rowOf(cell, await measure(cell)));
});

test.each([
  ['T', { steps: 25, agents: 4 }, { steps: 100, agents: 4 }],
  ['N', { steps: 100, agents: 1 }, { steps: 100, agents: 8 }],
  ['N', { steps: 100, agents: 2 }, { steps: 100, agents: 8 }],
])('[TM34] with %s tokens a step do not grow: %j, %j', async (_, small, large) => {
  const [less, more] = [await measure(small), await measure(large)];
  const change = (name: 'perStepMean' | 'firstPromptMax' | 'perStepMax'): number => Math.abs(more[name] / less[name] - 1);
  expect(change('perStepMean')).toBeLessThan(0.1);
  expect(change('firstPromptMax')).toBeLessThan(0.1);
  // One agent alone is not refused, so it has no repair to compare with.
  expect(less.repairPromptMax === 0).toBe(small.agents === 1);
  expect(change('perStepMax')).toBeLessThan(less.repairPromptMax === 0 ? 0.15 : 0.1);
});
