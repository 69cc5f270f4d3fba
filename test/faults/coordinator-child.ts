/**
 * Starts, stops and kills coordinators in processes of their own.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Death, Stand } from './crew.ts';

export type CoordinatorChild = {
  /** Lets it begin; resolves with its term when it leads. Rejects when it ends before, with what it said last. */
  lead(): Promise<number>;
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** What it said, so far. */
  readonly lines: readonly string[];
  /** Resolves when the process is gone. */
  readonly gone: Promise<unknown>;
};

/** Starts one that waits for `lead`. It is killed, at the latest, when `children` is emptied by `killAll`. */
export function startCoordinator(stand: Stand, children: Set<CoordinatorChild>, death?: Death): CoordinatorChild {
  const args = [SCRIPT, JSON.stringify(stand), JSON.stringify(death ?? null)];
  const child = spawn(process.execPath, ['--conditions=@oplus/source', '--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(stand.dir, 'code') },
  });
  // It may die before it has read what we say to it.
  child.stdin.on('error', () => undefined);
  const lines: string[] = [];
  const errors: string[] = [];
  const gone = once(child, 'close');
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    child.emit('said');
  });
  const one: CoordinatorChild = {
    async lead() {
      child.stdin.write('lead\n');
      for (;;) {
        const leading = lines.find((line) => line.startsWith('leading '));
        if (leading !== undefined) return Number(leading.slice('leading '.length));
        const isGone = await Promise.race([once(child, 'said').then(() => false), gone.then(() => true)]);
        if (isGone) throw new Error(`the coordinator ended: ${[...lines, ...errors].join(' ')}`);
      }
    },
    signal: (name) => void child.kill(name),
    lines,
    gone,
  };
  children.add(one);
  void gone.then(() => children.delete(one));
  return one;
}

/** Kills whatever is left, stopped ones too, and waits for it. */
export async function killAll(children: Set<CoordinatorChild>): Promise<void> {
  const left = [...children];
  for (const child of left) child.signal('SIGKILL');
  await Promise.all(left.map(({ gone }) => gone));
}

const SCRIPT = fileURLToPath(new URL('coordinator-process.ts', import.meta.url));
