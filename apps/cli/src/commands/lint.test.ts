import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inFolder, oplus } from '../testing/command.ts';

const examples = fileURLToPath(new URL('../../examples/reducers.ts', import.meta.url));

const SOUND = 'export const best = { reduce: (a, b) => Math.max(a, b), start: 0, updates: [1, 2] };\n';

type Document = {
  readonly v: 1;
  readonly ok: boolean;
  readonly reducers: readonly { readonly name: string; readonly verdict: string }[];
};

describe('oplus lint', () => {
  test('[LNT8][LNT9] the examples: what holds, what fails with its smallest case, and what was not measured', () =>
    inFolder(async (cwd) => {
      const { code, stdout, stderr } = await oplus(['lint', examples], { cwd });
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      for (const part of [
        /^ok {12}best {6}declaration, by examples: purity \(\d+\), reload \(\d+\), order \(\d+\) hold$/m,
        /^ok {12}labels /m,
        /^ok {12}table .*\n +note: the order of parallel updates decides: from \[\] with/m,
        /^fail {10}pushed .*\n +purity fails: from \[\] with \{"id":1,"text":"a"\}\n +state before: \[\]\n +state after: \[\{"id":1,"text":"a"\}\]\n/m,
        /^fail {10}numbered .*\n +purity fails: from \[\] with "a"\n +first run: .*\n +second run: /m,
        /^fail {10}sampled .*\n +batching fails: from 0 with 3, then 3\n +one by one: 6\n +at once: 3\n/m,
        /^fail {10}counted .*\n +reload fails: from \{"seen":Set \{3\}\}\n +live: \{"seen":Set \{3\}\}\n +after reload: \{"seen":\{\}\}\n/m,
        /^not measured {2}appended {2}function: a function alone has no start/m,
        /^8 reducers: 3 ok, 4 failed, 1 not measured; in brackets stand the cases looked at$/m,
      ])
        expect(stdout).toMatch(part);
    }));

  test('[LNT8][LNT9] with --json the same as one document', () =>
    inFolder(async (cwd) => {
      const { code, stdout, stderr } = await oplus(['lint', examples, '--json'], { cwd });
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      const document = JSON.parse(stdout) as Document;
      expect(document).toMatchObject({ v: 1, ok: false, file: examples });
      expect(document.reducers.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
        'best ok',
        'counted fail',
        'labels ok',
        'numbered fail',
        'pushed fail',
        'sampled fail',
        'table ok',
        'appended not measured',
      ]);
      expect(document.reducers.find(({ name }) => name === 'sampled')).toMatchObject({
        shape: 'declaration',
        values: 'examples',
        laws: expect.arrayContaining([
          {
            law: 'batching',
            isRequired: true,
            holds: false,
            checks: 1,
            counterexample: { state: '0', updates: ['3', '3'], lines: ['one by one: 6', 'at once: 3'] },
          },
        ]),
      });
    }));

  test('[LNT9] 0 when all that was measured holds, 2 when nothing was', () =>
    inFolder(async (cwd) => {
      await writeFile(join(cwd, 'sound.mjs'), `${SOUND}export const bare = (a, b) => a;\n`);
      await writeFile(join(cwd, 'bare.mjs'), 'export const bare = (a, b) => a;\n');
      const [sound, bare, json] = await Promise.all([
        oplus(['lint', 'sound.mjs'], { cwd }),
        oplus(['lint', 'bare.mjs'], { cwd }),
        oplus(['lint', 'bare.mjs', '--json'], { cwd }),
      ]);
      expect(sound).toMatchObject({ code: 0, stderr: '' });
      expect(sound.stdout).toContain('2 reducers: 1 ok, 0 failed, 1 not measured');
      expect(bare).toMatchObject({ code: 2, stderr: '', stdout: expect.stringContaining('not measured') });
      expect(json.code).toBe(2);
      expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, reducers: [{ verdict: 'not measured' }] });
    }));

  test('[LNT9][LNT10] no file, no reducer, no module: wrong usage, with what is wrong', () =>
    inFolder(async (cwd) => {
      await writeFile(join(cwd, 'empty.mjs'), 'export const a = 1;\n');
      await writeFile(join(cwd, 'throws.mjs'), "throw new Error('on load');\n");
      const [missing, empty, throwing] = await Promise.all([
        oplus(['lint', 'nowhere.ts'], { cwd }),
        oplus(['lint', 'empty.mjs'], { cwd }),
        oplus(['lint', 'throws.mjs', '--debug'], { cwd }),
      ]);
      expect(missing).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^error\[USAGE\]: there is no such file\n/),
      });
      expect(empty).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('error[USAGE]: the module exports no reducer'),
      });
      expect(throwing).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('the module cannot be loaded: on load'),
      });
      expect(throwing.stderr).toMatch(/caused by Error: on load\n\s+at .*throws\.mjs/);
    }));

  test('[LNT10] what the module prints is a note, and what it keeps open does not keep the command', () =>
    inFolder(async (cwd) => {
      const noise = "console.log('noise'); console.error('more'); setInterval(() => undefined, 1000);\n";
      await writeFile(join(cwd, 'noisy.ts'), `const one: number = 1;\n${noise}${SOUND}void one;\n`);
      await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
      const { code, stdout, stderr } = await oplus(['lint', 'noisy.ts', '--json'], { cwd });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true });
      expect(stderr).toContain('noise');
    }));
});
