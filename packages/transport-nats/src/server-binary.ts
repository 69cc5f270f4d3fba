/**
 * Finds the `nats-server` program: the variable `OPLUS_NATS_SERVER`, the PATH, then the folders where packages put it although they are
 * not on every user's PATH (Debian: /usr/sbin).
 */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { OplusError } from '@oplus/core';
import { readVersion } from './version.ts';

export type NatsServerBinary = { readonly path: string; readonly version: string };

/**
 * Finds the program and asks for its version. `wanted`, when given, is the only place looked at. Throws `BROKER_MISSING` when there is none, or
 * what is there does not run as a nats-server.
 */
export async function findNatsServer(wanted?: string): Promise<NatsServerBinary> {
  const named = wanted ?? nonEmpty(process.env['OPLUS_NATS_SERVER']);
  if (named !== undefined) {
    const path = resolve(named);
    if (!(await isProgram(path)))
      throw missing(
        `there is no program at ${path}`,
        wanted === undefined ? 'OPLUS_NATS_SERVER names it; correct or unset it' : undefined,
      );
    return versioned(path);
  }
  for (const path of candidates()) if (await isProgram(path)) return versioned(path);
  throw missing('no nats-server was found in OPLUS_NATS_SERVER, on the PATH, or in the usual folders');
}

const PROGRAM = 'nats-server';
const USUAL_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/sbin', '/usr/local/bin', '/opt/homebrew/bin', '/opt/local/sbin'];
const VERSION_MS_MAX = 10_000;
const INSTALL_HINT =
  'install it with `apt-get install nats-server` or `brew install nats-server`, or take a binary from the releases page of the nats-server project and name it in OPLUS_NATS_SERVER';

function candidates(): readonly string[] {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return [...onPath, ...USUAL_FOLDERS].map((folder) => join(folder, PROGRAM));
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function versioned(path: string): Promise<NatsServerBinary> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: VERSION_MS_MAX });
    const version = stdout.includes(PROGRAM) ? readVersion(stdout) : undefined;
    if (version !== undefined) return { path, version };
  } catch (error) {
    throw missing(`${path} does not run`, undefined, error);
  }
  throw missing(`${path} is no nats-server`);
}

function missing(what: string, hint: string = INSTALL_HINT, cause?: unknown): OplusError {
  return new OplusError('BROKER_MISSING', what, { hint, cause });
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
