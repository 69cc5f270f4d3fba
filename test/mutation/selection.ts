/**
 * Which faults are tried: the same ones each time, of every file and of every operator. SPEC: MUT4.
 */
import { createHash } from 'node:crypto';
import type { Mutant } from './operators.ts';

/** Changing it draws other faults. */
const SEED = 'oplus';

/**
 * `count` of the faults, fewer where there are fewer: at least one of each file, then in proportion to what each file has; inside
 * a file one of each operator before a second one. What is drawn depends on the ids, not on their order.
 */
export function selected(mutants: readonly Mutant[], count: number): readonly Mutant[] {
  const ranked = [...grouped(mutants, ({ path }) => path).values()].flatMap((ofFile) =>
    inTurns(ofFile).map((mutant, i): readonly [number, Mutant] => [i / ofFile.length, mutant]),
  );
  const drawn = ranked.toSorted(([a, one], [b, other]) => a - b || byRank(one, other)).slice(0, count);
  const ids = new Set(drawn.map(([, { id }]) => id));
  return mutants.filter(({ id }) => ids.has(id));
}

/** The faults of one file, the operators taking turns. */
function inTurns(mutants: readonly Mutant[]): readonly Mutant[] {
  const queues = [...grouped(mutants, ({ operator }) => operator).values()]
    .map((ofOperator) => ofOperator.toSorted(byRank))
    .toSorted((a, b) => byRank(a[0] as Mutant, b[0] as Mutant));
  const longest = Math.max(...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => queues.flatMap((queue) => queue[turn] ?? [])).flat();
}

function grouped(mutants: readonly Mutant[], keyOf: (mutant: Mutant) => string): ReadonlyMap<string, readonly Mutant[]> {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of mutants) groups.set(keyOf(mutant), [...(groups.get(keyOf(mutant)) ?? []), mutant]);
  return groups;
}

function byRank(a: Mutant, b: Mutant): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function rankOf({ id }: Mutant): string {
  return createHash('sha256').update(`${SEED} ${id}`).digest('hex');
}
