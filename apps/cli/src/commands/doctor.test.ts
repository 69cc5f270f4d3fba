import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inFolder, oplus } from '../testing/command.ts';

type Check = { readonly name: string; readonly level: string; readonly text: string; readonly fix?: string };

function checksOf(stdout: string): readonly Check[] {
  return (JSON.parse(stdout) as { readonly checks: readonly Check[] }).checks;
}

test('[CLI27] doctor without a broker warns, is content, and leaves nothing behind', () =>
  inFolder(async (cwd) => {
    const temporary = join(cwd, 'tmp');
    await mkdir(temporary);
    const env = { OPLUS_NATS_SERVER: join(cwd, 'nowhere'), TMPDIR: temporary };
    const [text, json] = await Promise.all([oplus(['doctor'], { cwd, env }), oplus(['doctor', '--json'], { cwd, env })]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/^ok {4}node /m);
    expect(text.stdout).toMatch(/^warn {2}nats +BROKER_MISSING: /m);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({ v: 1, ok: true });
    expect(checksOf(json.stdout).map(({ name, level }) => [name, level])).toEqual([
      ['node', 'ok'],
      ['sqlite', 'ok'],
      ['nats', 'warn'],
      ['model', 'ok'],
    ]);
    expect(checksOf(json.stdout).find(({ name }) => name === 'nats')?.fix).toContain('OPLUS_NATS_SERVER');
    expect(await readdir(cwd)).toEqual(['tmp']);
    expect(await readdir(temporary)).toEqual([]);
  }));

test('[CLI27] a server that was asked for and does not answer is a finding', () =>
  inFolder(async (cwd) => {
    const { code, stdout } = await oplus(['doctor', '--nats-url', 'nats://127.0.0.1:9', '--json'], { cwd });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false });
    expect(checksOf(stdout).find(({ name }) => name === 'nats')).toMatchObject({
      level: 'fail',
      text: expect.stringContaining('BROKER_UNREACHABLE'),
    });
  }));

test('[CLI27] a folder that cannot be written is told, and so is the model, without its key', () =>
  inFolder(async (cwd) => {
    await writeFile(join(cwd, 'file'), '');
    const env = {
      OPLUS_NATS_SERVER: join(cwd, 'nowhere'),
      OPENAI_BASE_URL: 'http://ann:secret@127.0.0.1:9/v1?k=secret',
      OPENAI_API_KEY: 'sk-secret',
    };
    const { code, stdout } = await oplus(['doctor', '--dir', 'file', '--json'], { cwd, env });
    expect(code).toBe(0);
    expect(checksOf(stdout).find(({ name }) => name === 'sqlite')).toMatchObject({
      level: 'warn',
      fix: expect.stringContaining('--dir'),
    });
    expect(checksOf(stdout).find(({ name }) => name === 'model')).toMatchObject({ text: 'openai at 127.0.0.1:9, key set' });
    expect(stdout).not.toContain('secret');
  }));
