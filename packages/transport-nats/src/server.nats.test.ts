import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { expectCode } from '@oplus/protocol/testing';
import type { NatsAuth } from './broker-address.ts';
import { connectNats } from './connection.ts';
import { describeNatsServer } from './describe.ts';
import { natsLog } from './log.ts';
import { startNatsServer } from './server.ts';
import { findNatsServer } from './server-binary.ts';
import { connectTo, serversUnderTest, until, withServer } from './testing/servers.ts';
import { SYNC_INTERVAL_SINCE, isAtLeast } from './version.ts';

const binaries = await serversUnderTest();
const at = { namespace: 'ns', shard: '0', bytesMax: 16_777_216 };
const children = new Set<ChildProcess>();

// A failed test must not leave a process behind; a server goes with its supervisor.
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

for (const binary of binaries) {
  describe(`nats-server ${binary.version}`, () => {
    const canSyncAlways = isAtLeast(binary.version, SYNC_INTERVAL_SINCE);

    test('[NSV2] it listens on loopback only, with a random password in a file that only we can read, and explicit limits', () =>
      withServer(binary, async (server) => {
        expect(new URL(server.url).hostname).toBe('127.0.0.1');
        const path = join(server.dir, 'nats-server.conf');
        expect((await stat(path)).mode & 0o777).toBe(0o600);
        expect((await stat(server.dir)).mode & 0o077).toBe(0);
        const config = JSON.parse(await readFile(path, 'utf8'));
        expect(config).toMatchObject({
          listen: expect.stringMatching(/^127\.0\.0\.1:/),
          jetstream: { max_file_store: expect.any(Number) },
        });
        expect(config).not.toHaveProperty('http');
        await expectCode('BROKER_REFUSED', () => connectNats({ url: server.url, name: 'intruder' }));
        await withServer(binary, async (other) => expect(other.auth).not.toEqual(server.auth));
      }));

    test('[NSV2] the mode of a configuration that was there before is tightened', () =>
      withFolder(async (dir) => {
        await writeFile(join(dir, 'nats-server.conf'), 'old', { mode: 0o644 });
        const server = await startNatsServer({ dir, binary: binary.path });
        expect((await stat(join(dir, 'nats-server.conf'))).mode & 0o777).toBe(0o600);
        await server.stop();
      }));

    test('[NSV3] when start returns JetStream answers, and what it says of itself is so', () =>
      withServer(binary, async (server) => {
        expect(server).toMatchObject({ version: binary.version, durability: 'process', monitorUrl: undefined });
        expect(isAlive(server.pid)).toBe(true);
        const connection = await connectTo(server);
        expect(await (await natsLog(connection, at)).append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
        await connection.close();
      }));

    test('[NSV4] a second server on one store is LOG_LOCKED, by whatever path, and the first goes on', () =>
      withFolder(async (dir) => {
        const first = await startNatsServer({ dir: join(dir, 'store'), binary: binary.path });
        await symlink(join(dir, 'store'), join(dir, 'alias'));
        for (const path of [join(dir, 'store'), join(dir, 'alias')]) {
          await expect(startNatsServer({ dir: path, binary: binary.path })).rejects.toMatchObject({
            code: 'LOG_LOCKED',
            path: first.dir,
            hint: expect.any(String),
          });
        }
        const child = await supervisor(join(dir, 'alias'), binary.path, 'wait').catch((error: unknown) => error);
        expect(String(child)).toContain('LOG_LOCKED');
        await (await connectTo(first)).close();
        await first.stop();
        const second = await startNatsServer({ dir: join(dir, 'alias'), binary: binary.path });
        await second.stop();
      }));

    test('[NSV5] when its supervisor is killed the server goes, and the store opens again with all that was acknowledged', () =>
      withFolder(async (dir) => {
        for (let round = 0; round < 3; round += 1) {
          const { child, pid, url, auth } = await supervisor(dir, binary.path, 'wait');
          const connection = await connectNats({ url, auth, name: 'oplus test' });
          const log = await natsLog(connection, at);
          expect(await log.append(round, `round ${round}`)).toEqual({ kind: 'appended', index: round + 1 });
          child.kill('SIGKILL');
          // Begins while the old server may still be there.
          const again = await startNatsServer({ dir, binary: binary.path });
          expect(isAlive(pid)).toBe(false);
          await connection.close();
          const other = await connectTo(again);
          expect(await (await natsLog(other, at)).tail()).toBe(round + 1);
          await other.close();
          await again.stop();
        }
      }));

    test('[NSV5] a killed supervisor of a temporary store leaves neither server nor folder', async () => {
      const { child, pid, dir } = await supervisor('temporary', binary.path, 'wait');
      expect(existsSync(dir)).toBe(true);
      child.kill('SIGKILL');
      await until(() => !isAlive(pid) && !existsSync(dir), 'server and folder to be gone');
    });

    test('[NSV5] a supervisor that just ends takes its server with it, and is not kept alive by it', async () => {
      const { child, pid, dir } = await supervisor('temporary', binary.path, 'return');
      await exitOf(child);
      await until(() => !isAlive(pid) && !existsSync(dir), 'server and folder to be gone');
    });

    test('[NSV6] Ctrl-C reaches the supervisor alone: the server still answers while it flushes', async () => {
      const { child, pid, url, auth, dir } = await supervisor('temporary', binary.path, 'wait', true);
      const connection = await connectNats({ url, auth, name: 'oplus test' });
      // The whole foreground group gets the signal, as from a terminal; the supervisor is stopped so that it cannot end first.
      child.kill('SIGSTOP');
      process.kill(-(child.pid as number), 'SIGINT');
      expect((await connection.client.request('$JS.API.INFO')).json()).toMatchObject({ memory: 0 });
      expect(isAlive(pid)).toBe(true);
      await connection.close();
      child.kill('SIGCONT');
      await exitOf(child);
      await until(() => !isAlive(pid) && !existsSync(dir), 'server and folder to be gone');
    });

    test('[NSV7] stop ends the server, also one that hangs, removes a temporary store, and is idempotent', async () => {
      const server = await startNatsServer({ dir: 'temporary', binary: binary.path });
      process.kill(server.pid, 'SIGSTOP');
      await Promise.all([server.stop(), server.stop()]);
      await server.stop();
      await server.ended;
      expect([isAlive(server.pid), existsSync(server.dir)]).toEqual([false, false]);
    });

    test('[NSV7] a server that ends by itself is noticed, and its store can be opened again', () =>
      withFolder(async (dir) => {
        const server = await startNatsServer({ dir, binary: binary.path });
        process.kill(server.pid, 'SIGKILL');
        await server.ended;
        const again = await startNatsServer({ dir, binary: binary.path });
        await again.stop();
        await server.stop();
      }));

    test('[NSV8] a taken port is PORT_BUSY, a free one is used', async () => {
      const squatter = createServer();
      await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
      const { port } = squatter.address() as AddressInfo;
      await expect(startNatsServer({ dir: 'temporary', binary: binary.path, port })).rejects.toMatchObject({
        code: 'PORT_BUSY',
        hint: expect.any(String),
      });
      await new Promise((resolve) => squatter.close(resolve));
      await withServer(binary, async (server) => expect(server.url).toBe(`nats://127.0.0.1:${port}`), { port });
    });

    test('[NSV9] writing through is read back from the server, and refused where it does not exist', async () => {
      if (!canSyncAlways) {
        await expectCode('BROKER_REFUSED', () => startNatsServer({ dir: 'temporary', binary: binary.path, syncAlways: true }));
        return;
      }
      await withServer(
        binary,
        async (server) => {
          expect(server.durability).toBe('power');
          const connection = await connectTo(server);
          const log = await natsLog(connection, { ...at, durability: server.durability });
          expect(await log.append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
          expect(log.durability).toBe('power');
          await connection.close();
        },
        { syncAlways: true },
      );
    });

    test('[NSV10] a server that does not start is BROKER_REFUSED with its last words, and leaves nothing behind', () =>
      withFolder(async (dir) => {
        await mkdir(join(dir, 'store'), { mode: 0o700 });
        await writeFile(join(dir, 'store', 'jetstream'), 'a file where the server wants a folder');
        await expect(startNatsServer({ dir, binary: binary.path })).rejects.toMatchObject({
          code: 'BROKER_REFUSED',
          message: expect.stringContaining('JetStream'),
          path: expect.stringContaining(dir),
        });
        await rm(join(dir, 'store'), { recursive: true });
        const server = await startNatsServer({ dir, binary: binary.path });
        await server.stop();
      }));

    test('[NSV11] a server that nobody supervises any more keeps its store locked, and the message names its process', () =>
      withFolder(async (dir) => {
        const server = await startNatsServer({ dir, binary: binary.path });
        process.kill(server.pid, 'SIGSTOP');
        // The shell program and its half that waits for the pipe; the latter first, or it would end the server.
        const watchdog = await parentOf(server.pid);
        for (const pid of [...(await childrenOf(watchdog)).filter((child) => child !== server.pid), watchdog])
          process.kill(pid, 'SIGKILL');
        await server.ended;
        await expect(startNatsServer({ dir, binary: binary.path })).rejects.toMatchObject({
          code: 'LOG_LOCKED',
          message: expect.stringContaining(String(server.pid)),
          hint: expect.any(String),
        });
        process.kill(server.pid, 'SIGKILL');
        const again = await startNatsServer({ dir, binary: binary.path });
        await again.stop();
      }));

    test('[NDS3] a description tells version, JetStream and how it syncs, as far as it can be read', () =>
      withServer(
        binary,
        async (server) => {
          const blind = await describeNatsServer({ url: server.url, auth: server.auth });
          expect(blind).toMatchObject({
            version: binary.version,
            isJetStreamOn: true,
            isClustered: false,
            maxPayloadBytes: 1_048_576,
          });
          expect(blind.sync).toEqual(canSyncAlways ? undefined : { isAlways: false, intervalMs: 120_000 });
          expect(server.url).toContain(blind.address);
          const seeing = await describeNatsServer({
            url: server.url,
            auth: server.auth,
            monitorUrl: server.monitorUrl as string,
          });
          expect(seeing.sync).toEqual({ isAlways: false, intervalMs: 120_000 });
        },
        { isMonitored: true },
      ));

    test('[NDS3] a monitor that does not answer is BROKER_UNREACHABLE', () =>
      withServer(binary, async (server) => {
        if (!canSyncAlways)
          return expect((await describeNatsServer({ url: server.url, auth: server.auth })).gaps.length).toBeGreaterThan(0);
        return expectCode('BROKER_UNREACHABLE', () =>
          describeNatsServer({ url: server.url, auth: server.auth, monitorUrl: 'http://127.0.0.1:1' }),
        );
      }));
  });
}

describe('finding the program', () => {
  test('[NSV1] the variable goes before the PATH, and the PATH before the usual folders', () =>
    withFolder(async (dir) => {
      const real = (binaries[0] as (typeof binaries)[number]).path;
      for (const name of ['named', 'onpath']) await mkdir(join(dir, name));
      await fakeProgram(join(dir, 'named', 'nats-server'), 'nats-server: v7.7.7');
      await fakeProgram(join(dir, 'onpath', 'nats-server'), 'nats-server: v8.8.8');
      const named = { OPLUS_NATS_SERVER: join(dir, 'named', 'nats-server') };
      expect(await withEnv({ ...named, PATH: join(dir, 'onpath') }, findNatsServer)).toEqual({
        path: named.OPLUS_NATS_SERVER,
        version: '7.7.7',
      });
      expect(await withEnv({ OPLUS_NATS_SERVER: '', PATH: `relative:${join(dir, 'onpath')}` }, findNatsServer)).toMatchObject({
        version: '8.8.8',
      });
      expect(await findNatsServer(real)).toEqual(binaries[0]);
    }));

  test('[NSV1] a program that is absent, no program, or another program is BROKER_MISSING with a hint', () =>
    withFolder(async (dir) => {
      const [file, other, failing] = [join(dir, 'file'), join(dir, 'other'), join(dir, 'failing')];
      await writeFile(file, 'no program');
      await fakeProgram(other, 'redis-server v=7.0.0');
      await writeFile(failing, '#!/bin/sh\nexit 3\n');
      await chmod(failing, 0o755);
      for (const path of [join(dir, 'absent'), dir, file, other, failing]) {
        await expect(findNatsServer(path)).rejects.toMatchObject({
          code: 'BROKER_MISSING',
          hint: expect.stringContaining('apt-get'),
        });
        await expect(startNatsServer({ dir, binary: path })).rejects.toMatchObject({ code: 'BROKER_MISSING' });
        const byVariable = withEnv({ OPLUS_NATS_SERVER: path }, findNatsServer);
        await expect(byVariable).rejects.toMatchObject({ code: 'BROKER_MISSING', hint: expect.any(String) });
      }
    }));
});

type Supervisor = {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly auth: NatsAuth;
  readonly dir: string;
};

/** Starts a supervising process and waits for its server; rejects with what it printed when it fails. */
function supervisor(dir: string, binary: string, then: 'wait' | 'return', isGroupLeader = false): Promise<Supervisor> {
  const script = join(import.meta.dirname, 'testing', 'supervisor-process.ts');
  const child = spawn(process.execPath, ['--conditions=@oplus/source', script, dir, binary, then], { detached: isGroupLeader });
  children.add(child);
  return new Promise((resolve, reject) => {
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.stdout.once('data', (line: Buffer) =>
      resolve({ child, ...(JSON.parse(line.toString()) as Omit<Supervisor, 'child'>) }),
    );
    child.once('close', () => reject(new Error(errors)));
  });
}

async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Linux only, as are the tests that need it. */
async function parentOf(pid: number): Promise<number> {
  return Number(/^PPid:\s+(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
}

async function fakeProgram(path: string, says: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\necho '${says}'\n`);
  await chmod(path, 0o755);
}

async function withFolder(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-server-test-'));
  try {
    await body(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function withEnv<T>(values: Readonly<Record<string, string>>, body: () => Promise<T>): Promise<T> {
  const before = Object.keys(values).map((key) => [key, process.env[key]] as const);
  Object.assign(process.env, values);
  try {
    return await body();
  } finally {
    for (const [key, value] of before) {
      if (value === undefined) delete process.env[key];
      else process.env[key] = value;
    }
  }
}
