/**
 * The last lines of a test run: what was not run, and `N passed, N failed` alone on a line.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Counts tests; a file that could not be loaded and an error outside every test count as one failure each. */
export class SummaryReporter implements Reporter {
  readonly #missingBroker: string | undefined;

  constructor(missingBroker: string | undefined) {
    this.#missingBroker = missingBroker;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      failed += module.errors().length;
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        if (test.result().state === 'passed') passed += 1;
        else if (test.result().state === 'failed') failed += 1;
      }
    }
    const lines = [`${passed} passed, ${failed} failed`];
    if (this.#missingBroker !== undefined) lines.unshift(`NATS SUITES NOT RUN: ${this.#missingBroker}`);
    // At the exit, so that the runner's own summary stands before it.
    process.once('exit', () => process.stdout.write(`\n${lines.join('\n')}\n`));
  }
}
