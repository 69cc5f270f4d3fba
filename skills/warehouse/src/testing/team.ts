/**
 * A plain team on the core's own seal, for tests: no coordinator, no log, no model, and yet every base is as stale as the
 * given interleaving makes it.
 *
 * `lockstep` seals one round of everybody's proposals at a time. A seed instead interleaves: workers begin when they like,
 * think for a while on the view that they began with, and any subset of what is proposed is sealed next.
 */
import { createHash } from 'node:crypto';
import type { OpenEvent, Prompted, Ruling, TaskDecision } from '@oplus/agent';
import type { Admitted, Decided, Space, StateDefinition, Verdict } from '@oplus/core';
import { admit, canonical, compareText, isJsonObject, loadState, project, seal, trieAt, unbornSpace } from '@oplus/core';
import type { Json, JsonObject, Projection, Sha256, StateSchema } from '@oplus/core';
import type { WarehouseEnvironment, WarehousePlan } from '../environment.ts';
import { openWarehouse } from '../environment.ts';
import { judgeWarehouse } from '../judge.ts';
import { layoutOf } from '../layout.ts';
import { decide } from '../policy.ts';
import { warehouseProjection } from '../projection.ts';
import type { Random } from '../random.ts';
import { seededRandom } from '../random.ts';
import { warehouseState } from '../state.ts';

export type TeamPlan = {
  readonly agents: number;
  readonly seed: number;
  readonly steps: number;
  readonly routing: string;
  readonly blockShelves?: number;
  /** Seed of the interleaving, or one round after the other. */
  readonly timing: number | 'lockstep';
  /** Attempts per event before a worker gives up; 40 when left out. */
  readonly attemptsMax?: number;
  readonly policy?: (prompted: Prompted) => TaskDecision;
  /** What the space runs; the warehouse's own definition when left out. */
  readonly schema?: StateSchema;
};

/** `refusedBy` counts the issues by code and rule; `attemptsMax` is the most that any event took. */
export type TeamRun = {
  readonly ruling: Ruling;
  readonly space: Space;
  readonly environment: WarehouseEnvironment;
  readonly entries: readonly string[];
  readonly committed: number;
  readonly rejected: number;
  readonly refusedBy: { readonly [rule: string]: number };
  readonly attemptsMax: number;
  readonly staleMax: number;
  readonly viewChars: ReadonlySet<number>;
};

export const sha256: Sha256 = (text) => createHash('sha256').update(text).digest('hex');

export const schema: StateSchema = loadState(warehouseState as unknown as StateDefinition, sha256);

/** Names of one width: `w01`, `w02` and so on. */
export function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `w${String(i + 1).padStart(2, '0')}`);
}

/** A space in which these agents have joined. */
export function bornSpace(agents: readonly string[], definition: StateSchema = schema): Space {
  const events = agents.map((agent) => ({ kind: 'join', agent, role: 'agent', session: agent }) as const);
  return seal(unbornSpace('warehouse', definition), {
    term: 1,
    events: [{ kind: 'genesis', schema: definition.digest, nonce: '' }, ...events],
    proposals: [],
  }).space;
}

/** A proposal of an agent on a space that it read. */
function proposalOf(
  space: Space,
  agent: string,
  n: number,
  decision: Pick<TaskDecision, 'patch'> & Partial<TaskDecision>,
): Admitted {
  const { patch, action } = decision;
  const text = canonical({
    kind: 'proposal',
    v: 1,
    space: space.name,
    agent,
    incarnation: 1,
    n,
    schema: space.schema.id,
    base: { revision: space.revision, digest: space.head.slice(0, 16) },
    patch,
    ...(action === undefined ? {} : { action: action as unknown as Json }),
  });
  const gated = admit(text, agent);
  if (!gated.ok) throw new Error(canonical(gated.issues as unknown as Json));
  return gated.value;
}

/** Seals one proposal of an agent that read `base`, on `space`. */
export function attempt(
  space: Space,
  base: Space,
  agent: string,
  patch: JsonObject,
): { readonly space: Space; readonly verdict: Verdict } {
  const n = (trieAt(space.agents, agent)?.n ?? 0) + 1;
  const sealed = seal(space, { term: 1, events: [], proposals: [proposalOf(base, agent, n, { patch })] });
  return { space: sealed.space, verdict: (sealed.decided[0] as Decided).verdict };
}

