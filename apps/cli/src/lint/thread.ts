/**
 * The thread in which a foreign module is loaded and its reducers are called: what it prints, keeps open or ends stays there.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { findingOf } from './finding.ts';
import { reducersIn } from './found-reducer.ts';
import type { ThreadAnswer } from './thread-answer.ts';

const { url } = workerData as { readonly url: string };

async function answer(): Promise<ThreadAnswer> {
  let exports: { readonly [name: string]: unknown };
  try {
    exports = (await import(url)) as { readonly [name: string]: unknown };
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    return { kind: 'not loaded', message: failure.message, stack: failure.stack ?? failure.message };
  }
  return { kind: 'findings', findings: reducersIn(exports).map(findingOf) };
}

parentPort?.postMessage(await answer());
