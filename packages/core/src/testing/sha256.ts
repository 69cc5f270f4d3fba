/**
 * SHA-256 of the platform, for tests: the core itself has no crypto.
 */
import { createHash } from 'node:crypto';

/** SHA-256 of the UTF-8 text, in lower-case hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
