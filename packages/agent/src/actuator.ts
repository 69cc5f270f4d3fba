/**
 * Port `Actuator`: where actions become effects, and effects become the next observation.
 */
import type { Action } from '@oplus/core';

/** `failed` means that the action changed nothing; `observation` then says why. Either way it is what the agent sees next. */
export type ActionResult = { readonly kind: 'done' | 'failed'; readonly observation: string };

export interface Actuator {
  /**
   * Carries out an action whose proposal is committed. `key` is the idempotency key: the same key is the same action, and gets
   * its first result again. Throws only for operating trouble, when nobody knows whether the action took effect.
   */
  act(action: Action, key: string): Promise<ActionResult>;
}