/** Plays a plan to its end. Throws when a worker is idle for ever. */
export function runTeam(given: TeamPlan): TeamRun {
  const agents = names(given.agents);
  const plan: WarehousePlan = { ...given, agents };
  const environment = openWarehouse(plan);
  const projection = warehouseProjection(layoutOf(given.routing, agents, given.blockShelves)) as unknown as Projection;
  const random: Random | undefined = given.timing === 'lockstep' ? undefined : seededRandom(given.timing, 7);
  const workers = agents.map((agent): Worker => ({
    agent,
    n: 0,
    event: undefined,
    view: undefined,
    issues: [],
    attempts: 0,
    decision: undefined,
  }));
  const count = { committed: 0, rejected: 0, attemptsMax: 0, staleMax: 0, refusedBy: {} as { [rule: string]: number } };
  const viewChars = new Set<number>();
  const entries: string[] = [];
  let space = bornSpace(agents, given.schema);

  const think = (worker: Worker): void => {
    const focus = (worker.event as OpenEvent).observation;
    worker.view = space;
    const text = project(space, { agent: worker.agent, role: 'agent', focus }, 4096, projection);
    viewChars.add(text.length);
    const view = JSON.parse(text) as JsonObject;
    if (!isJsonObject(view)) throw new Error('a view is an object');
    worker.decision = (given.policy ?? decide)({ view, observation: focus, issues: worker.issues });
  };

  const sealAll = (round: readonly Worker[]): void => {
    const proposals = round.map((worker) => {
      count.staleMax = Math.max(count.staleMax, space.revision - (worker.view as Space).revision);
      worker.n += 1;
      worker.attempts += 1;
      return proposalOf(worker.view as Space, worker.agent, worker.n, worker.decision as TaskDecision);
    });
    const sealed = seal(space, { term: 1, events: [], proposals });
    space = sealed.space;
    entries.push(sealed.text);
    for (const { admitted, verdict } of sealed.decided) {
      const worker = workers.find((one) => one.agent === admitted.proposal.agent) as Worker;
      settle(worker, verdict);
    }
  };

  const settle = (worker: Worker, verdict: Verdict): void => {
    const event = worker.event as OpenEvent;
    const action = (worker.decision as TaskDecision).action;
    worker.decision = undefined;
    count.attemptsMax = Math.max(count.attemptsMax, worker.attempts);
    if (verdict.kind === 'committed') {
      count.committed += 1;
      environment.act(event, action, verdict.revision);
      end(worker, event, 'acted');
      return;
    }
    count.rejected += 1;
    worker.issues = verdict.issues as unknown as readonly JsonObject[];
    for (const { code, rule } of verdict.issues)
      count.refusedBy[`${code} ${rule}`] = (count.refusedBy[`${code} ${rule}`] ?? 0) + 1;
    if (worker.attempts >= (given.attemptsMax ?? 40)) end(worker, event, 'stalled');
  };

  const end = (worker: Worker, event: OpenEvent, how: 'acted' | 'stalled'): void => {
    environment.done(event, how);
    Object.assign(worker, { event: undefined, issues: [], attempts: 0 });
  };

  const assign = (idle: readonly Worker[]): void => {
    for (const event of environment.assign(idle.map((worker) => worker.agent))) {
      if (event.revisionMin > space.revision) throw new Error('an event speaks of the future');
      (workers.find((worker) => worker.agent === event.agent) as Worker).event = event;
    }
  };

  while (!environment.isOver()) {
    const chosen = random === undefined ? workers : workers.filter(() => random.below(3) === 0);
    assign(chosen.filter((worker) => worker.event === undefined));
    if (workers.every((worker) => worker.event === undefined)) {
      assign(workers);
      if (workers.every((worker) => worker.event === undefined)) throw new Error('everybody is idle and the run is not over');
    }
    for (const worker of chosen) if (worker.event !== undefined && worker.decision === undefined) think(worker);
    const ready = workers.filter((worker) => worker.decision !== undefined && (random === undefined || random.below(2) === 0));
    if (ready.length > 0) sealAll(ready.toSorted((a, b) => -compareText(a.agent, b.agent)));
  }
  return { ruling: judgeWarehouse(environment, space), space, environment, entries, viewChars, ...count };
}

type Worker = {
  readonly agent: string;
  n: number;
  event: OpenEvent | undefined;
  view: Space | undefined;
  issues: readonly JsonObject[];
  attempts: number;
  decision: TaskDecision | undefined;
};
