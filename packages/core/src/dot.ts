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
 * Where a change took effect. `foreign` is the newest change of the same thing by another agent than this one; `trust` that
 * of the author's role, or less where the author relied on something less trusted; `TRUST_MAX` when absent.
 */
export type Mark = Dot & {
  readonly revision: number;
  readonly foreign?: { readonly agent: string; readonly revision: number };
  readonly trust?: number;
};

/** The trust of roles that declare none. */
export const TRUST_MAX = 100;

/** Agent names: 1 to 32 of `a-z`, `0-9`, `-`, starting with a letter, and no key that the strict reader reserves. The empty name is the system's own. */
export const AGENT_PATTERN: RegExp = /^(?!(?:constructor|prototype)$)[a-z][a-z0-9-]{0,31}$/;

/** The mark of a thing after one more change. */
export function summed(before: Mark | undefined, change: Mark): Mark {
  if (before === undefined) return change;
  const foreign = before.agent === change.agent ? before.foreign : { agent: before.agent, revision: before.revision };
  return foreign === undefined ? change : { ...change, foreign };
}

/** The trust of the least trusted of these marks: an absent mark, or one without a trust, takes nothing away. */
export function leastTrust(marks: readonly (Mark | undefined)[]): number {
  return Math.min(TRUST_MAX, ...marks.map((mark) => mark?.trust ?? TRUST_MAX));
}

/** The mark, trusted no more than `trust`. */
export function trustedTo(mark: Mark, trust: number): Mark {
  return trust < (mark.trust ?? TRUST_MAX) ? { ...mark, trust } : mark;
}

/**
 * As `summed`, for a change after which something of what was there still counts: it adds to it, or leaves it as it is. What many
 * made is trusted as the least of them, and to agree with a value is no new evidence for it.
 */
export function affirmed(before: Mark | undefined, change: Mark): Mark {
  return trustedTo(summed(before, change), leastTrust([before]));
}

/** Whose change stands in the way of this agent; `undefined` when it is nobody's. */
export function blockerOf(mark: Mark | undefined, agent: string): string | undefined {
  const name = mark?.agent === agent ? mark.foreign?.agent : mark?.agent;
  return name === '' ? undefined : name;
}

/**
 * `["w1",3,7]`: agent, n, revision, then agent and revision of `foreign` where there is one, then `trust` where it is not
 * full. Agent names need no escapes.
 */
export function encodeMark(mark: Mark | undefined): string {
  if (mark === undefined) return 'null';
  const foreign = mark.foreign === undefined ? '' : `,"${mark.foreign.agent}",${mark.foreign.revision}`;
  return `["${mark.agent}",${mark.n},${mark.revision}${foreign}${mark.trust === undefined ? '' : `,${mark.trust}`}]`;
}

/** Inverse of `encodeMark`. Throws `LOG_DAMAGED` for anything else. */
export function decodeMark(value: Json | undefined): Mark | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const [agent, n, revision, ...rest] = value as readonly Json[];
    if (typeof agent === 'string' && typeof n === 'number' && typeof revision === 'number') {
      const [other, otherRevision] = rest;
      const hasForeign = typeof other === 'string' && typeof otherRevision === 'number';
      const trust = rest[hasForeign ? 2 : 0];
      return {
        agent,
        n,
        revision,
        ...(hasForeign ? { foreign: { agent: other, revision: otherRevision } } : {}),
        ...(typeof trust === 'number' ? { trust } : {}),
      };
    }
  }
  throw new OplusError('LOG_DAMAGED', 'a stored mark is not one');
}
