/**
 * Cells of the naive model, one proposal at work on them, and how the model compares. What a kind does with them stands in
 * its file under `samples/`. Nothing here comes from the core.
 */
import type { Json } from '../json.ts';

/** The model's own stamp of a proposal. */
export type NaiveStamp = {
  readonly depth: number;
  readonly priority: number;
  readonly spin: number;
  readonly agent: string;
  readonly n: number;
};

/** The part that kinds share, and `own`: plain data of one kind. A dot is `agent n`. */
export type NaiveCell<Own = unknown> = {
  value: Json | undefined;
  /** Dot of the newest write, or of what emptied the cell. */
  writer: string | undefined;
  /** Every dot that changed the cell since it was made. */
  dots: string[];
  children: { [key: string]: NaiveCell };
  /** Of a collection: key to the dot that dropped it last. */
  drops: { [key: string]: string[] };
  /** Of a collection below a dropped key: that drop. Of a row: its birth, and the drop of the row before it. */
  born: string[];
  birth: string[];
  own: Own;
};

/** A cell before any write; `dots` holds the drop that emptied it, if there was one. */
export function newCell<Own>(start: Json | undefined, own: Own, dots: readonly string[]): NaiveCell<Own> {
  return { value: start, writer: dots[0], dots: [...dots], children: {}, drops: {}, born: [...dots], birth: [], own };
}

/** One proposal at work. `past` holds every dot that its agent had seen. */
export class NaiveTrial {
  isRefused = false;
  /** Outcome kinds by path. */
  readonly outcomes: { [path: string]: string } = {};
  readonly agent: string;
  readonly n: number;
  readonly role: string;
  readonly dot: string;
  readonly past: ReadonlySet<string>;
  readonly stamp: NaiveStamp;
  /** Where in history it stands: its revision, and how many proposals of the round were judged before it. */
  readonly at: readonly [revision: number, turn: number];

  constructor(stamp: NaiveStamp, role: string, past: ReadonlySet<string>, at: readonly [revision: number, turn: number]) {
    this.agent = stamp.agent;
    this.n = stamp.n;
    this.role = role;
    this.dot = `${stamp.agent} ${stamp.n}`;
    this.past = past;
    this.stamp = stamp;
    this.at = at;
  }

  refuse(): void {
    this.isRefused = true;
  }

  note(path: string, outcome: string): void {
    this.outcomes[path] = outcome;
  }

  saw(dot: string | undefined): boolean {
    return dot === undefined || this.past.has(dot);
  }

  sawAll(dots: readonly string[]): boolean {
    return dots.every((dot) => this.past.has(dot));
  }

  /** Lists this proposal among those that changed the cell, once. */
  change(cell: NaiveCell): void {
    if (!cell.dots.includes(this.dot)) cell.dots.push(this.dot);
  }
}

/** Positive when `a` wins over `b`. */
export function winOrder(a: NaiveStamp, b: NaiveStamp): number {
  if (a.depth === b.depth && a.priority !== b.priority) return a.priority - b.priority;
  return admitOrder(a, b);
}

/** Negative when `a` is judged before `b`. */
export function admitOrder(a: NaiveStamp, b: NaiveStamp): number {
  if (a.depth !== b.depth) return a.depth - b.depth;
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.spin !== b.spin) return a.spin - b.spin;
  if (a.agent !== b.agent) return a.agent < b.agent ? -1 : 1;
  return a.n - b.n;
}

/** The key as one token of a path. */
export function tokenOf(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Nothing is equal to nothing alone. */
export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  return textOf(a ?? null) === textOf(b ?? null) && (a === undefined) === (b === undefined);
}

/** JSON with the keys of objects in order. */
export function textOf(value: Json): string {
  return JSON.stringify(value, (_, part: Json) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
