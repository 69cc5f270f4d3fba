/**
 * Starts `child.ts` and listens to it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A child and what it has printed. */
export type Child = {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: string[];
  /** Resolves with `true` when `line` is there, with `false` when it has ended before. */
  printed(line: string): Promise<boolean>;
  /** Resolves when it has ended and all its lines are there; rejects when it printed to its error stream. */
  ended(): Promise<void>;
};

/** Starts one task of `child.ts`. */
export function startChild(task: 'serve' | 'attach', path: string, name: string): Child {
  const child = spawn(
    process.execPath,
    ['--conditions=@oplus/source', '--disable-warning=ExperimentalWarning', CHILD, task, path, name],
    { stdio: 'pipe' },
  );
  const lines: string[] = [];
  const errors: Buffer[] = [];
  const closed = once(child, 'close');
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    child.emit('printed');
  });
  return {
    process: child,
    lines,
    async printed(line) {
      while (!lines.includes(line)) {
        const isEnd = await Promise.race([once(child, 'printed').then(() => false), closed.then(() => true)]);
        if (isEnd) return lines.includes(line);
      }
      return true;
    },
    async ended() {
      await closed;
      const text = Buffer.concat(errors).toString();
      if (text !== '') throw new Error(text);
    },
  };
}

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
