import { expect, test } from 'vitest';
import { parse, textOf } from '../house/source.ts';
import { allCases } from './case-list.ts';
import { CASE_PAGE, caseFaults, casePage, showings, showingsIn } from './case-page.ts';

test('[HSE22][GTE7] each collected case is shown by a test, or says why it is not', () => {
  expect(caseFaults(allCases(), showings())).toEqual([]);
  const counts = ['report', 'surprise', 'input'].map((one) => allCases().filter(({ collection }) => collection === one).length);
  expect(counts).toEqual([62, 36, 85]);
});

test('[HSE22] the page is what the titles say', () => {
  expect(textOf(CASE_PAGE), 'npm run cases').toBe(casePage());
});

test('[HSE22][HSE15] a case without a test, a stale reason and an unknown number are noticed; tables count row by row', () => {
  const source = parse(
    'a.test.ts',
    `test('[AB1][BUG 1] one', f); test.for([{ id: 'BI-001', title: 'two' }, { id: 'BI-009', title: 'three' }])('[$id] $title', f);
     check('AB2', '[SURPRISE 1] four', f); test('five: BUG 2', f); describe('[BUG 2] six', f); const seven = "test('[BUG 2] seven', f)";`,
  );
  const shown = showingsIn(source);
  expect(shown.map(({ id, title }) => `${id}: ${title}`)).toEqual([
    'BUG 1: [AB1][BUG 1] one',
    'SURPRISE 1: [AB2][SURPRISE 1] four',
    'BI-001: [BI-001] two',
    'BI-009: [BI-009] three',
  ]);
  const collection = 'report';
  const cases = ['BUG 1', 'BUG 2', 'BUG 3', 'SURPRISE 1', 'BI-001'].map((id) => ({ id, collection, reports: [] }) as const);
  const reasons: { readonly [id: string]: string } = { 'BUG 1': 'stale', 'BUG 3': 'it cannot apply' };
  const given = cases.map((one) => (reasons[one.id] === undefined ? one : { ...one, reason: reasons[one.id] as string }));
  expect(caseFaults(given, shown)).toEqual([
    'BUG 1 is shown by a test, and has a reason why it is not',
    'BUG 2 has neither a test nor a reason',
    'a.test.ts: "[BI-009] three" names BI-009, which is in no collection',
  ]);
});
