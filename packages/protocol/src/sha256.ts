/**
 * SHA-256 by the platform, in the form that the core takes.
 */
import { hash } from 'node:crypto';

/** SHA-256 of the UTF-8 text in lower-case hex. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
