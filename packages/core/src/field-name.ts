/**
 * Names of fields and cells: plain, so that they never need escapes in a path, and never reach a prototype.
 */
import { isReservedKey } from './strict-json.ts';

export const FIELD_NAME_HINT = 'Use at most 64 letters, digits and _, beginning with a small letter.';

export function isFieldName(name: string): boolean {
  return /^[a-z][A-Za-z0-9_]{0,63}$/.test(name) && !isReservedKey(name);
}
