/**
 * Cutting text without breaking a surrogate pair.
 */

/** The characters `[from, to)` of a text, in UTF-16 units, less the halves of pairs at the cuts. */
export function clip(text: string, from: number, to: number): string {
  const start = isLow(text, from) && isHigh(text, from - 1) ? from + 1 : from;
  const end = to < text.length && isHigh(text, to - 1) && isLow(text, to) ? to - 1 : to;
  return text.slice(start, Math.max(start, end));
}

/** The text, lone surrogates replaced by U+FFFD: what UTF-8 can carry. */
export function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function isHigh(text: string, at: number): boolean {
  const unit = at < 0 ? 0 : text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
