/**
 * Barrier mode: the team moves in rounds.
 *
 * In a round everybody who has an event thinks on the newest revision, until it has proposed or its event has ended. Then, in
 * the order of the plan, ended events are closed and new ones dealt to the idle, who think on that revision too. When nothing
 * more is dealt, the idle pass, and the coordinator seals what was proposed. What is proposed in a round depends on the rounds
 * before it alone, never on how long anybody took: no pass is said while its agent may still propose. SPEC: TM10-TM13.
 */
import type { OpenEvent, StepResult } from '@oplus/agent';
import type { Replica } from '@oplus/protocol';
import type { Seat } from './seat.ts';
import { seatOf, stuck } from './table.ts';
import type { Table } from './table.ts';

/** Plays until the task is over or the halt is pulled, and nobody plays any more. What goes wrong goes to the halt; never rejects. */
export async function lockstep(table: Table & { readonly replica: Replica }): Promise<void> {
  const { seats, environment, replica, halt } = table;
  const places = seats.map((seat): Place => ({ seat, event: undefined, result: undefined, passedOn: -1 }));
  let wake = (): void => undefined;
  const onNews = (): void => wake();
  const unlisten = replica.onChange((_space, sealed) => {
    for (const { admitted } of sealed?.decided ?? []) {
      const decided = seats.find(({ name }) => name === admitted.proposal.agent);
      if (decided !== undefined) decided.hasSpoken = false;
    }
    onNews();
  });
  for (const seat of seats) seat.onSpoken = onNews;
  halt.signal.addEventListener('abort', onNews);
  let dealtOn = -1;

  /** Everybody has spoken or is done: closes, deals, or lets the idle pass. True at the end of the run. */
  const turn = (): boolean => {
    const closedCount = places.filter((place) => close(table, place)).length;
    const isStopping = halt.signal.aborted || environment.isOver();
    if (isStopping && places.every(isIdle)) return true;
    const { revision } = replica.space();
    const isDealDue = !isStopping && (closedCount > 0 || revision > dealtOn);
    dealtOn = revision;
    if (!isDealDue || !deal(table, places, revision, onNews)) pass(places, revision);
    return false;
  };

  try {
    for (;;) {
      while (!places.every(isSettled)) await news();
      try {
        if (turn()) return;
      } catch (error) {
        halt.fail(error);
        continue;
      }
      await news();
    }
  } finally {
    unlisten();
    halt.signal.removeEventListener('abort', onNews);
  }

  function news(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
    });
  }
}

type Place = {
  readonly seat: Seat;
  event: OpenEvent | undefined;
  /** Set when the event has ended and waits to be closed in order. */
  result: StepResult | undefined;
  /** Newest revision on which the idle agent has passed. */
  passedOn: number;
};

function isIdle({ event }: Place): boolean {
  return event === undefined;
}

function isSettled({ event, result, seat }: Place): boolean {
  return event === undefined || result !== undefined || seat.hasSpoken;
}

/** Closes an event that has ended; false when there is none. */
function close({ finish }: Table, place: Place): boolean {
  const { event, result } = place;
  if (event === undefined || result === undefined) return false;
  place.event = undefined;
  place.result = undefined;
  finish(event, result);
  return true;
}

/**
 * Deals to the idle; false when nobody got anything. Whoever has passed on this revision is left out, unless nothing else can
 * happen any more: the round may end before such an agent has spoken.
 */
function deal(table: Table, places: readonly Place[], revision: number, onEnd: () => void): boolean {
  const { environment, halt } = table;
  const idle = places.filter(isIdle);
  const fresh = idle.filter((place) => place.passedOn < revision);
  let events = fresh.length === 0 ? [] : environment.assign(fresh.map(({ seat }) => seat.name));
  if (events.length === 0 && idle.length === places.length) {
    if (fresh.length < idle.length) events = environment.assign(idle.map(({ seat }) => seat.name));
    if (events.length === 0) throw stuck();
  }
  for (const event of events) {
    const seat = seatOf(table, event);
    const place = places.find((one) => one.seat === seat) as Place;
    place.event = event;
    void seat
      .play(event)
      .then(
        (result) => {
          place.result = result;
        },
        (error: unknown) => {
          place.event = undefined;
          halt.fail(error);
        },
      )
      .then(onEnd);
  }
  return events.length > 0;
}

/** Says for whoever is idle that nothing comes on this revision. The worker says it again until a newer one is known. */
function pass(places: readonly Place[], revision: number): void {
  for (const place of places) {
    if (!isIdle(place) || place.passedOn >= revision) continue;
    place.passedOn = revision;
    void place.seat.worker.newest().pass();
  }
}
