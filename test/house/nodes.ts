/**
 * The same suites under other versions of Node: a log that one of them wrote has to fold to the same bytes on the next.
 *
 * As a program (`npm run nodes`, or `npm run nodes -- 22 26`) it fetches the binary of each major version from npm into a
 * temporary folder and runs the core, the fixtures and what stores and frames bytes with it. Linux and Windows only: npm has no
 * such package for others.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './source.ts';

/** The oldest that the manifests allow, and the newest with long support to come. The lock file pins the one between. */
const MAJORS = ['22', '26'];

const SUITES = ['packages/core', 'packages/protocol', 'packages/transport-sqlite', 'test/conformance'];

if (import.meta.main) {
  const asked = process.argv.slice(2);
  const codes = (asked.length > 0 ? asked : MAJORS).map(underNode);
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
}

/** Exit code of the suites under one major version; their output goes where ours goes. */
function underNode(major: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'oplus-node-'));
  try {
    const binary = binaryOf(major, folder);
    process.stdout.write(`Node ${execFileSync(binary, ['--version'], { encoding: 'utf8' })}`);
    const runner = join(ROOT, 'node_modules/vitest/vitest.mjs');
    return spawnSync(binary, [runner, 'run', ...SUITES], { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function binaryOf(major: string, folder: string): string {
  const isWindows = process.platform === 'win32';
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  execFileSync('npm', ['install', '--no-save', `${name}@${major}`], { cwd: folder, stdio: 'inherit', shell: isWindows });
  return join(folder, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node');
}
