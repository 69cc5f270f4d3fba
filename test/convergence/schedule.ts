/**
 * Schedules: which of the possible moves happens next, as plain data, so that fast-check can choose and shrink them.
 */
import { Violation } from './audit.ts';
import { Cluster } from './cluster.ts';
import type { ClusterOptions, Move } from './cluster.ts';

/** One choice: an ordinary move or a fault, which of them, and whatever that move needs picked. */
export type Choice = { readonly isFault: boolean; readonly which: number; readonly pick: number };

/** First so many fair moves, then the choices; or moves by name, each with its pick, the first that can be made of that name. */
export type Schedule =
  | { readonly calmCount: number; readonly choices: readonly Choice[] }
  | { readonly names: readonly (string | readonly [string, number])[] };

/** How a run ended. `trail` names every move; `violation` is what must never happen, if it did. */
export type Outcome = { readonly trail: readonly string[]; readonly violation: string | undefined; readonly cluster: Cluster };

/** Plays a schedule, then lets everything that is under way come to its end, without further faults. Throws for a name that is no move. */
export function play(options: ClusterOptions, schedule: Schedule): Outcome {
  const cluster = new Cluster(options);
  const trail: string[] = [];
  try {
    if ('names' in schedule) {
      for (const named of schedule.names) perform(moveOf(cluster, named), trail, typeof named === 'string' ? 0 : named[1]);
    } else {
      settle(cluster, trail, schedule.calmCount);
      for (const choice of schedule.choices) choose(cluster, trail, choice);
    }
    if (!settle(cluster, trail, SETTLE_MOVES_MAX))
      throw new Violation(`not everybody was answered within ${SETTLE_MOVES_MAX} moves`);
    cluster.auditor.finish();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { trail, violation: error.message, cluster };
  }
  return { trail, violation: undefined, cluster };
}

/** Most moves in which a cluster of this size must come to its end: several times what was ever seen. */
const SETTLE_MOVES_MAX = 2_000;

function moveOf(cluster: Cluster, named: string | readonly [string, number]): Move {
  const name = typeof named === 'string' ? named : named[0];
  const move = cluster.moves().find((one) => one.name === name);
  if (move !== undefined) return move;
  throw new Error(
    `${name} cannot happen now; possible are ${cluster
      .moves()
      .map((one) => one.name)
      .join(', ')}`,
  );
}

function choose(cluster: Cluster, trail: string[], { isFault, which, pick }: Choice): void {
  const moves = cluster.moves().filter((move) => move.isFault === isFault);
  const move = moves[which % moves.length];
  if (move !== undefined) perform(move, trail, pick);
}

/** Fair: what is possible is done, in turn; timers fire when nothing else is left to happen. False when it is not over by then. */
function settle(cluster: Cluster, trail: string[], countMax: number): boolean {
  for (let count = 0; count < countMax;) {
    if (cluster.isDone()) return true;
    const moves = cluster.moves().filter((move) => !move.isFault);
    const eager = moves.filter((move) => !move.name.endsWith(' waits'));
    for (const { name } of eager.length > 0 ? eager : moves) {
      const move = cluster.moves().find((one) => one.name === name && !one.isFault);
      if (move === undefined) continue;
      perform(move, trail, 0);
      count += 1;
    }
  }
  return cluster.isDone();
}

function perform(move: Move, trail: string[], pick: number): void {
  trail.push(move.name);
  move.run(pick);
}
