/**
 * Recovery: a log, folded from its first record.
 */
import { emptyShard } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import { foldLogRecord } from '@oplus/protocol';
import type { LogReader } from '@oplus/protocol';
import { remembered } from './recent.ts';
import type { Recent } from './recent.ts';
import type { Recovered } from './step.ts';

/**
 * Folds a whole log. Throws `LOG_DAMAGED`, `LOG_DIVERGED`, `SCHEMA_INVALID` when a space was begun with another definition, and what
 * the log throws. Cost: that of sealing every round again.
 */
export async function recover(log: Pick<LogReader, 'read'>, schemas: ReadonlyMap<string, StateSchema>): Promise<Recovered> {
  let shard = emptyShard(schemas);
  let recent: Recent = new Map();
  for await (const record of log.read(1)) {
    const folded = foldLogRecord(shard, record);
    shard = folded.shard;
    if (folded.kind === 'folded') recent = remembered(recent, folded.sealed);
  }
  return { shard, recent };
}
