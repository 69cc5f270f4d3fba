/**
 * From cells to Automerge documents and back: registers, what a proposer saw, and what of the past may be forgotten.
 *
 * The documents are kept in a small pool, newest use last. They speed folds up and nothing else: a cell without one gets it
 * again from what it holds. SPEC: DOC7, DOC9, DOC11.
 */
import { frozen } from '@oplus/core';
import type { Attempt, Json } from '@oplus/core';
import { changeOf, floorOf, hasSeen, headsOf } from './document-cell.ts';
import type { Change, DocumentCell, HistoryLimits, Past, Remnant } from './document-cell.ts';
import type { Writes } from './merge-patch.ts';
import { idOf, isBelow, standing } from './registers.ts';
import type { Author, Registers, Sight, Write } from './registers.ts';
import { Replica } from './replica.ts';
import type { AutomergeModule, StoredWrite } from './replica.ts';

/** Most documents that one pool keeps open. */
const POOL_MAX = 32;

/** The Automerge documents behind some cells. */
export class History {
  readonly #automerge: AutomergeModule;
  /** In order of use, the newest last. */
  readonly #pool = new Map<DocumentCell, Replica>();

  constructor(automerge: AutomergeModule) {
    this.#automerge = automerge;
  }

  /** What stands in the cell. */
  registers(cell: DocumentCell): Registers {
    const known = cell.memo.registers;
    if (known !== undefined) return known;
    const replica = this.#replicaOf(cell);
    const authors = authorsOf(cell);
    const registers = new Map(replica.places().map((place) => [place, replica.at(place).map((one) => writeOf(one, authors))]));
    cell.memo.registers = registers;
    return registers;
  }

  /** What the author of a change-to-be had seen. */
  sight(cell: DocumentCell, past: Past): Sight {
    const replica = this.#replicaOf(cell);
    const seen = seenIds(cell, replica, (author) => hasSeen(past, author));
    const authors = authorsOf(cell);
    let places: readonly string[] | undefined;
    return {
      at: (place) => replica.at(place, seen).map((one) => writeOf(one, authors)),
      below: (place) => {
        places ??= replica.places(seen);
        return places.filter((one) => isBelow(one, place));
      },
    };
  }

  /** The cell with one more change, `mark` being that of the whole. */
  with(cell: DocumentCell, past: Past, writes: Writes, mark: DocumentCell['mark']): DocumentCell {
    const before = this.#replicaOf(cell);
    const id = idOf(past.author);
    const replica = before.with(
      id,
      writes,
      isCurrent(cell, past) ? undefined : seenIds(cell, before, (one) => hasSeen(past, one)),
    );
    const registers = new Map(this.registers(cell));
    const change = changeOf(past, writes);
    for (const place of writes.keys()) {
      const known = new Map((registers.get(place) ?? []).map((write) => [idOf(write.author), write]));
      const stands = replica.at(place).map((one) => known.get(one.id) ?? writeOf(one, new Map([[id, past.author]])));
      if (stands.length === 0) registers.delete(place);
      else registers.set(place, stands);
    }
    const after = { floor: cell.floor, changes: [...cell.changes, change], mark, memo: { registers } };
    this.#keep(after, replica);
    return after;
  }

  /** Closes what is kept for a cell that nobody will use. */
  forget(cell: DocumentCell): void {
    this.#pool.get(cell)?.close();
    this.#pool.delete(cell);
  }

  /**
   * The cell, with its history cut where it has grown too long: at the horizon, or, when that is too little, at a revision
   * below which only views that lag far behind lie. What stands does not change.
   */
  compacted(cell: DocumentCell, limits: HistoryLimits, attempt: Attempt): DocumentCell {
    if (!isLong(cell.changes, limits.changesMax, limits.bytesMax)) return cell;
    const { horizon } = attempt;
    const revision = Math.min(Math.max(horizon, cutOf(cell.changes, limits)), attempt.mark.revision - 1);
    if (revision <= cell.floor.revision) return cell;
    const changes = cell.changes.filter(({ author }) => author.mark.revision > revision);
    const remnants = remnantsOf(cell, changes, this.#standingAt(cell, changes, revision));
    const known = new Set([...remnants, ...changes].map(({ author }) => idOf(author)));
    return {
      floor: floorOf(revision, revision > horizon ? revision : cell.floor.missed, remnants),
      changes: changes.map((change) =>
        change.beyond.every((id) => known.has(id))
          ? change
          : changeOf({ ...change, beyond: change.beyond.filter((id) => known.has(id)) }, change.writes),
      ),
      mark: cell.mark,
      memo: {},
    };
  }

  /** What stood at a revision. Only the places that were written since can differ from what stands now. */
  #standingAt(cell: DocumentCell, later: readonly Change[], revision: number): Registers {
    const replica = this.#replicaOf(cell);
    const seen = seenIds(cell, replica, ({ mark }) => mark.revision <= revision);
    const authors = authorsOf(cell);
    const registers = new Map(this.registers(cell));
    for (const { writes } of later) {
      for (const place of writes.keys())
        registers.set(
          place,
          replica.at(place, seen).map((one) => writeOf(one, authors)),
        );
    }
    return registers;
  }

