/**
 * One test process for the whole house. Suites named `*.nats.test.ts` need a broker: without one they fail in CI, and elsewhere
 * they are left out and announced at the end of the run (test/house/broker.ts).
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { brokersUnderTest } from './test/house/broker.ts';
import { SummaryReporter } from './test/house/summary.ts';

const brokers = brokersUnderTest();

export default defineConfig({
  resolve: { conditions: ['@oplus/source'] },
  ssr: { resolve: { conditions: ['@oplus/source'] } },
  test: {
    include: ['{packages,skills,apps}/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/src/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', ...(brokers.missing === undefined ? [] : ['**/*.nats.test.ts'])],
    reporters: ['default', new SummaryReporter(brokers.missing)],
    pool: 'forks',
    // Files share a process: what is loaded once serves all. A test that changes a module or the process puts it back.
    isolate: false,
    maxWorkers: 4,
    // Processes that tests start compile the same sources: once is enough.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'oplus-compile-cache') },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
