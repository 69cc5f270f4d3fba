/**
 * What an owned value holds, and what one operation does to it.
 *
 * Every set is a word of its agent for a value. A value that all owners stand behind becomes the value, owned by all who stand
 * behind it; so the first set of a free field, the set of its only owner and the agreement of several are one rule.
 */
import { affirmed, decodeMark, encodeMark, leastTrust, summed, trustedTo } from '../dot.ts';
import type { Mark } from '../dot.ts';
import type { Attempt, Expiry, Refusal } from '../field-kind.ts';
import { EXCERPT_CHARS_MAX } from '../issue.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, excerpt, frozen, sameJson } from '../json.ts';
import { conflict, outOfBounds } from '../refusal.ts';

/** Most agents that own a value together. */
export const OWNERS_MAX = 64;

/** Most rivals that stand beside a value. */
export const RIVALS_MAX = 8;

/** Another value, and the agent that stands behind it. */
export type Rival<T> = { readonly by: string; readonly value: T };

/** `mayForce` in ascending order; without `hasRivals` another value than the owned one is refused. */
export type OwnedRule = {
  readonly start: Json | undefined;
  readonly mayForce: readonly string[];
  readonly hasRivals: boolean;
};

/** `wrote` is the mark of what led to the value; one rival per agent, the oldest first; `owners` in ascending order. */
export type Owned = {
  readonly value: Json | undefined;
  readonly wrote: Mark | undefined;
  readonly owners: readonly string[];
  readonly rivals: readonly StandingRival[];
  readonly mark: Mark | undefined;
};
type StandingRival = Rival<Json> & { readonly mark: Mark };

export type OwnedOp = { readonly verb: 'set'; readonly value: Json; readonly isForced: boolean } | { readonly verb: 'release' };

export function fold(rule: OwnedRule, cell: Owned, op: OwnedOp, path: string, attempt: Attempt): Owned {
  if (op.verb === 'release') return released(rule, cell, path, attempt);
  if (op.isForced && !rule.mayForce.includes(attempt.role)) {
    attempt.refuse(path, forbidden(rule, attempt.role));
    return cell;
  }
  const after =
    op.isForced && cell.owners.length > 0
      ? decided(cell, op.value, path, attempt)
      : sameJson(op.value, cell.value)
        ? joined(cell, path, attempt)
        : asked(rule, cell, op.value, path, attempt);
  if (after.owners.length <= OWNERS_MAX) return after;
  attempt.refuse(path, outOfBounds('owned', OWNERS_MAX, attempt.agent, `At most ${OWNERS_MAX} agents own a value together.`));
  return cell;
}

/** Whether the agent may drop what the value stands in: nobody else owns it, or its role may force. */
export function mayDrop(rule: OwnedRule, cell: Owned, path: string, attempt: Attempt): boolean {
  const isFree = cell.owners.every((owner) => owner === attempt.agent);
  if (isFree || rule.mayForce.includes(attempt.role)) return true;
  const refusal = notOwner(rule, cell, undefined, attempt);
  attempt.refuse(path, {
    ...refusal,
    hint: `Owned by ${whoElse(cell, attempt)}: ask for a release before you drop what it stands in.`,
  });
  return false;
}

/** Rivals whose deadline has passed fall; the value and its owners stay. */
export function expire(cell: Owned, { token, cause, mark }: Expiry): Owned {
  const rivals = cell.rivals.filter((rival) => rival.mark.revision !== token);
  if (cause !== 'deadline' || rivals.length === cell.rivals.length) return cell;
  return { ...cell, rivals, mark: affirmed(cell.mark, mark) };
}

export function rivalsOf(cell: Owned): readonly Rival<Json>[] {
  return cell.rivals.map(({ by, value }) => ({ by, value }));
}

export function json(rule: OwnedRule, cell: Owned): JsonObject {
  const shown = { value: cell.value ?? null, owners: cell.owners };
  return rule.hasRivals ? { ...shown, rivals: rivalsOf(cell) } : shown;
}

