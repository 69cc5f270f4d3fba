import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startNatsServer } from '@oplus/transport-nats';
import { expect, test } from 'vitest';
import { hasActed, inFolder, oplus, startOplus, until } from './testing/command.ts';

test('[CLI20] a run on a server of its own prints the same document, and its log replays', () =>
  inFolder(async (cwd) => {
    const { code, stdout, stderr } = await oplus(
      ['run', 'warehouse', '--agents', '8', '--steps', '24', '--seed', '43', '--log', 'nats', '--dir', 'a', '--json'],
      { cwd },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      score: 1,
      agents: 8,
      steps: 24,
      seed: 43,
      log: 'nats',
      violations: 0,
      durability: expect.stringMatching(/^NATS /),
    });
    expect(JSON.parse((await oplus(['replay', 'a', '--json'], { cwd })).stdout)).toMatchObject({ ok: true, equal: true });
  }));

test('[CLI29] with --barrier the log on NATS is that in memory, byte for byte', () =>
  inFolder(async (cwd) => {
    for (const log of ['nats', 'memory']) {
      expect(await oplus(['run', 'warehouse', '--steps', '12', '--barrier', '--log', log, '--dir', log], { cwd })).toMatchObject({
        code: 0,
      });
    }
    const exported = (dir: string): Promise<string> => readFile(join(cwd, dir, 'log.jsonl'), 'utf8');
    expect(await exported('nats')).toBe(await exported('memory'));
  }));

test('[CLI23] of a run on NATS that was killed, the log is read from the store in its folder', () =>
  inFolder(async (cwd) => {
    const started = startOplus(['run', 'warehouse', '--steps', '9000', '--log', 'nats', '--dir', 'a'], { cwd });
    await until(started, () => hasActed(join(cwd, 'a'), 20));
    started.child.kill('SIGKILL');
    expect(await started.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(existsSync(join(cwd, 'a', 'log.jsonl'))).toBe(false);
    const replay = await oplus(['replay', 'a', '--json'], { cwd });
    const document = JSON.parse(replay.stdout) as { readonly committed: number; readonly revision: number };
    expect(document).toMatchObject({ ok: true, finished: false, equal: null, void: 0 });
    expect(document.committed).toBeGreaterThanOrEqual(20);
    const show = await oplus(['show', 'a', '--json'], { cwd });
    expect(show).toMatchObject({ code: 0, stderr: expect.stringContaining('this run has no report') });
    expect(JSON.parse(show.stdout)).toMatchObject({ revision: document.revision });
  }));

test('[CLI20][CLI23] a run on a given broker keeps no credentials, and needs them again to be read while it is not exported', () =>
  inFolder(async (cwd) => {
    const server = await startNatsServer({ dir: 'temporary' });
    try {
      if (server.auth.kind !== 'password') throw new Error('a server of ours has a password');
      const url = server.url.replace('//', `//${server.auth.user}:${server.auth.password}@`);
      const started = startOplus(['run', 'warehouse', '--steps', '9000', '--log', 'nats', '--dir', 'a'], {
        cwd,
        env: { OPLUS_NATS_URL: url },
      });
      await until(started, () => hasActed(join(cwd, 'a'), 1));
      started.child.kill('SIGKILL');
      await started.ended;
      expect((await readdir(join(cwd, 'a'))).toSorted()).toEqual(['run.json', 'trace.jsonl']);
      expect(await readFile(join(cwd, 'a', 'run.json'), 'utf8')).not.toContain(server.auth.password);
      const refused = await oplus(['replay', 'a'], { cwd });
      expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('error[BROKER_REFUSED]') });
      expect(refused.stderr).toContain('hint: ');
      const replay = await oplus(['replay', 'a', '--nats-url', url, '--json'], { cwd });
      expect(JSON.parse(replay.stdout)).toMatchObject({ ok: true, finished: false });
    } finally {
      await server.stop();
    }
  }));

test('[CLI27] doctor asks the server of its own, and leaves nothing of it behind', () =>
  inFolder(async (cwd) => {
    const temporary = join(cwd, 'tmp');
    await mkdir(temporary);
    const { code, stdout } = await oplus(['doctor', '--json'], { cwd, env: { TMPDIR: temporary } });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      checks: expect.arrayContaining([
        expect.objectContaining({ name: 'nats', level: 'ok', text: expect.stringContaining('JetStream on') }),
      ]),
    });
    expect(await readdir(temporary)).toEqual([]);
    expect(await readdir(cwd)).toEqual(['tmp']);
  }));
