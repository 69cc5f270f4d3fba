/**
 * One Automerge document behind a cell: every place is a key of its root, every change has an actor of its own.
 *
 * Automerge keeps which writes a change had seen, and so which of them it replaced. Its own pick among rivals is not used: its
 * operation counters depend on the order in which changes were made here. A stored text begins with the id of its author, so
 * that no write is taken for a repetition of what stands. Actors are derived from ids, the time is 0, there is no message.
 *
 * The handle is used below the document proxies, which copy the whole document at every step.
 */
import type * as Automerge from '@automerge/automerge';
import type { Writes } from './merge-patch.ts';

export type AutomergeModule = typeof Automerge;

/** One write that stands: its text, and the id of its author. */
export type StoredWrite = { readonly id: string; readonly text: string };

/** The id of the change that holds what lies below the floor. */
export const FLOOR_ID = '';

/** Ends when it is closed: its memory is not the collector's to free. */
export class Replica {
  readonly #handle: Handle;
  /** Where each change stands in Automerge's history: its own hash, or those before it where it left nothing. */
  readonly #hashes: ReadonlyMap<string, readonly string[]>;

  private constructor(handle: Handle, hashes: ReadonlyMap<string, readonly string[]>) {
    this.#handle = handle;
    this.#hashes = hashes;
  }

  /** A document with these writes, each by its author, in one change. */
  static of(automerge: AutomergeModule, floor: readonly (readonly [place: string, write: StoredWrite])[]): Replica {
    const handle = automerge.getBackend(automerge.init({ actor: actorOf(FLOOR_ID) }));
    for (const [place, { id, text }] of floor) handle.put(ROOT, place, `${id}\n${text}`, 'str');
    if (floor.length > 0) handle.commit(undefined, 0);
    return new Replica(handle, new Map([[FLOOR_ID, handle.getHeads()]]));
  }

  /** True when there is a change of that id. */
  has(id: string): boolean {
    return this.#hashes.has(id);
  }

  /** A document with one more change, made by one who had seen these others and what they had seen; all when left out. */
  with(id: string, writes: Writes, seen?: readonly string[]): Replica {
    const handle = this.#handle.clone(actorOf(id)) as Handle;
    const before = seen === undefined ? handle.getHeads() : this.#hashesOf(seen);
    if (seen !== undefined) handle.isolate(before);
    for (const [place, text] of writes) {
      if (text === undefined) handle.delete(ROOT, place);
      else handle.put(ROOT, place, `${id}\n${text}`, 'str');
    }
    const hash = handle.commit(undefined, 0);
    if (seen !== undefined) handle.integrate();
    // Where all that it erased was forgotten since, there is nothing to commit.
    return new Replica(handle, new Map(this.#hashes).set(id, hash === null ? before : [hash]));
  }

  /** What stands at a place, for one who has seen these changes; all when left out. */
  at(place: string, seen?: readonly string[]): readonly StoredWrite[] {
    const stored = seen === undefined ? this.#handle.getAll(ROOT, place) : this.#handle.getAll(ROOT, place, this.#hashesOf(seen));
    return stored.map((write) => {
      const text = write[1] as string;
      const end = text.indexOf('\n');
      return { id: text.slice(0, end), text: text.slice(end + 1) };
    });
  }

  /** The places at which something stands, for one who has seen these changes; all when left out. */
  places(seen?: readonly string[]): readonly string[] {
    return seen === undefined ? this.#handle.keys(ROOT) : this.#handle.keys(ROOT, this.#hashesOf(seen));
  }

  close(): void {
    this.#handle.free();
  }

  #hashesOf(ids: readonly string[]): string[] {
    return (ids.length === 0 ? [FLOOR_ID] : ids).flatMap((id) => this.#hashes.get(id) ?? []);
  }
}

type Handle = ReturnType<AutomergeModule['getBackend']>;

const ROOT = '_root';

/** The id in hexadecimal, four digits a character, behind a first byte of its own. */
function actorOf(id: string): string {
  let actor = '00';
  for (let i = 0; i < id.length; i += 1) actor += id.charCodeAt(i).toString(16).padStart(4, '0');
  return actor;
}
