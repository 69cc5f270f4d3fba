/**
 * Folding records as they are read from a log, with an answer to the most frequent mistake: another state definition.
 *
 * To the core a genesis of another definition is a damaged entry. Whoever opens a log has a skill at hand and wants to know that
 * it is the wrong one.
 */
import { foldRecord, OplusError, readRecord } from '@oplus/core';
import type { FoldedRecord, Shard } from '@oplus/core';
import type { StoredRecord } from './ports/log.ts';

/**
 * As the core's `foldRecord`, but a space that was begun with another definition than the given one is `SCHEMA_INVALID`.
 * Throws `LOG_DAMAGED` and `LOG_DIVERGED` as that does. No cost beyond it while nothing is wrong.
 */
export function foldLogRecord(shard: Shard, record: StoredRecord): FoldedRecord {
  try {
    return foldRecord(shard, record.index, record.body);
  } catch (error) {
    throw otherDefinition(shard, record, error) ?? error;
  }
}

function otherDefinition(shard: Shard, { index, body }: StoredRecord, cause: unknown): OplusError | undefined {
  let record: ReturnType<typeof readRecord>;
  try {
    record = readRecord(body, index);
  } catch {
    return undefined; // Not even a record: the first error says it.
  }
  for (const { space: name, members } of record.entries) {
    const space = shard.spaces.get(name);
    if (space === undefined || space.revision >= 0) continue;
    for (const member of members) {
      if (!('event' in member) || member.event.kind !== 'genesis' || member.event.schema === space.schema.digest) continue;
      const { name: schemaName, version, id } = space.schema;
      return new OplusError(
        'SCHEMA_INVALID',
        `the space ${name} was begun with another state definition than ${schemaName} version ${version}`,
        {
          hint: `The log has schema ${member.event.schema.slice(0, 16)}, yours is ${id}. Use the skill that made it, or begin a new log.`,
          cause,
        },
      );
    }
  }
  return undefined;
}
