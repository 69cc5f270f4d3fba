import { expect, test } from 'vitest';
import { mutantsOf } from './operators.ts';
import type { Mutant } from './operators.ts';
import { findings, killerOf, mutantPage } from './page.ts';
import type { Tried } from './page.ts';

const [first, second, third] = mutantsOf('packages/core/src/a.ts', 'if (a > b) c = d;') as readonly Mutant[] as [
  Mutant,
  Mutant,
  Mutant,
];
const tried: readonly Tried[] = [
  { mutant: first, told: { kind: 'failed', file: 'packages/core/src/a.property.test.ts', title: 'it holds' } },
  { mutant: second, told: { kind: 'passed', costs: {}, slowest: 0 } },
  { mutant: third, told: { kind: 'stopped', file: 'packages/core/src/a.test.ts' } },
];
const known = new Set([first.id, second.id, third.id]);

test('[MUT9] survivors without a reason, and reasons without a survivor, are findings', () => {
  const excuse = { fault: 'a.ts', why: 'It is only slower.' };
  expect(findings(tried, { [second.id]: excuse }, known)).toEqual([]);
  expect(findings(tried, {}, known)).toEqual([expect.stringMatching(`^OPEN ${second.id} packages/core/src/a.ts:1 `)]);
  expect(findings(tried, { [second.id]: excuse, [first.id]: excuse, ['0'.repeat(10)]: excuse }, known)).toEqual([
    expect.stringMatching(`^KILLED, and yet excused: ${first.id} `),
    'OUT OF DATE 0000000000: a.ts',
  ]);
});

test('[MUT9] the page counts by operator and by killer, and shows each survivor with its reason, or as OPEN', () => {
  expect(tried.map(({ told }) => killerOf(told))).toEqual(['property', undefined, 'a test that did not end']);
  const page = mutantPage(tried, { [second.id]: { fault: 'a.ts', why: 'It is only slower.' } }, 9);
  expect(page).toContain('3 of 9 possible faults in 1 files');
  expect(page).toContain(`| ${first.operator} | `);
  expect(page).toContain('| property | 1 |\n| conformance | 0 |\n| a test that did not end | 1 |\n');
  expect(page).toContain(`It is only slower.\n\n\`\`\`diff\n- if (a > b) c = d;\n+ ${second.becomes}\n`);
  expect(mutantPage(tried, {}, 9)).toContain('. OPEN\n');
});
