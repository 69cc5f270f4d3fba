#!/usr/bin/env node
/**
 * Starts the command: from source inside the repository, from `dist` elsewhere. Under a Node that is too old it starts
 * itself again through the binary that the repository pins, where there is one.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isRecent = major > 22 || (major === 22 && minor >= 18);
const source = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const isSource = !import.meta.url.includes('/node_modules/') && existsSync(source);

if (isRecent) {
  // Compiled code is kept in the system's temporary folder: a command starts in half the time from the second on.
  nodeModule.enableCompileCache();
  if (isSource) {
    nodeModule.registerHooks({
      resolve: (specifier, context, next) =>
        next(specifier, { ...context, conditions: [...context.conditions, '@oplus/source'] }),
    });
  }
  const { main } = await import(isSource ? '../src/main.ts' : '../dist/main.js');
  process.exitCode = await main(process.argv.slice(2));
} else {
  const pinned = pinnedNode();
  if (pinned === undefined || process.env.OPLUS_LAUNCHED === '1') {
    process.stderr.write(
      `error[NODE_TOO_OLD]: oplus needs Node 22.18 or later, this is ${process.versions.node}\n  hint: install Node 22.18 or later; this repository brings one for Linux and Windows only\n`,
    );
    process.exit(3);
  }
  launch(pinned);
}

/** Hands everything over, signals and exit code included. */
function launch(binary) {
  const child = spawn(binary, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, OPLUS_LAUNCHED: '1' },
  });
  // A terminal sends Ctrl-C to both of us: passed on, it would count as the second one.
  const isOnTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  process.on('SIGINT', () => isOnTerminal || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', (error) => {
    process.stderr.write(
      `error[NODE_TOO_OLD]: ${binary} does not start: ${error.message}\n  hint: install Node 22.18 or later\n`,
    );
    process.exitCode = 3;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

function pinnedNode() {
  const platform = { linux: 'linux', win32: 'win' }[process.platform];
  const resolve = nodeModule.createRequire(import.meta.url).resolve;
  try {
    const manifest = resolve(`node-${platform}-${process.arch}/package.json`);
    const binary = fileURLToPath(
      new URL(process.platform === 'win32' ? 'bin/node.exe' : 'bin/node', new URL(`file://${manifest}`)),
    );
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
