/**
 * Idempotency keys of actions: the space and the dot of the proposal that they were committed with.
 */
import type { Dot } from '@oplus/core';

/** `space/agent/n`. */
export function actionKey(space: string, { agent, n }: Dot): string {
  return `${space}/${agent}/${n}`;
}
