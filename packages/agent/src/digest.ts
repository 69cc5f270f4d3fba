/**
 * Digests of what leaves the process' memory: SHA-256 in lower-case hex.
 */
import { createHash } from 'node:crypto';
import type { Sha256 } from '@oplus/core';

/** SHA-256 of the UTF-8 text. */
export const sha256: Sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** SHA-256 of several pieces of bytes or text, each preceded by its length, so that no two lists have one digest. */
export function digestOf(...pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece;
    hash.update(`${bytes.byteLength}:`).update(bytes);
  }
  return hash.digest('hex');
}
