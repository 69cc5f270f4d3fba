/**
 * Token counts, by the tokenizer that the budget is stated in.
 *
 * Special tokens of chat templates are counted as the text that they are. Time is linear: merging the pairs of one unbroken
 * run is quadratic in its length, so a run above `RUN_CHARS_MAX` is counted in pieces; every other text is counted exactly.
 * SPEC: TOK1, TOK2.
 */

/** Counts tokens. Pure: one text has one count. */
export interface TokenCounter {
  /** Names the vocabulary, such as `o200k`. */
  readonly vocabulary: string;
  count(text: string): number;
}

/** Longest run of letters, of signs or of white space that is merged as one, in UTF-16 units. */
export const RUN_CHARS_MAX = 256;

/** The o200k vocabulary. Loads it on the first call: about 2.4 MB of source, a quarter of a second. */
export async function o200kTokens(): Promise<TokenCounter> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const count = (text: string): number => countTokens(text, AS_TEXT);
  return {
    vocabulary: 'o200k',
    count: (text) =>
      text.length <= RUN_CHARS_MAX || !LONG_RUN.test(text)
        ? count(text)
        : pieces(text).reduce((sum, piece) => sum + count(piece), 0),
  };
}

const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const RUN = `(?:[\\p{L}\\p{M}]{${RUN_CHARS_MAX}}|[^\\s\\p{L}\\p{N}]{${RUN_CHARS_MAX}}|\\s{${RUN_CHARS_MAX}})`;
const LONG_RUN = new RegExp(RUN, 'u');
const LONG_RUNS = new RegExp(RUN, 'gu');

/** The text cut after every `RUN_CHARS_MAX` characters of a long run. */
function pieces(text: string): readonly string[] {
  const cut: string[] = [];
  let from = 0;
  for (const match of text.matchAll(LONG_RUNS)) {
    const to = match.index + match[0].length;
    cut.push(text.slice(from, to));
    from = to;
  }
  cut.push(text.slice(from));
  return cut;
}
