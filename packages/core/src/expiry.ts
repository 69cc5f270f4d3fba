/**
 * Expiry: what ends by itself ends by an event in the log, never by a reader's clock.
 *
 * Whoever leads watches the timers of the cells and writes the event; the fold only checks that what it names still stands. An
 * expiry after which an invariant would fail does not happen: it stays due until the state allows it. SPEC: EXP1-EXP6.
 */
import type { SystemEvent } from './entry.ts';
import type { FieldKind, Timer } from './field-kind.ts';
import { pointer, pointerTokens } from './json.ts';
import type { Space } from './space.ts';
import type { StateSchema } from './state-schema.ts';
import { isFine } from './state-schema.ts';
import { computeAfter, viewsOf } from './views.ts';

/** All timers of a space, by path. O(size of the fields that have any). */
export function timersOf(space: Space): readonly Timer[] {
  const { kinds, names } = space.schema;
  return kinds.flatMap((kind, i) => kind.timers?.(space.cells[i], pointer(names[i] as string)) ?? []);
}

/** True when the definition has a field in which something may end by itself. */
export function hasTimers(schema: StateSchema): boolean {
  return schema.kinds.some((kind) => kind.timers !== undefined);
}

/** The shortest time after which something may end by itself, in milliseconds; `undefined` where nothing may. */
export function shortestTimerMs(schema: StateSchema): number | undefined {
  const shortest = Math.min(...schema.kinds.map(shortestBelow));
  return shortest === Infinity ? undefined : shortest;
}

function shortestBelow(kind: FieldKind): number {
  return Math.min(kind.timerMs ?? Infinity, ...Object.values(kind.parts ?? {}).map(shortestBelow));
}

/** @internal The cells after an expiry; `undefined` when what it names does not stand any more, or must not end now. */
export function expired(
  schema: StateSchema,
  cells: readonly unknown[],
  event: SystemEvent & { readonly kind: 'expire' },
  revision: number,
): readonly unknown[] | undefined {
  const [name, ...tokens] = pointerTokens(event.path) ?? [];
  const index = name === undefined ? undefined : schema.indexOf.get(name);
  if (index === undefined) return undefined;
  const kind = schema.kinds[index] as FieldKind;
  const mark = { agent: '', n: 0, revision };
  const after = kind.expire?.(cells[index], tokens, { token: event.token, cause: event.cause, mark }) ?? cells[index];
  if (after === cells[index]) return undefined;
  const { cells: next, changed, fault } = computeAfter(schema, cells.with(index, after), [index], mark);
  if (fault !== undefined || !areKept(schema, cells, next, [index, ...changed])) return undefined;
  return next;
}

/** Whether the invariants that read one of the changed fields hold. */
function areKept(
  schema: StateSchema,
  before: readonly unknown[],
  after: readonly unknown[],
  changed: readonly number[],
): boolean {
  const touched = changed.map((index) => pointer(schema.names[index] as string));
  return schema.rules.every((rule) => {
    if (rule.sort !== 'invariant' || !rule.reads.some((index) => changed.includes(index))) return true;
    try {
      const views = {
        before: viewsOf(schema, before, rule.reads, rule.undeclared),
        after: viewsOf(schema, after, rule.reads, rule.undeclared),
      };
      return isFine(rule.check({ ...views, agent: '', role: '', touched }));
    } catch {
      return false;
    }
  });
}
