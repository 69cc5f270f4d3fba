/**
 * A thread of its own for a foreign module, and what comes back from it.
 */
import { Worker } from 'node:worker_threads';
import { OplusError } from '@oplus/core';
import type { LintFinding } from './finding.ts';

export type ThreadAnswer =
  | { readonly kind: 'findings'; readonly findings: readonly LintFinding[] }
  | { readonly kind: 'not loaded'; readonly message: string; readonly stack: string };

/**
 * The findings on the module at a file URL. What the module prints goes to `print`. The thread ends with the answer, whatever the
 * module keeps open. Throws `USAGE` when the module cannot be loaded or ends the thread.
 */
export async function findingsIn(url: URL, path: string, print: (text: string) => void): Promise<readonly LintFinding[]> {
  const isSource = import.meta.url.endsWith('.ts');
  const thread = new Worker(new URL(isSource ? './thread.ts' : './thread.js', import.meta.url), {
    workerData: { url: url.href },
    stdout: true,
    stderr: true,
    // What registers hooks in the main thread does nothing here.
    execArgv: ['--disable-warning=ExperimentalWarning', ...(isSource ? ['--conditions=@oplus/source'] : [])],
  });
  for (const stream of [thread.stdout, thread.stderr]) stream.setEncoding('utf8').on('data', print);
  try {
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      thread.on('message', resolve);
      thread.on('error', reject);
      thread.on('exit', (code) => reject(new Error(`it ended the process with ${code}`)));
    });
    if (answer.kind === 'findings') return answer.findings;
    throw notLoaded(path, answer.message, Object.assign(new Error(answer.message), { stack: answer.stack }));
  } catch (error) {
    if (error instanceof OplusError) throw error;
    throw notLoaded(path, error instanceof Error ? error.message : String(error), error);
  } finally {
    await thread.terminate();
  }
}

function notLoaded(path: string, message: string, cause: unknown): OplusError {
  return new OplusError('USAGE', `the module cannot be loaded: ${message}`, {
    path,
    hint: 'Node runs it as it is, with types stripped: try it with node alone.',
    cause,
  });
}
