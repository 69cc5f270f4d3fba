/**
 * Replay: folding stored entries back into a space, and holding each against what it says of itself.
 *
 * The decision is recomputed, not believed: the entry that the fold writes must be the stored one, byte for byte. SPEC:
 * RPL1-RPL5.
 */
import { entryShape, membersOf } from './entry.ts';
import type { StoredEntry } from './entry.ts';
import { OplusError } from './error.ts';
import { seal } from './seal.ts';
import type { Sealed } from './seal.ts';
import type { Space } from './space.ts';
import { unbornSpace } from './space.ts';
import type { StateSchema } from './state-schema.ts';

/** Reads an entry's text. Throws `LOG_DAMAGED` for anything that is not one. */
export function readEntry(text: string): StoredEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw damaged('an entry is not JSON', cause);
  }
  const parsed = entryShape.safeParse(value);
  if (!parsed.success) throw damaged(`an entry has another shape: ${parsed.error.issues[0]?.message ?? ''}`, parsed.error);
  return value as StoredEntry;
}

/**
 * Folds the next entry. Throws `LOG_DAMAGED` when it does not continue the chain, `LOG_DIVERGED` when this machine decides
 * otherwise than the entry says. Cost: that of sealing it.
 */
export function fold(space: Space, text: string): Sealed {
  const entry = readEntry(text);
  const sealed = foldStored(space, entry);
  if (sealed.text === text) return sealed;
  throw diverged(entry, 'folds to other bytes than it holds');
}

/**
 * As `fold`, for an entry that is part of a record: chain and state are checked here, the bytes by whoever has the record.
 */
export function foldStored(space: Space, entry: StoredEntry): Sealed {
  if (entry.space !== space.name || entry.revision !== space.revision + 1 || entry.prev !== space.head) {
    throw damaged(`entry ${entry.revision} of ${entry.space} does not follow revision ${space.revision} of ${space.name}`);
  }
  if (entry.revision === 0 && !entry.members.some((member) => 'event' in member && member.event.kind === 'genesis')) {
    throw damaged(`entry 0 of ${entry.space} holds no genesis`);
  }
  const sealed = sealStored(space, entry);
  if (sealed.space.state === entry.state) return sealed;
  throw diverged(entry, `folds to state ${sealed.space.state.slice(0, 16)}, it says ${entry.state.slice(0, 16)}`);
}

/** Folds a whole log of one space from its genesis. Memory: one space, whatever the length. */
export function replay(schema: StateSchema, name: string, entries: Iterable<string>): Space {
  let space = unbornSpace(name, schema);
  for (const text of entries) space = fold(space, text).space;
  return space;
}

function sealStored(space: Space, entry: StoredEntry): Sealed {
  const foreign = (cause: unknown): OplusError =>
    damaged(`entry ${entry.revision} of ${entry.space} holds what never passed the gate`, cause);
  let members: ReturnType<typeof membersOf>;
  try {
    members = membersOf(entry);
  } catch (cause) {
    throw foreign(cause);
  }
  try {
    return seal(space, { term: entry.term, ...members });
  } catch (cause) {
    throw cause instanceof OplusError ? cause : foreign(cause);
  }
}

function diverged(entry: StoredEntry, what: string): OplusError {
  return new OplusError('LOG_DIVERGED', `entry ${entry.revision} of ${entry.space} ${what}`, {
    hint: 'The entry was altered, or it was written by another version of the skill or of the core.',
  });
}

function damaged(message: string, cause?: unknown): OplusError {
  return new OplusError('LOG_DAMAGED', message, {
    hint: 'Restore the log from a copy; what it acknowledged before this point is intact.',
    cause,
  });
}
