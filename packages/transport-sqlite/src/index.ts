export { sqliteBlobs } from './sqlite-blobs.ts';
export type { SqliteLog, SqliteLogOptions, SqliteSettings } from './sqlite-log.ts';
export { sqliteLog, sqliteLogReader } from './sqlite-log.ts';
