import { existsSync } from 'node:fs';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { progressLine } from './summary.ts';
import { openTerminal } from './terminal.ts';
import { inFolder, OPLUS, oplus, shell } from './testing/command.ts';

const ESC = '\u001b[';

/** A stream that keeps what is written. */
function streamOf(isTTY: boolean): { readonly stream: Writable & { isTTY: boolean; columns: number }; text(): string } {
  let text = '';
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns: 40 }), text: () => text };
}

function terminalOn(given: { out?: boolean; err?: boolean; json?: boolean; noColour?: boolean; env?: NodeJS.ProcessEnv }) {
  const [out, err] = [streamOf(given.out ?? true), streamOf(given.err ?? true)];
  const terminal = openTerminal({
    stdout: out.stream,
    stderr: err.stream,
    env: given.env ?? {},
    isJson: given.json ?? false,
    isColourOff: given.noColour ?? false,
  });
  return { terminal, out, err };
}

describe('progress', () => {
  test('[CLI4] is one line on stderr, no wider than the terminal, and gone before anything else is written', () => {
    const { terminal, out, err } = terminalOn({});
    terminal.progress(progressLine({ steps: 1, stepsTotal: 4, revision: 3, committed: 2, rejected: 1 }));
    expect(err.text()).toMatch(/^\r\u001b\[2K██████░/);
    expect(err.text().replace(`\r${ESC}2K`, '')).toHaveLength(39);
    terminal.progress('too soon to be shown');
    expect(err.text()).not.toContain('too soon');
    terminal.out('data');
    expect(out.text()).toBe('data\n');
    expect(err.text().endsWith(`\r${ESC}2K`)).toBe(true);
    const length = err.text().length;
    terminal.progressEnd();
    expect(err.text()).toHaveLength(length);
  });

  test.each([[{ err: false }], [{ json: true }], [{ env: { CI: 'true' } }], [{ env: { TERM: 'dumb' } }]])(
    '[CLI4] there is none with %j',
    (given) => {
      const { terminal, err } = terminalOn(given);
      terminal.progress('hidden');
      terminal.progressEnd();
      expect(err.text()).toBe('');
    },
  );

  test.each(['', '0', 'false'])('[CLI4] CI=%j is no CI', (CI) => {
    const { terminal, err } = terminalOn({ env: { CI } });
    terminal.progress('shown');
    expect(err.text()).toContain('shown');
  });
});

describe('colours', () => {
  test.each([
    [{}, true, true],
    [{ out: false }, false, true],
    [{ err: false }, true, false],
    [{ noColour: true }, false, false],
    [{ env: { NO_COLOR: '1' } }, false, false],
    [{ env: { NO_COLOR: '' } }, true, true],
    [{ env: { TERM: 'dumb' } }, false, false],
    [{ out: false, err: false, env: { FORCE_COLOR: '1' } }, true, true],
    [{ out: false, err: false, env: { FORCE_COLOR: '0' } }, false, false],
    [{ env: { FORCE_COLOR: '1', NO_COLOR: '1' } }, false, false],
  ])('[CLI5] with %j data is coloured: %s, notes: %s', (given, data, notes) => {
    const { terminal } = terminalOn(given);
    expect([terminal.colour.red('x').includes(ESC), terminal.noteColour.red('x').includes(ESC)]).toEqual([data, notes]);
  });
});

test('[CLI3] a note goes to stderr, data and documents to stdout', () => {
  const { terminal, out, err } = terminalOn({ out: false, err: false });
  terminal.note('a word');
  terminal.out('data');
  terminal.json({ a: [1, 'ü'] });
  expect([out.text(), err.text()]).toEqual(['data\n{"a":[1,"ü"]}\n', 'a word\n']);
});

test('[CLI4][CLI5] piped, the command writes neither progress nor colours', () =>
  inFolder(async (cwd) => {
    const { stdout, stderr } = await oplus(['run', 'warehouse', '--steps', '4', '--log', 'memory'], {
      cwd,
      env: { TERM: 'xterm-256color' },
    });
    expect(stdout).not.toContain(ESC);
    expect(stderr).toBe('');
  }));

// `script` runs a command on a pseudo-terminal. It is part of util-linux; elsewhere the streams above stand for one.
const scripts = ['/usr/bin/script'].filter((path) => existsSync(path) && process.platform === 'linux');

test.each(scripts)('[CLI4][CLI5] on a terminal (%s) there are progress and colours, and both can be had without', (script) =>
  inFolder(async (cwd) => {
    const run = (env: { readonly [name: string]: string }, flags = '', dir = 'a') =>
      shell(
        `${script} -qec "${process.execPath} ${OPLUS} run warehouse --steps 12 --log memory --dir ${dir} ${flags}" /dev/null`,
        { cwd, env: { TERM: 'xterm-256color', ...env } },
      );
    const live = await run({});
    expect(live.stdout).toContain('█');
    expect(live.stdout).toContain(`${ESC}32mequal`);
    const plain = await run({ CI: '1' }, '--no-color', 'b');
    expect(plain.stdout).toContain('equal');
    expect(plain.stdout).not.toContain(ESC);
    const json = await run({}, '--json', 'c');
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: true });
  }),
);
