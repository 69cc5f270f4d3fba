/**
 * The test of the tests: every contract suite passes a plain implementation, fails each planted fault at the rule that forbids it,
 * and no rule is without such a fault.
 */
import { describe, expect, test } from 'vitest';
import { blobsChecks } from './blobs-contract.ts';
import { BLOBS_FAULTS, brokenBlobsStore } from './broken-blobs.ts';
import { BUS_FAULTS, brokenBusStore } from './broken-bus.ts';
import { CLOCK_FAULTS, brokenClockStore } from './broken-clock.ts';
import { LOG_FAULTS, brokenLogStore } from './broken-log.ts';
import { busChecks } from './bus-contract.ts';
import type { Check, Destroyable, OpenStore } from './check.ts';
import { clockChecks } from './clock-contract.ts';
import { logChecks } from './log-contract.ts';

const WAIT_MS_MAX = 300;

const suites = [
  suiteOf('Log', logChecks, LOG_FAULTS, brokenLogStore, [() => brokenLogStore('none'), () => brokenLogStore('none', 'one')]),
  suiteOf('Bus', busChecks, BUS_FAULTS, brokenBusStore, [() => brokenBusStore('none'), () => brokenBusStore('none', 'one')]),
  suiteOf('Blobs', blobsChecks, BLOBS_FAULTS, brokenBlobsStore, [() => brokenBlobsStore('none')]),
  suiteOf('Clock', clockChecks, CLOCK_FAULTS, brokenClockStore, [() => brokenClockStore('none')]),
];

for (const suite of suites) {
  describe(suite.port, () => {
    test.each(suite.sound)('[CTR1] the suite passes a plain implementation (%#)', async ({ failures }) => {
      expect(await failures()).toEqual([]);
    });

    test.each(suite.faults)('[CTR1] the suite fails an implementation that $fault, at $rule', async ({ rule, failures }) => {
      expect(await failures()).toContain(rule);
    });

    test('[CTR2] every rule of the suite is failed by a planted fault', () => {
      expect(new Set(suite.faults.map(({ rule }) => rule))).toEqual(new Set(suite.rules));
    });
  });
}

type Suite = {
  readonly port: string;
  readonly rules: readonly string[];
  readonly sound: readonly { failures(): Promise<string[]> }[];
  readonly faults: readonly { readonly fault: string; readonly rule: string; failures(): Promise<string[]> }[];
};

function suiteOf<Store extends Destroyable, Fault extends string>(
  port: string,
  checks: readonly Check<Store>[],
  faults: readonly { readonly fault: Fault; readonly rule: string }[],
  open: (fault: Fault) => Promise<Store>,
  sound: readonly OpenStore<Store>[],
): Suite {
  return {
    port,
    rules: checks.map(({ rule }) => rule),
    sound: sound.map((openSound) => ({ failures: () => failuresOf(checks, openSound) })),
    // Only the checks of that rule run: it is that rule which has to notice.
    faults: faults.map(({ fault, rule }) => ({
      fault,
      rule,
      failures: () =>
        failuresOf(
          checks.filter((one) => one.rule === rule),
          () => open(fault),
        ),
    })),
  };
}

/** The rules of the checks that did not hold. */
async function failuresOf<Store extends Destroyable>(checks: readonly Check<Store>[], open: OpenStore<Store>): Promise<string[]> {
  const failed: string[] = [];
  for (const { rule, run } of checks) {
    try {
      await run(open, WAIT_MS_MAX);
    } catch {
      failed.push(rule);
    }
  }
  return failed;
}
