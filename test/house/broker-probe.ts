/**
 * Prints why no nats-server can be tested here, or nothing. Run by broker.ts.
 */
import { OplusError } from '@oplus/core';
import { findNatsServer } from '@oplus/transport-nats';

const named = (process.env['OPLUS_NATS_SERVERS'] ?? '').split(':').filter((path) => path !== '');

try {
  if (named.length === 0) await findNatsServer();
  for (const path of named) await findNatsServer(path);
} catch (error) {
  if (!(error instanceof OplusError) || error.code !== 'BROKER_MISSING') throw error;
  process.stdout.write(`${error.message}; ${error.hint ?? ''}\n`);
}
