import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { oplus } from './testing/command.ts';

const cwd = tmpdir();

test('[CLI1] without arguments and with --help, the help stands on stdout and the exit code is 0', async () => {
  const [bare, long] = await Promise.all([oplus([], { cwd }), oplus(['--help'], { cwd })]);
  expect(bare).toMatchObject({ code: 0, stderr: '' });
  expect(bare.stdout).toBe(long.stdout);
  for (const word of [
    'run',
    'replay',
    'log',
    'show',
    'diff',
    'what-if',
    'schema',
    'lint',
    'doctor',
    'Exit codes',
    'oplus run warehouse',
  ])
    expect(bare.stdout).toContain(word);
});

test('[CLI1] help on a command, and the version', async () => {
  const [help, option, version] = await Promise.all([
    oplus(['help', 'run'], { cwd }),
    oplus(['run', '--help'], { cwd }),
    oplus(['--version'], { cwd }),
  ]);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toBe(option.stdout);
  for (const word of ['--agents', '--routing', '--nats-url', '--barrier', 'OPENAI_API_KEY', 'default: 100'])
    expect(help.stdout).toContain(word);
  const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  expect(version).toEqual({ code: 0, signal: null, stderr: '', stdout: `${manifest.version}\n` });
});

test.each([
  [['rum'], "unknown command 'rum'", 'Did you mean run?'],
  [['help', 'shwo'], "unknown command 'shwo'", 'Did you mean show?'],
  [['help', 'xyzzy'], "unknown command 'xyzzy'", 'The commands are run, replay, log, show, diff, what-if, schema, lint, doctor'],
  [['run'], "missing required argument 'skill'", 'oplus help run'],
  [['run', 'warehouse', '--agnts', '3'], "unknown option '--agnts'", 'Did you mean --agents?'],
  [['run', 'warehose'], 'no skill is called warehose', 'Did you mean warehouse?'],
  [['run', 'xyzzy'], 'no skill is called xyzzy', 'The skills are: warehouse.'],
  [['run', 'warehouse', '--agents', '0'], "'--agents <n>' argument '0' is invalid", 'oplus help run'],
  [['run', 'warehouse', '--steps', '1e3'], "'--steps <n>' argument '1e3' is invalid", 'oplus help run'],
  [['run', 'warehouse', '--seed', '-1'], "'--seed <n>' argument '-1' is invalid", 'oplus help run'],
  [['run', 'warehouse', '--steps', '999999'], 'steps is 999999', 'up to'],
  [['run', 'warehouse', '--routing', 'sharde'], 'there is no routing sharde', 'disjoint, zones, shared'],
  [['run', 'warehouse', '--log', 'sqlit'], 'log is one of memory, sqlite, nats, not sqlit', 'Did you mean --log sqlite?'],
  [['run', 'warehouse', '--nats-url', 'nats://127.0.0.1'], '--nats-url goes with --log nats', 'Add --log nats'],
  [['run', 'warehouse', '--model', 'opanai:x'], 'no model is called opanai:x', 'Did you mean openai:x?'],
  [['replay', 'a', 'b'], "too many arguments for 'replay'", 'oplus help replay'],
  [['diff', 'x'], 'x is not a revision', 'Write r12 or 12.'],
  [['lint'], "missing required argument 'file'", 'oplus help lint'],
  [['show', '--path', 'shelves'], 'shelves is not a path', 'JSON Pointer'],
])('[CLI12] oplus %j is wrong usage, with a way out', async (args, message, hint) => {
  const { code, stdout, stderr } = await oplus(args, { cwd });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const [first, ...more] = stderr.split('\n');
  expect(first).toMatch(/^error\[(?:USAGE|SKILL_UNKNOWN)\]: /);
  expect(first).toContain(message);
  expect(more.find((line) => line.startsWith('  hint: '))).toContain(hint);
});

test('[CLI2] --json, --debug and --no-color go before and after the name of the command, and after -- they are words', async () => {
  const before = await oplus(['--json', '--no-color', 'run', 'warehose'], { cwd });
  const after = await oplus(['run', 'warehose', '--json', '--no-color'], { cwd });
  expect(before).toEqual(after);
  expect(JSON.parse(before.stdout)).toMatchObject({ ok: false, error: { code: 'SKILL_UNKNOWN' } });
  expect((await oplus(['--debug', 'run', 'warehose'], { cwd })).stderr).toMatch(/\n\s+at .*catalogue\.ts/);
  const word = await oplus(['run', '--', '--json'], { cwd });
  expect(word).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('no skill is called --json') });
  expect(JSON.parse((await oplus(['--json'], { cwd })).stdout)).toMatchObject({ ok: false, error: { code: 'USAGE' } });
});
