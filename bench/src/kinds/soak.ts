/**
 * Many agents, many commits, one state with a field of every kind: whether what it holds stops growing.
 *
 * Every agent proposes in its turn, in a new order each lap, on the newest view or one a few rounds old; what does not hold is
 * refused, as it should be, and does not count. The size is that of a snapshot: values, what kinds keep beside them, and the
 * table of agents with the last verdict of each.
 */
import { canonical, encodeSpace, loadState, stateJson } from '@oplus/core';
import type { FieldKind, Json, JsonObject, Space } from '@oplus/core';
import { sha256 } from '@oplus/protocol';

import { openDrive } from '../drive.ts';
import type { Ask } from '../drive.ts';
import { createRandom } from '../random.ts';
import type { Random } from '../random.ts';
import { teamDefinition, teamPatch } from './team-state.ts';

const ROUND_SIZE = 64;

/** Most rounds that a view lies back. */
const LAG_MAX = 3;

/** The state after so many commits. Bytes are of canonical JSON; `agentBytes` and `fieldBytes` are parts of `snapshotBytes`. */
export type Milestone = {
  readonly commits: number;
  readonly proposals: number;
  readonly revision: number;
  readonly valueBytes: number;
  readonly fieldBytes: number;
  readonly agentBytes: number;
  readonly snapshotBytes: number;
  readonly heapMb: number;
};

export type Soak = {
  /** Largest that `valueBytes` can be, by the caps of the definition. */
  readonly valueBytesMax: number;
  readonly milestones: readonly Milestone[];
  /** Proposals gated and sealed a second. */
  readonly perSecond: number;
};

/** Runs to `commits` commits, with ten milestones on the way. `heapMb` is asked at each. */
export function runSoak({
  agents,
  commits,
  seed,
  heapMb,
}: {
  readonly agents: number;
  readonly commits: number;
  readonly seed: number;
  readonly heapMb: () => number;
}): Soak {
  const schema = loadState({ ...teamDefinition, agentsMax: agents }, sha256);
  const drive = openDrive(schema, agents);
  const random = createRandom(seed, 0);
  const order = Array.from({ length: agents }, (_, i) => i);
  const milestones: Milestone[] = [];
  let [done, proposals, ms, turn] = [0, 0, 0, 0];
  const next = (): number => {
    if (turn % agents === 0) shuffle(order, random);
    turn += 1;
    return order[(turn - 1) % agents] as number;
  };
  while (done < commits) {
    const { space } = drive;
    const viewOf = viewsOf(space);
    const asks = Array.from({ length: Math.min(ROUND_SIZE, agents) }, (): Ask => {
      const agent = next();
      const patch = teamPatch(random, { self: `w${agent}`, other: `w${random.below(agents)}`, viewOf });
      return { agent, patch, lag: random.below(LAG_MAX + 1) };
    });
    const { gateMs, sealMs, sealed } = drive.round(asks);
    ms += gateMs + sealMs;
    proposals += asks.length;
    for (const { verdict } of sealed.decided) if (verdict.kind === 'committed') done += 1;
    if (done >= ((milestones.length + 1) / 10) * commits)
      milestones.push({ commits: done, proposals, ...sizesOf(drive.space), heapMb: heapMb() });
  }
  return { valueBytesMax: schema.bytesMax, milestones, perSecond: (proposals * 1000) / ms };
}

/** The milestones at which every agent has two verdicts behind it: only the newest is kept, so what is to come has come. */
export function warmedUp({ milestones }: Soak, agents: number): readonly Milestone[] {
  return milestones.filter(({ proposals }) => proposals >= 2 * agents);
}

function sizesOf(space: Space): Omit<Milestone, 'commits' | 'proposals' | 'heapMb'> {
  const snapshot = encodeSpace(space);
  const { agents, cells } = JSON.parse(snapshot) as { readonly agents: JsonObject; readonly cells: JsonObject };
  return {
    revision: space.revision,
    valueBytes: canonical(stateJson(space) as Json).length,
    fieldBytes: canonical(cells).length,
    agentBytes: canonical(agents).length,
    snapshotBytes: snapshot.length,
  };
}

function viewsOf(space: Space): (name: string) => unknown {
  return (name) => {
    const index = space.schema.indexOf.get(name) ?? -1;
    return (space.schema.kinds[index] as FieldKind).view(space.cells[index]);
  };
}

/** Fisher and Yates, in place. */
function shuffle(items: number[], random: Random): void {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = random.below(i + 1);
    [items[i], items[j]] = [items[j] as number, items[i] as number];
  }
}
