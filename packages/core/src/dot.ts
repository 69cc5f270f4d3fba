/**
 * Dots and marks: who wrote what, and where in history it took effect.
 *
 * A dot `(agent, n)` names the n-th proposal of an agent, accepted or not, counted from 1. A mark is the dot of an
 * accepted change plus the revision at which it took effect; every cell carries the mark of its newest change.
 *
 * Source: dots as in Preguiça et al. 2012, "Brief Announcement: Efficient Causality Tracking in Distributed Storage
 * Systems With Dotted Version Vectors".
 */
import { OplusError } from './error.ts';
import type { Json } from './json.ts';

export type Dot = { readonly agent: string; readonly n: number };

/**
 * Where a change took effect. `foreign` stands only in marks that sum up several changes (counters, collections): the newest
 * revision at which an agent other than this one changed the same thing.
 */
export type Mark = Dot & { readonly revision: number; readonly foreign?: number };

/** Agent names: 1 to 32 of `a-z`, `0-9`, `-`, starting with a letter. The empty name is the system's own. */
export const AGENT_PATTERN: RegExp = /^[a-z][a-z0-9-]{0,31}$/;

/** The mark of a thing that sums up several changes, after one more. */
export function summed(before: Mark | undefined, change: Mark): Mark {
  if (before === undefined) return change;
  const foreign = before.agent === change.agent ? before.foreign : before.revision;
  return foreign === undefined ? change : { agent: change.agent, n: change.n, revision: change.revision, foreign };
}

/** `["w1",3,7]`: agent, n, revision, and `foreign` where there is one. Agent names need no escapes. */
export function encodeMark(mark: Mark | undefined): string {
  if (mark === undefined) return 'null';
  return `["${mark.agent}",${mark.n},${mark.revision}${mark.foreign === undefined ? '' : `,${mark.foreign}`}]`;
}

/** Inverse of `encodeMark`. Throws `LOG_DAMAGED` for anything else. */
export function decodeMark(value: Json | undefined): Mark | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const [agent, n, revision, foreign] = value as readonly Json[];
    if (typeof agent === 'string' && typeof n === 'number' && typeof revision === 'number') {
      return typeof foreign === 'number' ? { agent, n, revision, foreign } : { agent, n, revision };
    }
  }
  throw new OplusError('LOG_DAMAGED', 'a stored mark is not [agent, n, revision, foreign?]');
}

export function sameDot(a: Dot, b: Dot): boolean {
  return a.n === b.n && a.agent === b.agent;
}
