/**
 * What a task offers to whoever runs a team on it: a skill, a world that asks for things and judges what is done, a
 * scripted policy, and the last comparison of state and world. Nothing here is about warehouses.
 *
 * One order of calls serves a lockstep and a free-running runner:
 *
 * ```
 * assign(idle)   in lockstep once per round; free-running whenever a worker becomes idle. Gives events to some of the idle
 *                workers; the others stay idle until the next call
 *   per event: show the observation on a view of revision >= revisionMin, propose, repair, until committed or given up
 * act(event, action, revision)       for each committed proposal, in the order of the log
 * done(event, 'acted' | 'stalled')
 * ```
 */
import type { Skill } from './skill.ts';
import type { Action, JsonObject, Space } from '@oplus/core';

/** How a run is set up. `steps` counts the events of the whole team. `routing` is a word of the task's own. */
export type RunPlan = {
  readonly agents: readonly string[];
  readonly seed: number;
  readonly steps: number;
  readonly routing: string;
};

/**
 * Something that one agent is asked to do. `revisionMin` is the newest revision that had taken effect in the world when the
 * event was handed out: an older view would not know what the observation speaks of.
 */
export type OpenEvent = {
  readonly id: number;
  readonly agent: string;
  readonly observation: string;
  readonly revisionMin: number;
};

/** What the world says to an action. `ok` is false when it could not be carried out and nothing changed. */
export type Effect = { readonly ok: boolean; readonly text: string };

/** `events` were handed out and are done, `solved` of them with their goal met. */
export type Tally = {
  readonly events: number;
  readonly solved: number;
  readonly stalled: number;
  readonly actions: number;
  readonly invalid: number;
};

/** The world of one run. Mutable; deterministic in its plan and in the order of calls. */
export interface Environment {
  /**
   * Events for some of the idle agents, dealt in the order of the plan whatever the order given; an agent that still holds an
   * event gets that one again. When all agents are idle, at least one gets an event, or the run is over. Throws `USAGE` for
   * an agent outside the plan.
   */
  assign(idle: readonly string[]): readonly OpenEvent[];
  /** Carries out the action of a committed proposal. Call in the order of the log. Throws `USAGE` when the event is not open. */
  act(event: OpenEvent, action: Action, revision: number): Effect;
  /** Closes the event; `stalled` when the agent gave up without a commit. Throws `USAGE` when it is not open. */
  done(event: OpenEvent, end: 'acted' | 'stalled'): void;
  /** True when every event of the plan was handed out and is done. */
  isOver(): boolean;
  tally(): Tally;
}

/** `score` = solved / events of the plan. `violations` name in words what must never happen; none in a sound run. */
export type Ruling = Tally & { readonly score: number; readonly violations: readonly string[] };

/** What a policy reads: nothing but what stands in the prompt. `issues` are those of the refused attempt before, if any. */
export type Prompted = { readonly view: JsonObject; readonly observation: string; readonly issues: readonly JsonObject[] };

/** What a policy answers. */
export type Decision = { readonly reasoning: string; readonly patch: JsonObject; readonly action: Action };

/** One task, set up for one run. A second run needs a second one, even with the same plan. */
export interface Task {
  readonly name: string;
  readonly plan: RunPlan;
  /** What every agent of the run follows, sees and may do. */
  readonly skill: Skill;
  readonly environment: Environment;
  /** Plays the task from the prompt alone. Pure. */
  policy(prompted: Prompted): Decision;
  /** What is wrong with an action beside its patch; `undefined` when both say the same. To be asked before proposing. */
  actionFault(action: Action, patch: JsonObject): string | undefined;
  /** Compares the state, once it is at rest, with the world. */
  judge(space: Space): Ruling;
}

/** Sets a task up. Throws `USAGE` for a plan that the task cannot play. */
export type TaskSetup = (plan: RunPlan) => Task;
