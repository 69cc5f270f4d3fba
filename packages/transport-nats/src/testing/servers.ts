/**
 * The servers that tests run against: `OPLUS_NATS_SERVERS` (paths joined by colons), or the one that is found. None is a failure, never a skip.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectNats } from '../connection.ts';
import type { BrokerConnection, ConnectOptions } from '../connection.ts';
import { startNatsServer } from '../server.ts';
import type { NatsServer } from '../server.ts';
import { findNatsServer } from '../server-binary.ts';
import type { NatsServerBinary } from '../server-binary.ts';

/** Rejects with `BROKER_MISSING` when one of the named servers, or any server at all, is absent. */
export async function serversUnderTest(): Promise<readonly NatsServerBinary[]> {
  const paths = (process.env['OPLUS_NATS_SERVERS'] ?? '').split(':').filter((path) => path !== '');
  if (paths.length === 0) return [await findNatsServer()];
  return Promise.all(paths.map((path) => findNatsServer(path)));
}

/** A namespace that no other test uses. */
export function freshNamespace(): string {
  return `t${randomBytes(6).toString('hex')}`;
}

/** Connects as the owner of a supervised server. */
export function connectTo(server: NatsServer, options: Partial<ConnectOptions> = {}): Promise<BrokerConnection> {
  return connectNats({ url: server.url, auth: server.auth, name: 'oplus test', ...options });
}

/** Runs `body` with a server of its own on a temporary store. */
export async function withServer(
  binary: NatsServerBinary,
  body: (server: NatsServer) => Promise<void>,
  options: Partial<Parameters<typeof startNatsServer>[0]> = {},
): Promise<void> {
  const server = await startNatsServer({ dir: 'temporary', binary: binary.path, ...options });
  try {
    await body(server);
  } finally {
    await server.stop();
  }
}

/** Runs `body` with the address of a server that has exactly this configuration, apart from address and port. */
export async function withBareServer(
  binary: NatsServerBinary,
  config: Readonly<Record<string, unknown>>,
  body: (url: string) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-bare-'));
  await writeFile(join(dir, 'conf'), JSON.stringify({ listen: '127.0.0.1:-1', ...config }));
  const child = spawn(binary.path, ['-c', join(dir, 'conf'), '--ports_file_dir', dir], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    const portsFile = async (): Promise<string | undefined> => (await readdir(dir)).find((name) => name.endsWith('.ports'));
    await until(
      async () =>
        (await portsFile()) !== undefined && (await readFile(join(dir, (await portsFile()) as string), 'utf8')).endsWith('}'),
      'a bare server',
    );
    await body((JSON.parse(await readFile(join(dir, (await portsFile()) as string), 'utf8')) as { nats: [string] }).nats[0]);
  } finally {
    child.kill('SIGKILL');
    await exited;
    await rm(dir, { recursive: true, force: true });
  }
}

/** Starts a server again where a killed one was: same store, port and password, so that clients find it. */
export function startAgain(server: NatsServer, binary: NatsServerBinary): Promise<NatsServer> {
  if (server.auth.kind !== 'password') throw new Error('a supervised server has a password');
  return startNatsServer({
    dir: server.dir,
    binary: binary.path,
    port: Number(new URL(server.url).port),
    password: server.auth.password,
  });
}

/** Resolves when `holds()` is true; rejects after 10 s. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`still waiting: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
