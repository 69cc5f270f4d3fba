/**
 * All contenders, in the order in which the tables print them.
 */
import type { Contender } from '../contender.ts';
import { memoryFold } from './memory-fold.ts';
import { oplusMemory, oplusNats, oplusSqlite } from './oplus.ts';
import { natsKv, natsKvBackoff } from './nats-kv.ts';
import { postgresRows, postgresSerializable } from './postgres.ts';
import { redisLua, redisLuaDocument, redisLuaLogged } from './redis-lua.ts';
import { sqliteFull, sqliteNormal } from './sqlite.ts';
import { yjs } from './yjs.ts';

export const CONTENDERS: readonly Contender[] = [
  memoryFold,
  oplusMemory,
  oplusSqlite,
  oplusNats,
  sqliteNormal,
  sqliteFull,
  redisLua,
  redisLuaLogged,
  redisLuaDocument,
  postgresRows,
  postgresSerializable,
  natsKv,
  natsKvBackoff,
  yjs,
];
