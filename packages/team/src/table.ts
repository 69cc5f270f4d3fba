/**
 * The table: who plays, in which world, and how a run ends. Shared by the free-running and the barrier mode.
 */
import type { Environment, OpenEvent, StepResult } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import type { Halt } from './halt.ts';
import type { Seat } from './seat.ts';

export type Table = {
  readonly seats: readonly Seat[];
  readonly environment: Environment;
  /** Closes an event with what came of it. */
  readonly finish: (event: OpenEvent, result: StepResult) => void;
  readonly halt: Halt;
};

/** The seat of an event. Throws `INVARIANT` when nobody of that name is at the table. */
export function seatOf({ seats }: Pick<Table, 'seats'>, event: OpenEvent): Seat {
  const seat = seats.find(({ name }) => name === event.agent);
  if (seat === undefined) throw new OplusError('INVARIANT', `the task gave an event to ${event.agent}, who is not in the team`);
  return seat;
}

/** Everybody is idle, the task is not over and has nothing for anybody. */
export function stuck(): OplusError {
  return new OplusError('INVARIANT', 'the task is not over and gives nobody an event');
}
