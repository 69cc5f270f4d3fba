/**
 * Callbacks in the order of their deadlines; equal deadlines in the order in which they were set. Shared by both clocks.
 */

/** One callback that waits. Compared by identity. */
export type Deadline = { readonly atMs: number; readonly order: number; readonly run: () => void };

/** Kept sorted, earliest last, so that taking the next is O(1); adding and removing are a binary search and one move of memory. */
export class DeadlineQueue {
  readonly #deadlines: Deadline[] = [];
  #setCount = 0;

  /** Adds a callback for `atMs`. */
  add(atMs: number, run: () => void): Deadline {
    this.#setCount += 1;
    const deadline = { atMs, order: this.#setCount, run };
    this.#deadlines.splice(this.#placeOf(deadline), 0, deadline);
    return deadline;
  }

  /** Takes a callback out; does nothing when it has run or was removed. */
  remove(deadline: Deadline): void {
    const place = this.#placeOf(deadline);
    if (this.#deadlines[place] === deadline) this.#deadlines.splice(place, 1);
  }

  /** The earliest deadline, `undefined` when nothing waits. */
  next(): Deadline | undefined {
    return this.#deadlines.at(-1);
  }

  /** Takes the earliest deadline out if it is due at `nowMs`. */
  takeDue(nowMs: number): Deadline | undefined {
    const next = this.next();
    return next !== undefined && next.atMs <= nowMs ? this.#deadlines.pop() : undefined;
  }

  /** First place whose deadline is not later than the given one: its own, when it is there. */
  #placeOf(deadline: Deadline): number {
    let low = 0;
    let high = this.#deadlines.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isLater(this.#deadlines[middle] as Deadline, deadline)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isLater(a: Deadline, b: Deadline): boolean {
  return a.atMs > b.atMs || (a.atMs === b.atMs && a.order > b.order);
}
