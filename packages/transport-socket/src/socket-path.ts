/**
 * Where a socket may lie. The trust boundary is the user of the operating system: the folder lets nobody else in.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, statSync, realpathSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { OplusError } from '@oplus/core';

/**
 * The same short path for the same folder in every process of one user: sockets have a limit of about a hundred bytes, and folders of runs are
 * deeper than that. The folder must exist, else `USAGE`.
 */
export function socketPathOf(folder: string): string {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch (error) {
    throw new OplusError('USAGE', `there is no folder ${folder}`, { path: folder, hint: 'create it first', cause: error });
  }
  const name = createHash('sha256').update(real).digest('hex').slice(0, 24);
  if (process.platform === 'win32') return `\\\\.\\pipe\\oplus-${name}`;
  return join(tmpdir(), `oplus-${userInfo().uid}`, `${name}.sock`);
}

/** A named pipe of Windows: no file, and gone with its process. */
export function isPipe(path: string): boolean {
  return /^[\\/]{2}[.?][\\/]pipe[\\/]/i.test(path);
}

/**
 * Refuses (`USAGE`) a path that is too long or whose folder another user could enter, and with `mayCreate` creates the folder, for us
 * alone. A folder that does not exist is fine otherwise: nobody serves there.
 */
export function assertPrivate(path: string, mayCreate: boolean): void {
  if (isPipe(path)) return;
  if (path.includes('\0') || path === '' || Buffer.byteLength(path) > PATH_BYTES_MAX) {
    const hint = `use at most ${PATH_BYTES_MAX} bytes, for example what socketPathOf gives`;
    throw new OplusError('USAGE', `not a path for a socket: ${JSON.stringify(path)}`, { path, hint });
  }
  const folder = dirname(path);
  try {
    if (mayCreate) makeFolder(folder);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const isOurs = process.getuid === undefined || stats.uid === process.getuid();
    if (stats.isDirectory() && isOurs && (process.platform === 'win32' || (stats.mode & 0o077) === 0)) return;
  } catch (error) {
    throw new OplusError('USAGE', `the folder of ${path} cannot be used`, {
      path,
      hint: 'use a folder that you may write',
      cause: error,
    });
  }
  throw new OplusError('USAGE', `the folder of ${path} is not private`, {
    path,
    hint: `use a folder of your own, not a link, with mode 0700: chmod 700 ${folder}`,
  });
}

/** Shortest limit of the systems that we know (macOS), without the final zero. */
const PATH_BYTES_MAX = 103;

/** Level by level: below a file system that takes no folders, as /proc, the platform's own recursive way never ends. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
