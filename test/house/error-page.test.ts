import { expect, test } from 'vitest';
import { ERROR_PAGE, errorPage, errorRows, issueRows, membersOfUnion } from './error-page.ts';
import { textOf } from './source.ts';

test('[HSE17] every error code is documented, once, and nothing else is', () => {
  expect(errorRows().map((row) => row.code)).toEqual(membersOfUnion('packages/core/src/error.ts', 'ErrorCode'));
});

test('[HSE17] every issue code is documented, once, and nothing else is', () => {
  expect(issueRows().map((row) => row.code)).toEqual(membersOfUnion('packages/core/src/issue.ts', 'IssueCode'));
});

test('[HSE17] the page is what the sources say', () => {
  expect(textOf(ERROR_PAGE)).toBe(errorPage());
});
