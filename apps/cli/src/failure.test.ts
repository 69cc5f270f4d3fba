import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sqliteLog } from '@oplus/transport-sqlite';
import { describe, expect, test } from 'vitest';
import { inFolder, oplus } from './testing/command.ts';
import type { CommandOptions } from './testing/command.ts';

/** Runs a command that fails, with and without --json, and compares what both say. */
async function failing(
  args: readonly string[],
  options: CommandOptions,
  code: string,
  exitCode: number,
): Promise<{ readonly hint: string; readonly path?: string }> {
  // One after the other: of two that share a folder of runs, the second keeps the first from taking it away again.
  const text = await oplus(args, options);
  const json = await oplus([...args, '--json'], options);
  expect({ text: text.code, json: json.code }).toEqual({ text: exitCode, json: exitCode });
  expect(text.stdout).toBe('');
  expect(json.stderr).toBe('');
  const { ok, error } = JSON.parse(json.stdout) as {
    ok: boolean;
    error: { code: string; message: string; hint: string; path?: string; docs: string };
  };
  expect({ ok, code: error.code }).toEqual({ ok: false, code });
  const lines = text.stderr.trimEnd().split('\n');
  expect(lines[0]).toMatch(new RegExp(`^error\\[${code}\\]: \\S`));
  expect(lines.slice(1).every((line) => /^ {2}(?:at: |hint: |docs: |\| )/.test(line))).toBe(true);
  expect(lines.at(-1)).toBe(`  docs: ${error.docs}`);
  expect(error.docs).toBe(`docs/errors.md#${code.toLowerCase()}`);
  expect(error.hint).not.toBe('');
  return error;
}

describe('a folder that cannot be used', () => {
  test('[CLI21] a folder that holds a run is refused, and left as it was', () =>
    inFolder(async (cwd) => {
      await oplus(['run', 'warehouse', '--steps', '2', '--log', 'memory', '--dir', 'a'], { cwd });
      const before = await readFile(join(cwd, 'a', 'report.json'), 'utf8');
      const { hint } = await failing(['run', 'warehouse', '--dir', 'a'], { cwd }, 'USAGE', 2);
      expect(hint).toContain('oplus log a');
      expect(await readFile(join(cwd, 'a', 'report.json'), 'utf8')).toBe(before);
    }));

  test('[CLI11][CLI21] a folder that cannot be made or written is usage, with its path', () =>
    inFolder(async (cwd) => {
      await writeFile(join(cwd, 'file'), '');
      expect(await failing(['run', 'warehouse', '--dir', 'file/run'], { cwd }, 'USAGE', 2)).toMatchObject({ path: 'file/run' });
      expect(await failing(['run', 'warehouse', '--dir', 'file'], { cwd }, 'USAGE', 2)).toMatchObject({ path: 'file' });
    }));

  test('[CLI11][CLI21] a log that another process writes is locked, one that holds something is refused', () =>
    inFolder(async (cwd) => {
      await mkdir(join(cwd, 'a'));
      const log = await sqliteLog(join(cwd, 'a', 'log.sqlite'));
      expect(await failing(['run', 'warehouse', '--dir', 'a'], { cwd }, 'LOG_LOCKED', 4)).toMatchObject({
        path: expect.stringContaining('log.sqlite'),
      });
      await log.append(0, 'something');
      await log.close();
      await failing(['run', 'warehouse', '--dir', 'a'], { cwd }, 'USAGE', 2);
      expect(existsSync(join(cwd, 'a', 'run.json'))).toBe(false);
    }));
});

