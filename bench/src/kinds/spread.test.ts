import { expect, test } from 'vitest';

import { figure, markdownTable, ratiosOf, spreadOf, spreadText } from './spread.ts';

test('[BEN17] a spread is the least, the middle and the greatest, all of them measured', () => {
  expect(spreadOf([9, 10, 1])).toEqual({ min: 1, median: 9, max: 10 });
  expect(spreadOf([4, 100, 2, 3])).toEqual({ min: 2, median: 3, max: 100 });
  expect(spreadOf([7])).toEqual({ min: 7, median: 7, max: 7 });
  expect(() => spreadOf([])).toThrow(RangeError);
});

test('[BEN17] a ratio is taken within a repetition, so that a slow one changes nothing', () => {
  expect(ratiosOf([10, 100, 20], [5, 50, 10])).toEqual([2, 2, 2]);
  expect(ratiosOf([1, 1], [1])).toEqual([1, Number.NaN]);
});

test.each([
  [0, '0'],
  [0.001434, '0.00143'],
  [0.5, '0.500'],
  [12.34, '12.3'],
  [999.6, '1,000'],
  [1234.5, '1,235'],
  [12_345_678, '12,345,678'],
])('[BEN17] %d is printed as %s', (value, text) => {
  expect(figure(value)).toBe(text);
});

test('[BEN17] a spread is printed with its ends, where they differ', () => {
  expect(spreadText({ min: 1.01, median: 2, max: 30 })).toBe('2.00 (1.01-30.0)');
  expect(spreadText({ min: 1.0001, median: 1.0002, max: 1.0003 })).toBe('1.00');
  expect(markdownTable(['', 'a'], [['x', '1']])).toBe('|  | a |\n|---|---|\n| x | 1 |');
});
