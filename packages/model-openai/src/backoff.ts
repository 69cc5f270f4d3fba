/**
 * Waiting between tries: doubling, spread by the request itself, so that agents that failed together do not come back together.
 */
import { hashText } from '@oplus/core';

/** Resolves after `delayMs`; rejects with the signal's reason when it is aborted first. */
export type Pause = (delayMs: number, signal?: AbortSignal) => Promise<void>;

/** Delay before retry `retry` (counted from 0), in milliseconds: between half and all of 500 x 2^retry, at most `delayMsMax`. Pure. */
export function backoffMs(retry: number, request: string, delayMsMax: number): number {
  const spread = hashText(`${retry}/${request}`) / 2 ** 32;
  return Math.round(Math.min(delayMsMax, FIRST_MS * 2 ** retry) * (0.5 + spread / 2));
}

/** Waits in real time. */
export const realPause: Pause = (delayMs, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', stop, { once: true });
  });

const FIRST_MS = 500;
