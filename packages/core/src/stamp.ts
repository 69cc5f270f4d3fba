/**
 * Stamps: the total order on proposals that breaks every tie.
 *
 * A stamp is computed from the proposal alone: `depth` = 1 + the revision read, `priority` of the agent's role, `spin` =
 * 32 bits of a hash of (depth, agent), then agent and n. A causal successor has read a later revision, so its depth is
 * greater: the order extends causality, which "compare causally, else by name" does not. `spin` changes with every depth,
 * so no agent wins ties by its name.
 */
import { OplusError } from './error.ts';
import type { Json } from './json.ts';
import { compareText } from './json.ts';

export type Stamp = {
  readonly depth: number;
  readonly priority: number;
  readonly spin: number;
  readonly agent: string;
  readonly n: number;
};

/** The stamp of a proposal of `agent` that read `revision`. `priority` is that of the agent's role. */
export function stampOf(given: { revision: number; priority: number; agent: string; n: number }): Stamp {
  const depth = given.revision + 1;
  return { depth, priority: given.priority, spin: spin(depth, given.agent), agent: given.agent, n: given.n };
}

/** Win order: positive when `a` wins over `b`. Zero only for the same dot. */
export function compareWin(a: Stamp, b: Stamp): number {
  return a.depth - b.depth || a.priority - b.priority || a.spin - b.spin || compareText(a.agent, b.agent) || a.n - b.n;
}

/** Admit order, the canonical order of a round: negative when `a` comes first. Older readers have waited longer. */
export function compareAdmit(a: Stamp, b: Stamp): number {
  return a.depth - b.depth || b.priority - a.priority || a.spin - b.spin || compareText(a.agent, b.agent) || a.n - b.n;
}

/** `[depth,priority,spin,"w1",3]`. */
export function encodeStamp(stamp: Stamp): string {
  return `[${stamp.depth},${stamp.priority},${stamp.spin},"${stamp.agent}",${stamp.n}]`;
}

/** Inverse of `encodeStamp`. Throws `LOG_DAMAGED` for anything else. */
export function decodeStamp(stored: Json | undefined): Stamp | undefined {
  if (stored === undefined) return undefined;
  const [depth, priority, spinOf, agent, n] = Array.isArray(stored) ? (stored as readonly Json[]) : [];
  if (
    typeof depth === 'number' &&
    typeof priority === 'number' &&
    typeof spinOf === 'number' &&
    typeof agent === 'string' &&
    typeof n === 'number'
  ) {
    return { depth, priority, spin: spinOf, agent, n };
  }
  throw new OplusError('LOG_DAMAGED', 'a stored stamp is not one');
}

/** FNV-1a over the agent's name, seeded by the depth, then the finaliser of MurmurHash3. Unsigned 32 bits. */
export function spin(depth: number, agent: string): number {
  let hash = (0x811c9dc5 ^ depth) >>> 0;
  hash = Math.imul(hash, 0x01000193) >>> 0;
  for (let i = 0; i < agent.length; i += 1) hash = Math.imul(hash ^ agent.charCodeAt(i), 0x01000193) >>> 0;
  return finalise(hash);
}

/** A well-mixed unsigned 32-bit hash of a text: shards of a trie, never a security boundary. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return finalise(hash >>> 0);
}

function finalise(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
