/**
 * The one place where errors of SQLite and of the file system become ours. Decides by result code, never by message.
 */
import { OplusError } from '@oplus/core';

/** What was being done: `open` also means create; a `write` is one transaction that has either not begun or been rolled back. */
export type Doing = 'open' | 'read' | 'write';

/** Runs `action`; what it throws comes out as an `OplusError` with `path`, a hint and the foreign error as its cause. */
export function translating<T>(path: string, doing: Doing, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw translated(error, path, doing);
  }
}

/** For an error out of a `write`: the disk failed in the middle, so whether the change will be there after a crash is not known. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof OplusError && resultCodeOf(error.cause) === IOERR;
}

const PERM = 3;
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const FULL = 13;
const CANTOPEN = 14;
const MISUSE = 21;
const AUTH = 23;

function translated(error: unknown, path: string, doing: Doing): OplusError {
  if (error instanceof OplusError) return error;
  const detail = (hint: string): { hint: string; path: string; cause: unknown } => ({ hint, path, cause: error });
  switch (resultCodeOf(error) ?? systemCodeOf(error)) {
    case BUSY:
    case LOCKED:
      return new OplusError('LOG_LOCKED', `another process holds ${path}`, detail('end that process, or use another file'));
    case FULL:
    case 'ENOSPC':
    case 'EDQUOT':
      return new OplusError('LOG_FULL', `there is no room to write ${path}`, detail('make room on the disk, or raise bytesMax'));
    case PERM:
    case READONLY:
    case CANTOPEN:
    case AUTH:
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new OplusError(
        'USAGE',
        `${path} cannot be opened for ${doing === 'read' ? 'reading' : 'writing'}`,
        detail(PERMISSION_HINT),
      );
    case 'ENOENT':
    case 'ENOTDIR':
      return new OplusError('USAGE', `there is no such folder or file: ${path}`, detail('create the folder first'));
    case 'ENAMETOOLONG':
    case 'ELOOP':
      return new OplusError('USAGE', `not a usable path: ${path}`, detail('use a shorter path without loops'));
    case IOERR:
    case 'EIO':
      return new OplusError(
        'LOG_DAMAGED',
        `the disk failed at ${path}`,
        detail('check the disk and its free space, then open the file again'),
      );
    case NOMEM:
    case MISUSE:
    case undefined:
      return new OplusError('INVARIANT', `an unexpected error at ${path}: ${String(error)}`, { path, cause: error });
    default:
      return new OplusError(
        'LOG_DAMAGED',
        `${path} is damaged or was not written by this program`,
        detail('restore it from a copy, or use another file'),
      );
  }
}

const PERMISSION_HINT = 'make the file and its folder writable for this user: SQLite keeps two more files beside it';

/** Primary result code of an error of `node:sqlite`, `undefined` for any other error. */
function resultCodeOf(error: unknown): number | undefined {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  // The upper bytes hold the extended code.
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Code of an error of the file system, or of a stored number that is too large for us; `undefined` for our own mistakes. */
function systemCodeOf(error: unknown): string | undefined {
  const { code, syscall } = (error ?? {}) as { readonly code?: unknown; readonly syscall?: unknown };
  return typeof code === 'string' && (typeof syscall === 'string' || code === 'ERR_OUT_OF_RANGE') ? code : undefined;
}
