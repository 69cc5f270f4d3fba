import * as core from '@oplus/core';
import { SAMPLE_KINDS } from '@oplus/core/testing';
import { expect, test } from 'vitest';
import { textOf } from '../house/source.ts';
import { KIND_EXAMPLES } from './kind-examples.ts';
import { kindPage } from './kind-page.ts';

test('[SCH13] the page of the kinds is what running its examples gives', async () => {
  expect(textOf('docs/kinds.md'), 'npm run kinds').toBe(await kindPage());
});

test('[SCH13] every kind stands on the page, with its verbs, grade and two agents', () => {
  const kinds = new Set([...SAMPLE_KINDS.map(({ kind }) => kind), 'derived', 'document']);
  expect(new Set(KIND_EXAMPLES.map(({ kind }) => kind))).toEqual(kinds);
  expect(Object.keys(core)).toEqual(expect.arrayContaining(['cas', 'lww', 'multi', 'text', 'derived']));
});
