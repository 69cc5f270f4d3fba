/**
 * Free-running: whoever is idle gets the next event at once, while others still think, so bases go stale. SPEC: TM14, TM15.
 */
import type { OpenEvent } from '@oplus/agent';
import { seatOf, stuck } from './table.ts';
import type { Table } from './table.ts';

/** Plays until the task is over or the halt is pulled, and nobody plays any more. What goes wrong goes to the halt; never rejects. */
export function freeRun(table: Table): Promise<void> {
  const { seats, environment, finish, halt } = table;
  return new Promise((resolve) => {
    const idle = new Set(seats.map((seat) => seat.name));
    let playing = 0;
    const start = (event: OpenEvent): void => {
      const seat = seatOf(table, event);
      idle.delete(seat.name);
      playing += 1;
      void seat
        .play(event)
        .then((result) => finish(event, result))
        .catch(halt.fail)
        .then(() => {
          playing -= 1;
          idle.add(seat.name);
          deal();
        });
    };
    const deal = (): void => {
      try {
        if (!halt.signal.aborted && !environment.isOver()) {
          for (const event of environment.assign([...idle])) start(event);
          if (playing === 0) throw stuck();
        }
      } catch (error) {
        halt.fail(error);
      }
      if (playing === 0) resolve();
    };
    deal();
  });
}
