/**
 * What several repetitions of one measurement say together: the middle one, and how far the others lie from it.
 */

/** `median` of an even number of values is the lower of the two in the middle, so that it is one that was measured. */
export type Spread = { readonly min: number; readonly median: number; readonly max: number };

/** Throws `RangeError` without values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const [min, median, max] = [sorted[0], sorted[(sorted.length - 1) >> 1], sorted.at(-1)];
  if (min === undefined || median === undefined || max === undefined) throw new RangeError('a spread needs a measurement');
  return { min, median, max };
}

/** Each value over that of the baseline in the same repetition: what slowed one of them down slowed the other down too. */
export function ratiosOf(values: readonly number[], baseline: readonly number[]): readonly number[] {
  return values.map((value, i) => value / (baseline[i] ?? Number.NaN));
}

/** `12,300 (11,800-12,900)`; one number when all are the same as printed. */
export function spreadText({ min, median, max }: Spread): string {
  const [least, middle, most] = [figure(min), figure(median), figure(max)];
  return least === most ? middle : `${middle} (${least}-${most})`;
}

/** Three significant digits, or all before the point; thousands apart. */
export function figure(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 6)).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
}

/** A Markdown table. */
export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(headings), `|${headings.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
