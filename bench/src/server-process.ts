/**
 * Servers of the peers: found on this machine, started on loopback, stopped with the bench.
 *
 * Where `setpriv` exists (util-linux) a server also ends when the bench is killed without a chance to stop it.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, globSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { OplusError } from '@oplus/core';

/** Only root can take another user's name; the others run the server as themselves. */
export type ServerUser = { readonly uid: number; readonly gid: number };

export type ServerCommand = {
  readonly binary: string;
  readonly args: readonly string[];
  readonly port: number;
  /** Ends the server in good order. */
  readonly stopSignal: NodeJS.Signals;
  readonly user?: ServerUser | undefined;
};

export interface ServerProcess {
  /** Resolves when the process is gone; kills it after `STOP_MS_MAX`. */
  stop(): Promise<void>;
}

/** Path of an executable on PATH or in `folders` (glob patterns, the last match wins), or `undefined`. */
export function findBinary(name: string, folders: readonly string[]): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  const elsewhere = folders.flatMap((folder) => globSync(join(folder, name)).toSorted().toReversed());
  return [...onPath, ...elsewhere].find(isExecutable);
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new OplusError('INVARIANT', 'a listening socket has an address');
  return address.port;
}

/** Starts the server and waits until its port answers. Throws `BROKER_UNREACHABLE` with the server's last words when it does not. */
export async function startServer(command: ServerCommand): Promise<ServerProcess> {
  const [binary, args] = tiedToUs(command);
  const child = spawn(binary, args, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const killAtOurEnd = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtOurEnd);
  child.once('exit', () => process.off('exit', killAtOurEnd));
  let words = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (words = `${words}${String(chunk)}`.slice(-2_000)));
  child.on('error', (error) => (words += String(error)));
  const deadlineMs = performance.now() + START_MS_MAX;
  while (!(await isAnswering(command.port))) {
    if (child.exitCode !== null || child.pid === undefined || performance.now() > deadlineMs) {
      await stopChild(child, 'SIGKILL');
      throw new OplusError('BROKER_UNREACHABLE', `${command.binary} did not start`, {
        hint: `It said: ${words.trim() || 'nothing'}`,
      });
    }
    await sleep(10);
  }
  return { stop: () => stopChild(child, command.stopSignal) };
}

/** The unprivileged user for a server that refuses to run as root, or `undefined` when we are not root. */
export function serverUser(names: readonly string[]): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of names) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout.trim());
    if (uid !== undefined && gid !== undefined && /^\d+$/.test(uid) && /^\d+$/.test(gid))
      return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

const START_MS_MAX = 15_000;
const STOP_MS_MAX = 5_000;

function tiedToUs({ binary, args, user, stopSignal }: ServerCommand): [string, string[]] {
  const setpriv = findBinary('setpriv', []);
  if (setpriv === undefined) {
    if (user === undefined) return [binary, [...args]];
    throw new OplusError('USAGE', `${binary} refuses to run as root`, {
      hint: 'Run the bench as another user, or install util-linux.',
    });
  }
  const identity = user === undefined ? [] : [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  return [setpriv, [...identity, '--pdeathsig', stopSignal, binary, ...args]];
}

async function stopChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const isGone = once(child, 'exit');
  child.kill(signal);
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await isGone;
  clearTimeout(killer);
}

function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
