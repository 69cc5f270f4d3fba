/**
 * "Did you mean": the known word that is nearest to a mistyped one.
 */

/** The nearest word within a third of its length in edits, a swap of neighbours being one, or one that begins with the other; `undefined` when none is near. O(words x length²). */
export function nearestWord(given: string, words: Iterable<string>): string | undefined {
  const wanted = given.slice(0, CHARS_MAX).toLowerCase();
  let best: { readonly word: string; readonly edits: number } | undefined;
  for (const word of words) {
    const known = word.slice(0, CHARS_MAX).toLowerCase();
    const isPart = wanted.length >= 3 && known.length >= 3 && (known.startsWith(wanted) || wanted.startsWith(known));
    const edits = isPart ? 0 : editsBetween(wanted, known);
    if (edits <= Math.max(1, Math.floor(Math.max(wanted.length, known.length) / 3)) && (best === undefined || edits < best.edits))
      best = { word, edits };
  }
  return best?.word;
}

const CHARS_MAX = 64;

/** Edits between two words: insert, delete, replace, or swap two neighbours (optimal string alignment), one row at a time. */
function editsBetween(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] as number) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
