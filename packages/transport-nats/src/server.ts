/**
 * Supervises one local `nats-server`: its own folder, loopback, a random port and password, ready when this returns, gone when we are.
 *
 * The server is the child of a small shell program that holds the reading end of a pipe from us. The pipe closes when we stop it, end or are killed, and
 * then the shell program ends the server. Both run in a session of their own, so Ctrl-C reaches us alone and we can still flush.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OplusError } from '@oplus/core';
import type { Durability } from '@oplus/protocol';
import type { NatsAuth } from './broker-address.ts';
import { describeNatsServer } from './describe.ts';
import { findNatsServer } from './server-binary.ts';
import type { NatsServerBinary } from './server-binary.ts';
import { LOOPBACK, serverConfigText } from './server-config.ts';
import type { NatsServerUser } from './server-config.ts';
import { lockStore } from './store-lock.ts';
import type { StoreLock } from './store-lock.ts';
import { SYNC_INTERVAL_SINCE, isAtLeast } from './version.ts';
import { WATCHDOG_SCRIPT } from './watchdog.ts';

export type NatsServerOptions = {
  /** Folder of the store, made when absent; the one above it must exist. `temporary`: a new folder that is removed when the server ends. */
  readonly dir: string | 'temporary';
  /** Path of the program; looked for when left out (`findNatsServer`). */
  readonly binary?: string;
  /** A fixed port on loopback; random when left out. */
  readonly port?: number;
  /** Password of the owner; random when left out. Fix both to let clients find the server again after a restart. */
  readonly password?: string;
  /** Further users, each with its own permissions (permissions.ts). */
  readonly users?: readonly NatsServerUser[];
  /** Limit of everything stored, in bytes (default 16 GiB). */
  readonly storeBytesMax?: number;
  /** Write every append through to the disk before it is acknowledged. Needs a server of 2.10 or later. */
  readonly syncAlways?: boolean;
  /** Open the HTTP monitor, on loopback and a random port. It has no password. */
  readonly isMonitored?: boolean;
};

/** A running server. It ends with this process; that process may end without stopping it. */
export type NatsServer = {
  readonly url: string;
  readonly auth: NatsAuth;
  readonly monitorUrl: string | undefined;
  readonly version: string;
  /** Process id of the nats-server. */
  readonly pid: number;
  readonly dir: string;
  /** What an acknowledged append survives here, read back from the server. */
  readonly durability: Exclude<Durability, 'none'>;
  /** Resolves when the server has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends the server: SIGTERM, and SIGKILL when it is still there after 5 s. Idempotent. */
  stop(): Promise<void>;
};

/**
 * Starts a server and waits until JetStream answers. Throws `BROKER_MISSING` (no program), `LOG_LOCKED` (the store is taken), `PORT_BUSY` (the fixed
 * port is taken), `BROKER_REFUSED` (it does not start, or cannot sync always), `USAGE` on Windows, where there is no `sh`.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  if (process.platform === 'win32') {
    throw new OplusError('USAGE', 'no nats-server is supervised on Windows', {
      hint: 'start one yourself and give its address (--nats-url)',
    });
  }
  const binary = await findNatsServer(options.binary);
  if (options.syncAlways === true && !isAtLeast(binary.version, SYNC_INTERVAL_SINCE)) {
    throw new OplusError('BROKER_REFUSED', `nats-server ${binary.version} cannot write every append through to the disk`, {
      path: binary.path,
      hint: `use nats-server ${SYNC_INTERVAL_SINCE} or later, or do without`,
    });
  }
  if (options.port !== undefined) await assertFree(options.port);
  const isTemporary = options.dir === 'temporary';
  const dir = await realpath(isTemporary ? await mkdtemp(join(tmpdir(), 'oplus-nats-')) : await madeDir(options.dir));
  const lock = await lockStore(dir, join(dir, CONFIG_FILE), LEAVE_MS_MAX);
  try {
    return await start(options, binary, dir, isTemporary, lock);
  } catch (error) {
    lock.release();
    if (isTemporary) await rm(dir, { recursive: true, force: true });
    throw error;
  }
}

const CONFIG_FILE = 'nats-server.conf';
const OUTPUT_FILE = 'nats-server.out';
const PORTS_DIR = 'ports';
const STORE_DIR = 'store';
const OWNER = 'oplus';
const PASSWORD_BYTES = 24;
const STORE_BYTES_MAX = 17_179_869_184;
/** Longer than the watchdog takes from SIGTERM to SIGKILL. */
const LEAVE_MS_MAX = 7_000;
const READY_MS_MAX = 20_000;
const POLL_MS = 5;
const OUTPUT_LINES_SHOWN = 5;
const RANDOM_PORT = -1;

/** One level only: the platform's recursive way never ends where a file system has no room for folders, as /proc. */
async function madeDir(dir: string): Promise<string> {
  try {
    await mkdir(dir, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new OplusError('USAGE', 'the folder of the store cannot be made', {
        path: dir,
        hint: 'the folder above it must exist and be writable',
        cause,
      });
    }
  }
  return dir;
}