  #replicaOf(cell: DocumentCell): Replica {
    const known = this.#pool.get(cell);
    const replica = known ?? rebuilt(this.#automerge, cell);
    if (known !== undefined) this.#pool.delete(cell);
    this.#keep(cell, replica);
    return replica;
  }

  #keep(cell: DocumentCell, replica: Replica): void {
    this.#pool.set(cell, replica);
    const [oldest] = this.#pool.size > POOL_MAX ? this.#pool.keys() : [];
    if (oldest !== undefined) this.forget(oldest);
  }
}

/** True when the author of a change-to-be had seen all that the cell holds. */
export function isCurrent(cell: DocumentCell, past: Past): boolean {
  return cell.changes.every(({ author }) => hasSeen(past, author));
}

function authorsOf(cell: DocumentCell): ReadonlyMap<string, Author> {
  return new Map([...cell.floor.remnants, ...cell.changes].map(({ author }) => [idOf(author), author]));
}

function writeOf({ id, text }: StoredWrite, authors: ReadonlyMap<string, Author>): Write {
  return { author: authors.get(id) as Author, text, value: frozen(JSON.parse(text) as Json) };
}

function seenIds(cell: DocumentCell, replica: Replica, isSeen: (author: Author) => boolean): readonly string[] {
  return headsOf(cell, isSeen, (id) => replica.has(id));
}

/**
 * The document of a cell. What lies below the floor is one change, except writes that contend there, and those that a later
 * change of the same place had not seen: these are changes of their own, concurrent to one another.
 */
function rebuilt(automerge: AutomergeModule, cell: DocumentCell): Replica {
  const floor: [string, StoredWrite][] = [];
  const apart = new Map<string, Map<string, string>>();
  const isApart = contenders(cell.floor.remnants, cell.changes);
  for (const { author, writes } of cell.floor.remnants) {
    const id = idOf(author);
    for (const [place, text] of writes) {
      if (!isApart(place, author)) floor.push([place, { id, text }]);
      else apart.set(id, (apart.get(id) ?? new Map<string, string>()).set(place, text));
    }
  }
  let replica = Replica.of(automerge, floor);
  const add = (id: string, writes: Writes, seen: readonly string[]): void => {
    const next = replica.with(id, writes, seen);
    replica.close();
    replica = next;
  };
  for (const [id, writes] of apart) add(id, writes, []);
  for (const [at, change] of cell.changes.entries()) {
    const before = { ...cell, changes: cell.changes.slice(0, at) };
    add(
      idOf(change.author),
      change.writes,
      seenIds(before, replica, (author) => hasSeen(change, author)),
    );
  }
  return replica;
}

/** Which writes below the floor somebody contends with: at the floor, or by a later change that had not seen them. */
function contenders(remnants: readonly Remnant[], changes: readonly Change[]): (place: string, author: Author) => boolean {
  const texts = new Map<string, Set<string>>();
  for (const { writes } of remnants) {
    for (const [place, text] of writes) texts.set(place, (texts.get(place) ?? new Set()).add(text));
  }
  const later = new Map<string, Change[]>();
  for (const change of changes) {
    for (const place of change.writes.keys()) later.set(place, [...(later.get(place) ?? []), change]);
  }
  return (place, author) =>
    (texts.get(place)?.size ?? 0) > 1 || (later.get(place) ?? []).some((change) => !hasSeen(change, author));
}

/** What stood at the floor, by author, in the order of the log; of equal writes that nobody contends with, the greatest. */
function remnantsOf(cell: DocumentCell, later: readonly Change[], stood: Registers): readonly Remnant[] {
  const kept = new Map<string, Map<string, string>>();
  const isUnseen = contenders([], later);
  for (const [place, writes] of stood) {
    const apart = writes.filter(({ author }) => isUnseen(place, author));
    const rest = standing(writes.filter(({ author }) => !isUnseen(place, author)));
    for (const { author, text } of [...apart, ...rest]) {
      kept.set(idOf(author), (kept.get(idOf(author)) ?? new Map<string, string>()).set(place, text));
    }
  }
  return [...cell.floor.remnants, ...cell.changes].flatMap(({ author }) => {
    const writes = kept.get(idOf(author));
    return writes === undefined ? [] : [{ author, writes }];
  });
}

function isLong(changes: readonly Change[], countMax: number, bytesMax: number): boolean {
  return changes.length > countMax || bytesOf(changes) > bytesMax;
}

function bytesOf(changes: readonly Change[]): number {
  return changes.reduce((sum, { text }) => sum + text.length, 0);
}

/** The newest revision that must go so that what is after it is short enough. */
function cutOf(changes: readonly Change[], { keep, bytesMax }: HistoryLimits): number {
  let count = 0;
  let bytes = 0;
  for (const { author, text } of changes.toReversed()) {
    count += 1;
    bytes += text.length;
    if (count > keep || bytes > bytesMax / 2) return author.mark.revision;
  }
  return 0;
}
