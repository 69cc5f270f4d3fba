/**
 * The digests of the newest entries, so that a base from another history is noticed. Derived from the log, bounded.
 */
import type { Sealed } from '@oplus/core';

/** How many entries of each space are remembered. */
export const REMEMBERED = 512;

export type Recent = ReadonlyMap<string, readonly string[]>;

/** Slots are addressed by revision modulo `REMEMBERED`; each holds `<revision> <16 hex digits>`. O(REMEMBERED) per entry. */
export function remembered(recent: Recent, sealed: readonly Sealed[]): Recent {
  if (sealed.length === 0) return recent;
  const next = new Map(recent);
  for (const one of sealed) {
    const slots = (next.get(one.space.name) ?? []).slice();
    slots[one.revision % REMEMBERED] = `${one.revision} ${one.digest.slice(0, 16)}`;
    next.set(one.space.name, slots);
  }
  return next;
}

/** False when that revision is remembered under another digest; true when it agrees or is forgotten. */
export function isOurs(recent: Recent, space: string, base: { readonly revision: number; readonly digest?: string }): boolean {
  if (base.digest === undefined) return true;
  const slot = recent.get(space)?.[base.revision % REMEMBERED];
  if (slot === undefined || !slot.startsWith(`${base.revision} `)) return true;
  return slot === `${base.revision} ${base.digest}`;
}