export function encode(cell: Owned): string {
  const owners = cell.owners.map((agent) => `"${agent}"`);
  const rivals = cell.rivals.map(({ by, value, mark }) => `["${by}",${canonical(value)},${encodeMark(mark)}]`);
  const value = cell.value === undefined ? '' : `,"value":${canonical(cell.value)}`;
  return `{"mark":${encodeMark(cell.mark)},"owners":[${owners.join()}],"rivals":[${rivals.join()}]${value},"wrote":${encodeMark(cell.wrote)}}`;
}

export function decode(stored: Json): Owned {
  const cell = stored as JsonObject;
  const value = cell['value'];
  const rivals = cell['rivals'] as readonly (readonly Json[])[];
  return {
    value: value === undefined ? undefined : frozen(value),
    wrote: decodeMark(cell['wrote']),
    owners: cell['owners'] as readonly string[],
    rivals: rivals.map(([by, rival, mark]) => ({
      by: by as string,
      value: frozen(rival as Json),
      mark: decodeMark(mark) as Mark,
    })),
    mark: decodeMark(cell['mark']),
  };
}

/** The value that stands, set again: its agent owns it too, and wants no other. */
function joined(cell: Owned, path: string, attempt: Attempt): Owned {
  const { agent } = attempt;
  attempt.note(path, { kind: 'unchanged' });
  const rivals = cell.rivals.filter(({ by }) => by !== agent);
  const owners = cell.owners.includes(agent) ? cell.owners : [...cell.owners, agent].sort();
  if (owners === cell.owners && rivals.length === cell.rivals.length) return cell;
  return { ...cell, owners, rivals, mark: affirmed(cell.mark, attempt.mark) };
}

/** Another value than the one that stands. */
function asked(rule: OwnedRule, cell: Owned, value: Json, path: string, attempt: Attempt): Owned {
  const { agent, mark } = attempt;
  const own = cell.rivals.find(({ by }) => by === agent);
  if (own !== undefined && sameJson(own.value, value)) {
    attempt.note(path, { kind: 'contested' });
    return cell;
  }
  const rivals = [...cell.rivals.filter(({ by }) => by !== agent), { by: agent, value, mark }];
  const backers = backersOf(rivals, value);
  if (isWholly(cell.owners, backers)) {
    // Whoever finds the field free must have seen why: what was given back is not set again by one who did not know.
    if (cell.owners.length === 0 && !attempt.sees(cell.wrote))
      attempt.refuse(path, conflict('owned', cell.value ?? null, value, cell.wrote, agent));
    noteOver(cell, path, attempt);
    return taken({ ...cell, rivals }, value, backers, attempt);
  }
  if (!rule.hasRivals) attempt.refuse(path, notOwner(rule, cell, value, attempt));
  else if (rivals.length > RIVALS_MAX)
    attempt.refuse(path, {
      ...outOfBounds('owned', RIVALS_MAX, value, `${RIVALS_MAX} rivals stand already; wait until some are settled.`),
      recovery: 'wait',
    });
  else attempt.note(path, { kind: 'contested' });
  return { ...cell, rivals, mark: affirmed(cell.mark, mark) };
}

/** A set by force: for the value that stands, for that of a rival, which then owns it, or for one of its own. */
function decided(cell: Owned, value: Json, path: string, attempt: Attempt): Owned {
  const unseen = cell.rivals.filter(({ mark }) => !attempt.sees(mark));
  if (sameJson(value, cell.value)) {
    if (unseen.length === cell.rivals.length) {
      attempt.note(path, { kind: 'unchanged' });
      return cell;
    }
    return { ...cell, rivals: unseen, mark: affirmed(cell.mark, attempt.mark) };
  }
  const backers = backersOf(cell.rivals, value);
  const own = { by: attempt.agent, value, mark: attempt.mark };
  noteOver(cell, path, attempt);
  return taken({ ...cell, rivals: unseen }, value, backers.length === 0 ? [own] : backers, attempt);
}

