import { expect, test } from 'vitest';
import { mutantsOf } from './operators.ts';
import { selected } from './selection.ts';

const LARGE = Array.from({ length: 30 }, (_, i) => `if (a${i} > b && !c) d(e);`).join('\n');
const known = [...mutantsOf('large.ts', LARGE), ...mutantsOf('small.ts', 'if (a) b(c);'), ...mutantsOf('tiny.ts', 'x = !a;')];

test('[MUT4] the same faults are chosen each time, in whatever order they come', () => {
  const ids = selected(known, 20).map(({ id }) => id);
  expect(ids).toHaveLength(20);
  expect(
    selected(known.toReversed(), 20)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids.toSorted());
  expect(selected(known, 30).map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  expect(selected(known, 10_000)).toEqual(known);
});

test('[MUT4] each file has its share, and each operator its turn', () => {
  const chosen = selected(known, 12);
  expect(new Set(chosen.map(({ path }) => path))).toEqual(new Set(['large.ts', 'small.ts', 'tiny.ts']));
  const large = chosen.filter(({ path }) => path === 'large.ts');
  expect(large.length).toBeGreaterThanOrEqual(9);
  expect(new Set(large.map(({ operator }) => operator)).size).toBe(6);
});
