import { expect, test } from 'vitest';
import { boundObservation } from './observation.ts';
import { testBlobs } from './testing/index.ts';
import { o200kTokens } from './tokens.ts';

const tokens = await o200kTokens();

test('[TOK4] a short observation is shown as it is', async () => {
  const blobs = testBlobs();
  expect(await boundObservation('Wait.', { tokens, tokensMax: 64, blobs })).toEqual({ text: 'Wait.' });
});

test.each([
  ['many lines', 'line of a log 123\n'.repeat(50_000)],
  ['one long word', 'x'.repeat(3_000_000)],
  ['signs of many tokens', '\u{1F9D1}\u200D\u{1F680}'.repeat(4_000)],
  ['just above', 'word '.repeat(120)],
])('[TOK4] %s become an artefact with an excerpt within the limit', async (_, observation) => {
  const blobs = testBlobs();
  const shown = await boundObservation(observation, { tokens, tokensMax: 100, blobs });
  expect(tokens.count(shown.text)).toBeLessThanOrEqual(100);
  expect(shown.artefact).toBeDefined();
  expect(blobs.text(shown.artefact as string)).toBe(observation);
  const [note] = shown.text.split('\n').slice(-1);
  expect(note).toBe(
    `[cut: the whole observation has ${observation.length} characters; it is kept as artefact ${shown.artefact}]`,
  );
  expect(observation.startsWith(shown.text.slice(0, -(note as string).length).trimEnd())).toBe(true);
});

test('[TOK4] the cut never halves a pair, and half pairs are replaced', async () => {
  const blobs = testBlobs();
  expect((await boundObservation('a\ud83d b', { tokens, tokensMax: 64, blobs })).text).toBe('a\ufffd b');
  const { text } = await boundObservation(`${'\u{1F680}'.repeat(900)}`, { tokens, tokensMax: 99, blobs });
  expect(text).not.toMatch(/\p{Surrogate}/u);
});