describe('a log that is damaged', () => {
  test('[CLI11] log.sqlite: other bytes, and a changed record', () =>
    inFolder(async (cwd) => {
      await oplus(['run', 'warehouse', '--steps', '6', '--dir', 'a'], { cwd });
      const path = join(cwd, 'a', 'log.sqlite');
      const whole = await readFile(path);
      const at = whole.indexOf('item-0003');
      expect(at).toBeGreaterThan(0);
      await writeFile(path, Buffer.concat([whole.subarray(0, at), Buffer.from('item-9999'), whole.subarray(at + 9)]));
      for (const command of ['replay', 'show'])
        expect(await failing([command, 'a'], { cwd }, 'LOG_DAMAGED', 3)).toMatchObject({
          path: expect.stringContaining('log.sqlite'),
        });
      await writeFile(path, 'this is no database');
      await failing(['replay', 'a'], { cwd }, 'LOG_DAMAGED', 3);
    }));

  test('[CLI11] log.jsonl: a changed value, a lost line, a torn end, and run.json', () =>
    inFolder(async (cwd) => {
      await oplus(['run', 'warehouse', '--steps', '6', '--log', 'memory', '--dir', 'a'], { cwd });
      const path = join(cwd, 'a', 'log.jsonl');
      const whole = await readFile(path, 'utf8');
      const lines = whole.trimEnd().split('\n');
      const damages: readonly (readonly [string, string])[] = [
        [whole.replaceAll('item-0003', 'item-9999'), 'LOG_DIVERGED'],
        [`${lines.slice(0, 4).join('\n')}\nnonsense\n`, 'LOG_DAMAGED'],
        [whole.slice(0, -20), 'LOG_DAMAGED'],
      ];
      for (const [text, code] of damages) {
        await writeFile(path, text);
        const replayed = await oplus(['replay', 'a', '--json'], { cwd });
        expect(replayed.code).toBe(3);
        expect(JSON.parse(replayed.stdout)).toMatchObject({ error: { code, path: expect.stringContaining('log.jsonl') } });
      }
      // Behind a lost record nothing continues the log: all of that is void, and the run had said another end.
      await writeFile(path, `${lines.toSpliced(3, 1).join('\n')}\n`);
      const lost = await oplus(['replay', 'a'], { cwd });
      expect(lost).toMatchObject({ code: 1, stdout: expect.stringMatching(/^[1-9]\d* records do not continue the log/m) });
      // Whole lines that are missing at the end are no damage to the chain, but another end than the run said.
      await writeFile(path, `${lines.slice(0, -2).join('\n')}\n`);
      expect((await oplus(['replay', 'a'], { cwd })).code).toBe(1);
      await writeFile(join(cwd, 'a', 'run.json'), '{"v":1}');
      await failing(['log', 'a'], { cwd }, 'LOG_DAMAGED', 3);
    }));

  test('[CLI11] a run of another version of the skill, and of a skill that is not there', () =>
    inFolder(async (cwd) => {
      await oplus(['run', 'warehouse', '--steps', '2', '--log', 'memory', '--dir', 'a'], { cwd });
      const path = join(cwd, 'a', 'run.json');
      const run = await readFile(path, 'utf8');
      await writeFile(path, run.replace(/"schema":"[0-9a-f]{64}"/, `"schema":"${'0'.repeat(64)}"`));
      await failing(['replay', 'a'], { cwd }, 'SCHEMA_INVALID', 3);
      await writeFile(path, run.replace('"task":"warehouse"', '"task":"wharf"'));
      await failing(['replay', 'a'], { cwd }, 'SKILL_UNKNOWN', 2);
    }));
});

describe('a broker that cannot be had', () => {
  test('[CLI11][CLI21] no nats-server on this machine: nothing is left behind', () =>
    inFolder(async (cwd) => {
      const env = { OPLUS_NATS_SERVER: join(cwd, 'nowhere'), PATH: '' };
      expect(await failing(['run', 'warehouse', '--log', 'nats'], { cwd, env }, 'BROKER_MISSING', 4)).toMatchObject({
        hint: expect.stringContaining('OPLUS_NATS_SERVER'),
      });
      expect(await readdir(cwd)).toEqual([]);
    }));

  test('[CLI11][CLI21] nobody at --nats-url, nor at OPLUS_NATS_URL, and no secret is said', () =>
    inFolder(async (cwd) => {
      const url = 'nats://ann:secret@127.0.0.1:9';
      await failing(['run', 'warehouse', '--log', 'nats', '--nats-url', url], { cwd }, 'BROKER_UNREACHABLE', 4);
      const { stderr } = await oplus(['run', 'warehouse', '--log', 'nats', '--debug'], { cwd, env: { OPLUS_NATS_URL: url } });
      expect(stderr).toContain('error[BROKER_UNREACHABLE]');
      expect(stderr).not.toContain('secret');
      expect(await readdir(cwd)).toEqual([]);
    }));
});

test('[CLI13] a stack stands on stderr with --debug alone', () =>
  inFolder(async (cwd) => {
    await writeFile(join(cwd, 'file'), '');
    const args = ['run', 'warehouse', '--dir', 'file/run'];
    expect((await oplus(args, { cwd })).stderr).not.toMatch(/\n\s+at \S+ \(/);
    const debug = await oplus([...args, '--debug', '--json'], { cwd });
    expect(debug.stderr).toMatch(/\n\s+at /);
    expect(debug.stderr).toContain('caused by');
    expect(JSON.parse(debug.stdout)).toMatchObject({ error: { code: 'USAGE' } });
  }));
