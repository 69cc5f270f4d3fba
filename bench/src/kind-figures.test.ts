import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

test('[BEN15] the figures of the kinds are one document too', () => {
  const small = ['--steps', '64', '--seals', '2', '--largest', '1000', '--repeats', '1', '--agents', '8', '--commits', '100'];
  const { status, stdout, stderr } = figures([...small, '--json']);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const document = JSON.parse(stdout) as { readonly [part: string]: unknown };
  expect(document).toMatchObject({ ok: true, conditions: { steps: 64, repeats: 1, commits: 100 } });
  expect(Object.keys(document)).toEqual(['ok', 'conditions', 'speed', 'sizes', 'soak']);
});

test('[BEN15] a part that was not asked for is not there', () => {
  const { status, stdout } = figures(['--parts', 'soak', '--agents', '8', '--commits', '100']);
  expect(status).toBe(0);
  expect(stdout).toContain('under 8 agents');
  expect(stdout).not.toContain('Yjs');
});

test.each([
  [['--parts', 'speed,all'], 'no part all'],
  [['--commits', '10000001'], '--commits 10000001 is not a whole number'],
  [['--steps', 'many'], '--steps many is not a whole number'],
  [['--what'], '--what'],
])('[BEN15] wrong use of the figures of the kinds, %j, exits 2 with a hint', (args, message) => {
  const { status, stdout, stderr } = figures(args);
  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^error: .+\nhint: .+\n$/);
  expect(stderr).toContain(message);
});

function figures(args: readonly string[]): ReturnType<typeof spawnSync> & { readonly stdout: string; readonly stderr: string } {
  const file = fileURLToPath(new URL('kind-figures.ts', import.meta.url));
  return spawnSync(process.execPath, ['--conditions=@oplus/source', file, ...args], { encoding: 'utf8', timeout: 50_000 });
}
