/**
 * `oplus doctor`: what this machine has and what it lacks, one line each, with what to do about it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OplusError } from '@oplus/core';
import { describeNatsServer, findNatsServer, startNatsServer } from '@oplus/transport-nats';
import { sqliteLog } from '@oplus/transport-sqlite';
import { EXIT_FINDING } from '../failure.ts';
import type { Terminal } from '../terminal.ts';

type Line = { readonly name: string; readonly level: 'ok' | 'warn' | 'fail'; readonly text: string; readonly fix?: string };

export type DoctorOptions = { readonly natsUrl?: string; readonly dir: string };

export async function doctorCommand(terminal: Terminal, options: DoctorOptions): Promise<number> {
  const lines = [nodeLine(), await sqliteLine(options.dir), ...(await brokerLines(options.natsUrl)), modelLine()];
  const isSound = lines.every((line) => line.level !== 'fail');
  if (terminal.isJson) terminal.json({ v: 1, ok: isSound, checks: lines });
  else {
    const { colour } = terminal;
    const paint = { ok: colour.green, warn: colour.yellow, fail: colour.red };
    for (const line of lines) {
      terminal.out(`${paint[line.level](line.level.padEnd(4))}  ${line.name.padEnd(8)}  ${line.text}`);
      if (line.fix !== undefined) terminal.out(`                ${colour.dim(line.fix)}`);
    }
  }
  return isSound ? 0 : EXIT_FINDING;
}

function nodeLine(): Line {
  return { name: 'node', level: 'ok', text: `${process.versions.node} on ${process.platform} ${process.arch}` };
}

async function sqliteLine(dir: string): Promise<Line> {
  let probe: string | undefined;
  try {
    probe = await mkdtemp(join(dir, '.oplus-doctor-'));
    const log = await sqliteLog(join(probe, 'log.sqlite'));
    const outcome = await log.append(0, '{"probe":true}');
    const { sqliteVersion, journalMode, synchronous } = log.settings();
    await log.close();
    if (outcome.kind !== 'appended') return { name: 'sqlite', level: 'fail', text: `an append ended ${outcome.kind}` };
    const isFull = journalMode === 'wal' && synchronous === 2;
    return {
      name: 'sqlite',
      level: isFull ? 'ok' : 'warn',
      text: `${sqliteVersion}, journal ${journalMode}, synchronous ${synchronous === 2 ? 'FULL: a committed round survives a power cut' : synchronous}`,
    };
  } catch (error) {
    return failed('sqlite', error, 'warn', `Choose a folder that can be written: --dir`);
  } finally {
    if (probe !== undefined) await rm(probe, { recursive: true, force: true });
  }
}

async function brokerLines(url: string | undefined): Promise<readonly Line[]> {
  try {
    if (url !== undefined) return linesOf(await describeNatsServer({ url }), url);
    const binary = await findNatsServer(undefined);
    const server = await startNatsServer({ dir: 'temporary', binary: binary.path, isMonitored: true });
    try {
      const { auth, monitorUrl } = server;
      return linesOf(
        await describeNatsServer({ url: server.url, auth, ...(monitorUrl === undefined ? {} : { monitorUrl }) }),
        binary.path,
      );
    } finally {
      await server.stop();
    }
  } catch (error) {
    return [failed('nats', error, url === undefined ? 'warn' : 'fail', 'Needed only for --log nats.')];
  }
}

function linesOf(server: Awaited<ReturnType<typeof describeNatsServer>>, where: string): readonly Line[] {
  const sync = server.sync;
  const survives =
    sync === undefined
      ? 'its sync interval cannot be read from here: count on surviving kill -9, not a power cut'
      : sync.isAlways
        ? 'sync_interval always: an acknowledged append survives a power cut'
        : `synced every ${Math.round((sync.intervalMs ?? 0) / 1000)} s: an acknowledged append survives kill -9, not a power cut`;
  return [
    {
      name: 'nats',
      level: server.isJetStreamOn ? 'ok' : 'fail',
      text: `${server.version} (${where}), JetStream ${server.isJetStreamOn ? 'on' : 'off'}; ${survives}`,
      ...(server.isJetStreamOn ? {} : { fix: 'Start it with -js, or let oplus start one.' }),
    },
    ...server.gaps.map((gap): Line => ({ name: 'nats', level: 'warn', text: gap })),
  ];
}

function modelLine(): Line {
  const key = process.env['OPENAI_API_KEY'];
  const base = process.env['OPENAI_BASE_URL'];
  if (key === undefined && base === undefined) {
    return {
      name: 'model',
      level: 'ok',
      text: 'none configured: runs use the scripted model',
      fix: 'For a real one set OPENAI_API_KEY (and OPENAI_BASE_URL), then --model openai:<name>.',
    };
  }
  return {
    name: 'model',
    level: 'ok',
    text: `openai at ${base === undefined ? 'its own address' : hostOf(base)}, key ${key === undefined ? 'not set' : 'set'}`,
  };
}

/** The address without credentials, path or query. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'an address that cannot be read';
  }
}

function failed(name: string, error: unknown, level: 'warn' | 'fail', fix: string): Line {
  const failure = error instanceof OplusError ? error : undefined;
  return {
    name,
    level,
    text: failure === undefined ? String(error) : `${failure.code}: ${failure.message}`,
    fix: failure?.hint ?? fix,
  };
}
