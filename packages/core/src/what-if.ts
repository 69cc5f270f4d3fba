/**
 * What if: the same log under another definition, beside what it was.
 *
 * Every round is sealed again with the same members in the same order of rounds, under rules that were altered. The words stay
 * those of the run: under other rules its agents would have read other states and said other things, and what ran out by time
 * ends where the log says so and it still stands. So this compares rules on given words; it does not foretell a run.
 * SPEC: WIF1-WIF5.
 */
import type { SystemEvent } from './entry.ts';
import { OplusError } from './error.ts';
import type { Verdict } from './issue.ts';
import type { Json } from './json.ts';
import { canonical } from './json.ts';
import type { Admitted, Proposal } from './proposal.ts';
import { fold, readEntry } from './replay.ts';
import { seal } from './seal.ts';
import type { Decided, Sealed } from './seal.ts';
import type { Space } from './space.ts';
import { unbornSpace } from './space.ts';
import type { StateSchema } from './state-schema.ts';

/** A proposal whose verdict would be another one. `proposal` is as it stands in the log. */
export type Difference = {
  readonly revision: number;
  readonly agent: string;
  readonly n: number;
  readonly proposal: Proposal;
  readonly was: Verdict;
  readonly would: Verdict;
};

/** One space as the log has it, and as it would be. The head of the second names a log that nobody has. */
export type Courses = { readonly was: Space; readonly would: Space };

/**
 * Folds a log of `schema`, and beside it the same rounds under `altered`. Yields each proposal whose verdict would be another
 * one, in canonical order, and returns both states. Throws what `fold`, `unbornCourses` and `coursesAfter` throw. Cost: that of
 * two replays.
 */
export function* whatIf(schema: StateSchema, altered: StateSchema, texts: Iterable<string>): Generator<Difference, Courses> {
  let courses: Courses | undefined;
  for (const text of texts) {
    courses ??= unbornCourses(schema, altered, readEntry(text).space);
    const next = coursesAfter(courses, fold(courses.was, text));
    courses = next.courses;
    yield* next.differences;
  }
  return courses ?? unbornCourses(schema, altered, '');
}

/** Both courses before the first round. Throws `USAGE` when the altered definition lacks a field of the other. */
export function unbornCourses(schema: StateSchema, altered: StateSchema, name: string): Courses {
  const missing = schema.names.find((field) => !altered.indexOf.has(field));
  if (missing === undefined) return { was: unbornSpace(name, schema), would: unbornSpace(name, altered) };
  throw new OplusError('USAGE', `the altered definition has no field called ${missing}`, {
    path: `/fields/${missing}`,
    hint: 'Keep the names of all fields, and change their kinds, caps or rules.',
  });
}

/**
 * Both courses after one more round of the log, which was sealed after `courses.was`. Throws `USAGE` when an agent of the log
 * cannot join under the altered definition.
 */
export function coursesAfter(
  courses: Courses,
  sealed: Sealed,
): { readonly courses: Courses; readonly differences: readonly Difference[] } {
  const { schema } = courses.would;
  const { id } = courses.was.schema;
  const again = seal(courses.would, {
    term: 1,
    events: sealed.events.map((event) => readdressed(event, schema)),
    proposals: sealed.decided.map(({ admitted }) => onSchema(admitted, id, schema)),
  });
  const wouldBe = new Map(again.decided.map((decided) => [dotOf(decided), decided]));
  const differences = sealed.decided.flatMap((decided): readonly Difference[] => {
    const would = wouldBe.get(dotOf(decided));
    const { proposal } = decided.admitted;
    const { agent, n } = proposal;
    if (would === undefined) throw noPlaceFor(agent);
    if (would.verdictText === decided.verdictText) return [];
    return [{ revision: sealed.revision, agent, n, proposal, was: decided.verdict, would: would.verdict }];
  });
  return { courses: { was: sealed.space, would: again.space }, differences };
}

/** The names of the fields of the log that hold another value, ascending. */
export function fieldsApart({ was, would }: Courses): readonly string[] {
  return was.schema.names.filter((name) => jsonOf(was, name) !== jsonOf(would, name));
}

function jsonOf({ schema, cells }: Space, name: string): string {
  const index = schema.indexOf.get(name);
  return index === undefined ? '' : canonical(schema.kinds[index]?.json(cells[index]) ?? null);
}

function readdressed(event: SystemEvent, schema: StateSchema): SystemEvent {
  return event.kind === 'genesis' ? { ...event, schema: schema.digest } : event;
}

/** What named the definition of the log names the altered one; what named neither is still refused. */
function onSchema(admitted: Admitted, id: string, schema: StateSchema): Admitted {
  if (admitted.proposal.schema !== id) return admitted;
  const moved = { ...admitted.proposal, schema: schema.id };
  return { proposal: moved, text: canonical(moved as unknown as Json) };
}

function dotOf({ admitted }: Decided): string {
  return `${admitted.proposal.agent} ${admitted.proposal.n}`;
}

function noPlaceFor(agent: string): OplusError {
  return new OplusError('USAGE', `${agent} cannot join under the altered definition`, {
    path: '/roles',
    hint: 'Keep the roles of the run, and room for its agents (agentsMax).',
  });
}