/** One agent stands behind nothing any more. What nobody owns goes to the oldest rival, or back to the start. */
function released(rule: OwnedRule, cell: Owned, path: string, attempt: Attempt): Owned {
  const { agent } = attempt;
  const rivals = cell.rivals.filter(({ by }) => by !== agent);
  const owners = cell.owners.filter((owner) => owner !== agent);
  if (owners.length === cell.owners.length && rivals.length === cell.rivals.length) {
    attempt.refuse(path, notOwner(rule, cell, undefined, attempt));
    return cell;
  }
  const [heir] = rivals;
  if (owners.length > 0) return agreed({ ...cell, owners, rivals, mark: affirmed(cell.mark, attempt.mark) }, attempt);
  if (heir === undefined) return taken({ ...cell, rivals }, rule.start, [], attempt);
  return taken({ ...cell, rivals }, heir.value, backersOf(rivals, heir.value), attempt);
}

/** The last owner who held on to the value may be the one who left: then the others have agreed. */
function agreed(cell: Owned, attempt: Attempt): Owned {
  const first = cell.rivals.find(({ by }) => by === cell.owners[0]);
  if (first === undefined) return cell;
  const backers = backersOf(cell.rivals, first.value);
  return isWholly(cell.owners, backers) ? taken(cell, first.value, backers, attempt) : cell;
}

function backersOf(rivals: readonly StandingRival[], value: Json): readonly StandingRival[] {
  return rivals.filter((rival) => sameJson(rival.value, value));
}

/** Whether every owner is among those who stand behind something. */
function isWholly(owners: readonly string[], backers: readonly StandingRival[]): boolean {
  return owners.every((owner) => backers.some(({ by }) => by === owner));
}

/** The value, owned by all who stand behind it, who want no other any more; trusted as the least trusted of them. */
function taken(cell: Owned, value: Json | undefined, backers: readonly StandingRival[], attempt: Attempt): Owned {
  const owners = backers.map(({ by }) => by);
  const mark = trustedTo(attempt.mark, leastTrust(backers.map((backer) => backer.mark)));
  const rivals = cell.rivals.filter((rival) => !owners.includes(rival.by));
  return { value, wrote: mark, owners: owners.toSorted(), rivals, mark: summed(cell.mark, mark) };
}

function noteOver(cell: Owned, path: string, attempt: Attempt): void {
  if (cell.wrote === undefined || attempt.sees(cell.wrote)) return;
  attempt.note(path, { kind: 'merged', over: { agent: cell.wrote.agent, n: cell.wrote.n } });
}

function notOwner(rule: OwnedRule, cell: Owned, want: Json | undefined, attempt: Attempt): Refusal {
  const { value, owners } = cell;
  const { agent, role } = attempt;
  const other = owners.find((owner) => owner !== agent);
  const force = rule.mayForce.includes(role) ? ' Your role may set it with {force: true}.' : '';
  return {
    code: 'not_owner',
    rule: 'owned',
    have: excerpt({ value: value ?? null, owners }, EXCERPT_CHARS_MAX),
    ...(want === undefined ? {} : { want: excerpt(want, EXCERPT_CHARS_MAX) }),
    ...(other === undefined ? {} : { by: other }),
    recovery: 'change',
    hint:
      want === undefined
        ? 'You do not own it, so there is nothing to give back.'
        : `Owned by ${whoElse(cell, attempt)}: agree by setting the same value, or ask for a release.${force}`,
  };
}

/** The owners beside the agent, in words. */
function whoElse({ owners }: Owned, { agent }: Attempt): string {
  const others = owners.filter((owner) => owner !== agent);
  return others.length > NAMES_SHOWN ? `${others.slice(0, NAMES_SHOWN).join(', ')} and others` : others.join(', ');
}

/** Names of owners that a hint tells. */
const NAMES_SHOWN = 3;

function forbidden(rule: OwnedRule, role: string): Refusal {
  const allowed = rule.mayForce.join(', ');
  return { code: 'forbidden', rule: 'owned', have: role, want: allowed, recovery: 'change', hint: `Only ${allowed} may force.` };
}
