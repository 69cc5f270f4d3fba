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
  /** Resolves with `true` when `count` lines are there, with `false` when it has ended before. */
  printed(count: number): Promise<boolean>;
  /** Resolves when it has ended and all its lines are there; rejects when it printed to its error stream. */
  ended(): Promise<void>;
};

export type ChildOptions = {
  /** Largest file that the child may write, in blocks of 512 bytes. */
  readonly fileBlocksMax?: number;
  /** Runs it as a user without privileges, when we are the superuser. */
  readonly isUnprivileged?: boolean;
};

/** Starts one task of `child.ts`. */
export function startChild(task: string, args: readonly string[], options: ChildOptions = {}): Child {
  const command = [process.execPath, '--conditions=@oplus/source', '--disable-warning=ExperimentalWarning', CHILD, task, ...args];
  const limited =
    options.fileBlocksMax === undefined
      ? command
      : ['sh', '-c', `ulimit -f ${options.fileBlocksMax}; exec "$@"`, 'sh', ...command];
  const [program = '', ...rest] = limited;
  const identity = options.isUnprivileged === true && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, rest, { stdio: 'pipe', ...identity });
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
    async printed(count) {
      while (lines.length < count) {
        const isEnd = await Promise.race([once(child, 'printed').then(() => false), closed.then(() => true)]);
        if (isEnd) return lines.length >= count;
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
const NOBODY = 65_534;
