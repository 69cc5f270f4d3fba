/**
 * The configuration file of a supervised server: loopback only, users with random passwords, JetStream with explicit limits.
 */
import type { NatsPermissions } from './permissions.ts';
import type { Durability } from '@oplus/protocol';

/** A further user of the server, limited to its permissions. */
export type NatsServerUser = { readonly user: string; readonly password: string; readonly permissions: NatsPermissions };

export type ServerConfig = {
  readonly port: number;
  readonly storeDir: string;
  readonly storeBytesMax: number;
  readonly durability: Exclude<Durability, 'none'>;
  readonly isMonitored: boolean;
  readonly owner: { readonly user: string; readonly password: string };
  readonly users: readonly NatsServerUser[];
};

/** The text of the file. Its format takes JSON, so every value is written as JSON and nothing needs a quoting of its own. */
export function serverConfigText(config: ServerConfig): string {
  const isAlways = config.durability === 'power';
  const lines = {
    server_name: 'oplus',
    listen: `${LOOPBACK}:${config.port}`,
    ...(config.isMonitored ? { http: `${LOOPBACK}:-1` } : {}),
    max_payload: PAYLOAD_BYTES_MAX,
    jetstream: {
      store_dir: config.storeDir,
      max_file_store: config.storeBytesMax,
      // Streams of ours are on disk; this is what the server may use for consumers of others.
      max_memory_store: MEMORY_BYTES_MAX,
      ...(isAlways ? { sync_interval: 'always' } : {}),
    },
    authorization: { users: [config.owner, ...config.users] },
  };
  return `${JSON.stringify(lines, undefined, 2)}\n`;
}

/** Where supervised servers listen. */
export const LOOPBACK = '127.0.0.1';

const PAYLOAD_BYTES_MAX = 1_048_576;
const MEMORY_BYTES_MAX = 67_108_864;