async function start(
  options: NatsServerOptions,
  binary: NatsServerBinary,
  dir: string,
  isTemporary: boolean,
  lock: StoreLock,
): Promise<NatsServer> {
  const owner = { user: OWNER, password: options.password ?? randomBytes(PASSWORD_BYTES).toString('hex') };
  const isAlways = options.syncAlways === true;
  const configPath = join(dir, CONFIG_FILE);
  const portsDir = join(dir, PORTS_DIR);
  await rm(portsDir, { recursive: true, force: true });
  await mkdir(portsDir, { mode: 0o700 });
  await writeSecret(
    configPath,
    serverConfigText({
      port: options.port ?? RANDOM_PORT,
      storeDir: join(dir, STORE_DIR),
      storeBytesMax: options.storeBytesMax ?? STORE_BYTES_MAX,
      durability: isAlways ? 'power' : 'process',
      // To read the sync setting back.
      isMonitored: options.isMonitored === true || isAlways,
      owner,
      users: options.users ?? [],
    }),
  );
  const outputPath = join(dir, OUTPUT_FILE);
  const watchdog = spawn(
    'sh',
    ['-c', WATCHDOG_SCRIPT, 'oplus-nats-watchdog', binary.path, configPath, portsDir, outputPath, isTemporary ? dir : ''],
    {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  );
  // Nothing of ours is ever written to the pipe; it may be closed from the other side.
  watchdog.stdin?.on('error', () => undefined);
  let isReady = false;
  const ended = endOf(watchdog).then(async () => {
    // A server that did not start leaves its last words in the folder; they are read before it is removed.
    if (isTemporary && isReady) await rm(dir, { recursive: true, force: true });
    lock.release();
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= end(watchdog, ended));
  try {
    const { pid, url, monitorUrl } = await ready(watchdog, portsDir, outputPath);
    const auth: NatsAuth = { kind: 'password', ...owner };
    const description = await describeNatsServer({ url, auth, ...(monitorUrl === undefined ? {} : { monitorUrl }) });
    if (!description.isJetStreamOn || (isAlways && description.sync?.isAlways !== true)) {
      throw new OplusError('BROKER_REFUSED', 'the nats-server runs without the settings it was given', { path: configPath });
    }
    isReady = true;
    // Does not keep this process alive: when it ends, the pipe closes.
    watchdog.unref();
    (watchdog.stdin as unknown as { unref?(): void } | null)?.unref?.();
    return {
      url,
      auth,
      monitorUrl,
      pid,
      dir,
      ended,
      stop,
      version: description.version,
      durability: isAlways ? 'power' : 'process',
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assertFree(port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (cause) => {
      reject(
        new OplusError('PORT_BUSY', `port ${port} on ${LOOPBACK} is taken`, {
          hint: 'leave the port out to get a free one',
          cause,
        }),
      );
    });
    probe.listen({ host: LOOPBACK, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

/** The mode is set on a file that existed before as well. */
async function writeSecret(path: string, text: string): Promise<void> {
  await writeFile(path, '', { mode: 0o600 });
  await chmod(path, 0o600);
  await writeFile(path, text);
}

async function ready(
  watchdog: ChildProcess,
  portsDir: string,
  outputPath: string,
): Promise<{ pid: number; url: string; monitorUrl: string | undefined }> {
  const deadlineMs = performance.now() + READY_MS_MAX;
  let failure: Error | undefined;
  watchdog.once('error', (error) => {
    failure = error;
  });
  for (;;) {
    const found = await portsOf(portsDir);
    if (found !== undefined) return found;
    if (failure !== undefined || watchdog.exitCode !== null || watchdog.signalCode !== null) {
      throw await notStarted('the nats-server ended while starting', outputPath, failure);
    }
    if (performance.now() >= deadlineMs)
      throw await notStarted(`the nats-server was not ready after ${READY_MS_MAX} ms`, outputPath);
    await delay(POLL_MS);
  }
}

/** The file that the server writes when it listens: named by its process id, holding the addresses. Perhaps half written yet. */
async function portsOf(portsDir: string): Promise<{ pid: number; url: string; monitorUrl: string | undefined } | undefined> {
  const name = (await readdir(portsDir).catch(() => [])).find((file) => file.endsWith('.ports'));
  const pid = name === undefined ? undefined : /_(\d+)\.ports$/.exec(name)?.[1];
  if (name === undefined || pid === undefined) return undefined;
  try {
    const ports = JSON.parse(await readFile(join(portsDir, name), 'utf8')) as { nats?: string[]; monitoring?: string[] };
    const url = ports.nats?.[0];
    return url === undefined ? undefined : { pid: Number(pid), url, monitorUrl: ports.monitoring?.[0] };
  } catch {
    return undefined;
  }
}

async function notStarted(what: string, outputPath: string, cause?: unknown): Promise<OplusError> {
  const output = await readFile(outputPath, 'utf8').catch(() => '');
  const last = output.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join('\n');
  return new OplusError('BROKER_REFUSED', last === '' ? what : `${what}:\n${last}`, { path: outputPath, cause });
}

function endOf(watchdog: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    watchdog.once('exit', () => resolve());
    watchdog.once('error', () => resolve());
  });
}

async function end(watchdog: ChildProcess, ended: Promise<void>): Promise<void> {
  watchdog.ref();
  watchdog.stdin?.end();
  const isEnded = await Promise.race([ended.then(() => true), delay(LEAVE_MS_MAX, false, { ref: false })]);
  if (isEnded || watchdog.pid === undefined) return;
  // The watchdog itself hangs. It leads its process group, in which the server is.
  try {
    process.kill(-watchdog.pid, 'SIGKILL');
  } catch {
    // It ended between the question and the signal.
  }
  await ended;
}
