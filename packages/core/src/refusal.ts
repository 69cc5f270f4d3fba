/**
 * The refusals that several kinds give, each with its recovery and a hint in words.
 */
import type { Mark } from './dot.ts';
import { blockerOf } from './dot.ts';
import type { Refusal } from './field-kind.ts';
import type { Outcome } from './issue.ts';
import { EXCERPT_CHARS_MAX } from './issue.ts';
import type { Json } from './json.ts';
import { excerpt } from './json.ts';

/** A concurrent change that does not commute. */
export function conflict(
  rule: string,
  have: Json | undefined,
  want: Json | undefined,
  mark: Mark | undefined,
  agent: string,
): Refusal {
  return {
    code: 'conflict',
    rule,
    ...shown('have', have),
    ...shown('want', want),
    ...named(mark, agent),
    recovery: 're-read',
    hint: 'It changed after your view was made. Look at what is there now and decide again.',
  };
}

/** The view is too old to be judged on. `have` is what stands now where the author aimed, so that it can decide again. */
export function stale(rule: string, have: Json | undefined): Refusal {
  return {
    code: 'stale_base',
    rule,
    ...shown('have', have),
    recovery: 're-read',
    hint: 'Your view is too old. Decide again on what stands here now.',
  };
}

/** The patch is not one that the definition knows. */
export function malformed(rule: string, hint: string, want?: Json): Refusal {
  return { code: 'schema', rule, ...shown('want', want), recovery: 'change', hint };
}

/** A value, a count or a sum outside its declared range. */
export function outOfBounds(rule: string, have: Json | undefined, want: Json | undefined, hint: string): Refusal {
  return { code: 'bound', rule, ...shown('have', have), ...shown('want', want), recovery: 'change', hint };
}

/** The row or key that the operation aimed at was dropped after the view was made, or made anew: another thing stands there now. */
export function gone(rule: string, mark: Mark | undefined, agent: string): Refusal {
  return {
    code: 'gone',
    rule,
    ...named(mark, agent),
    recovery: 're-read',
    hint: 'What you saw was dropped; what stands under that name now, if anything, is something else.',
  };
}

/** The view shows already that there is nothing of that name: reading it again will not help. */
export function absent(rule: string): Refusal {
  return { code: 'gone', rule, recovery: 'change', hint: 'Nothing has that id. Put it, or add it under an id of its own.' };
}

/** The operation lost by rule to a value of another agent. */
export function superseded(by: string, value: Json): Outcome {
  return { kind: 'superseded', by, value: excerpt(value, EXCERPT_CHARS_MAX) };
}

/** `by` of an issue: the agent whose change stands in the way of this one. */
export function named(mark: Mark | undefined, agent: string): { by?: string } {
  const by = blockerOf(mark, agent);
  return by === undefined ? {} : { by };
}

function shown(key: 'have' | 'want', value: Json | undefined): { have?: Json; want?: Json } {
  return value === undefined ? {} : { [key]: excerpt(value, EXCERPT_CHARS_MAX) };
}
