/**
 * Whether the suites that need a broker can run here.
 *
 * Asked once per run, in a process of its own, so that the answer is that of the product's own look-up and not of a copy of it.
 * In CI a missing broker is a failure. Elsewhere `npm ci && npm test` must pass on a machine without one, so the suites are left
 * out, and the summary says so in one line.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** `missing` says in one line why the NATS suites do not run; absent when they do. */
export type BrokersUnderTest = { readonly missing?: string };

/** Looks for the servers of `OPLUS_NATS_SERVERS`, or for any. Throws in CI when one is missing. About 0.2 s. */
export function brokersUnderTest(): BrokersUnderTest {
  const probe = fileURLToPath(new URL('broker-probe.ts', import.meta.url));
  const said = execFileSync(process.execPath, ['--conditions=@oplus/source', probe], { encoding: 'utf8' }).trim();
  if (said === '') return {};
  if (isCi()) throw new Error(`the NATS suites cannot run, and in CI they must: ${said}`);
  return { missing: said };
}

function isCi(): boolean {
  const said = process.env['CI'];
  return said !== undefined && said !== '' && said !== 'false' && said !== '0';
}
