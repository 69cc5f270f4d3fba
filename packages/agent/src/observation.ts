/**
 * Observations, bounded: what is too large for a prompt is kept whole as an artefact, and the agent sees an excerpt that says so.
 */
import type { Blobs } from '@oplus/protocol';
import { clip, wellFormed } from './clip.ts';
import type { TokenCounter } from './tokens.ts';

/** `text` is what the agent sees; `artefact` the digest of the whole, when that is more. */
export type ShownObservation = { readonly text: string; readonly artefact?: string };

/**
 * The observation in at most `tokensMax` tokens. What is larger goes to `blobs` as UTF-8, and its beginning is shown with a last
 * line that names the whole length and the artefact. Half surrogate pairs become U+FFFD.
 */
export async function boundObservation(
  observation: string,
  limit: { readonly tokens: TokenCounter; readonly tokensMax: number; readonly blobs: Blobs },
): Promise<ShownObservation> {
  const text = wellFormed(observation);
  const { tokens, tokensMax, blobs } = limit;
  const isShort = text.length <= tokensMax * CHARS_PER_TOKEN_MAX;
  if (isShort && tokens.count(text) <= tokensMax) return { text };
  const artefact = await blobs.put(new TextEncoder().encode(text));
  const note = `[cut: the whole observation has ${text.length} characters; it is kept as artefact ${artefact}]`;
  let charsMax = Math.min(text.length, tokensMax * CHARS_PER_TOKEN_MAX);
  let shown = `${clip(text, 0, charsMax)}\n${note}`;
  while (charsMax > 0 && tokens.count(shown) > tokensMax) {
    charsMax = Math.floor(charsMax * 0.75);
    shown = charsMax === 0 ? note : `${clip(text, 0, charsMax)}\n${note}`;
  }
  return { text: shown, artefact };
}

/** Text of more characters a token is counted as too long unread. */
const CHARS_PER_TOKEN_MAX = 16;
