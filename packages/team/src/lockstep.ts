/**
 * Barrier mode: the team moves in rounds.
 *
 * A round begins when every agent has either proposed on the newest revision or is idle. Then, in the order of the plan,
 * finished events are closed and new ones dealt; whoever gets none passes. What is proposed in a round depends on the rounds
 * before it alone, never on how long anybody took.
 */
import type { Environment, OpenEvent, StepResult } from '@oplus/agent';
import type { Clock, Replica } from '@oplus/protocol';
import type { Finish, Seat } from './run-task.ts';

export type Lockstep = {
  readonly seats: readonly Seat[];
  readonly environment: Environment;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly finish: Finish;
  readonly signal: AbortSignal | undefined;
};

/** How often a pass is said again while the round stays open: the bus may lose it. */
const PASS_AGAIN_MS = 500;

type Place = {
  readonly seat: Seat;
  event: OpenEvent | undefined;
  /** Set when the event has ended and waits to be closed in order. */
  result: StepResult | undefined;
};

/** Runs until the environment is over and everybody is idle. Rejects with the first failure. */
export async function lockstep({ seats, environment, replica, clock, finish, signal }: Lockstep): Promise<void> {
  const places = seats.map((seat): Place => ({ seat, event: undefined, result: undefined }));
  let failure: unknown;
  let wake: () => void = () => undefined;
  for (const { seat } of places) seat.onSpoken = () => wake();
  const end = replica.onChange(() => wake());
  try {
    for (;;) {
      await settled();
      if (failure !== undefined) throw failure as Error;
      for (const place of places) close(place);
      if (environment.isOver() || signal?.aborted === true) return;
      deal();
      await passRound();
    }
  } finally {
    end();
  }

  /** Everybody idle, finished, or with a proposal on the newest revision. */
  async function settled(): Promise<void> {
    const isSettled = (): boolean =>
      failure !== undefined || places.every((place) => place.event === undefined || place.result !== undefined || place.seat.spokenAt >= replica.space().revision);
    while (!isSettled()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  function close(place: Place): void {
    if (place.event === undefined || place.result === undefined) return;
    finish(place.event, place.result);
    place.event = undefined;
    place.result = undefined;
  }

  function deal(): void {
    const idle = places.filter((place) => place.event === undefined).map((place) => place.seat.name);
    for (const event of environment.assign(idle)) {
      const place = places.find(({ seat }) => seat.name === event.agent) as Place;
      place.event = event;
      place.seat.play(event).then(
        (result) => {
          place.result = result;
          wake();
        },
        (error: unknown) => {
          failure ??= error;
          wake();
        },
      );
    }
  }

  /** Waits for the next revision; whoever has no event says so until it comes. */
  async function passRound(): Promise<void> {
    const { revision } = replica.space();
    const idle = places.filter((place) => place.event === undefined);
    let cancel: () => void = () => undefined;
    const say = (): void => {
      for (const { seat } of idle) void seat.worker.view().then((view) => (view.space.revision === revision ? view.pass() : undefined));
      cancel = clock.after(PASS_AGAIN_MS, say);
    };
    say();
    while (replica.space().revision === revision && failure === undefined && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    cancel();
  }
}
