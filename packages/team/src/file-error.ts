/**
 * Errors of the file system, made ours: a run's folder is where people's disks are full and their paths wrong.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { OplusError } from '@oplus/core';

/**
 * The error for `what` at `path`: `LOG_FULL` when there is no room, `LOG_DAMAGED` when the disk fails, `USAGE` for a path that cannot be
 * used that way. What is no error of the file system comes back as it is.
 */
export function fileError(cause: unknown, what: string, path: string): unknown {
  if (cause instanceof OplusError) return cause;
  const { code, syscall } = (cause ?? {}) as { readonly code?: unknown; readonly syscall?: unknown };
  if (typeof code !== 'string' || typeof syscall !== 'string') return cause;
  if (FULL.has(code))
    return new OplusError('LOG_FULL', `${what}: there is no room`, { path, hint: 'Make room on the disk.', cause });
  if (code === 'EIO') return new OplusError('LOG_DAMAGED', `${what}: the disk failed`, { path, hint: 'Check the disk.', cause });
  return new OplusError('USAGE', `${what}: ${REASONS[code] ?? code}`, {
    path,
    hint: 'Choose a folder that can be written and read, such as --dir runs/new.',
    cause,
  });
}

/** Makes a folder and those above it. Gives the first that was made, `undefined` when it was there. Throws as `fileError`. */
export async function makeFolder(dir: string): Promise<string | undefined> {
  try {
    return await makeBelow(resolve(dir));
  } catch (error) {
    throw fileError(error, 'the folder cannot be made', dir);
  }
}

/** Level by level: where a file system has no room for folders, as /proc, the platform's own recursive way never ends. */
async function makeBelow(dir: string): Promise<string | undefined> {
  const there = await stat(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (there?.isDirectory() === true) return undefined;
  const above = dirname(dir) === dir ? undefined : await makeBelow(dirname(dir));
  try {
    await mkdir(dir);
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await stat(dir)).isDirectory()) throw error;
  }
  return above ?? dir;
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const REASONS: { readonly [code: string]: string } = {
  EACCES: 'permission is missing',
  EPERM: 'permission is missing',
  EROFS: 'the file system is read-only',
  ENOENT: 'a part of the path does not exist',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file is in the way',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the path is too long',
};
