/**
 * One run of some tests, in a process of its own: one thread, files in the order given, generated values of one seed, the end at
 * the first failure. Prints what became of it as one line of JSON.
 *
 * A test is stopped when it has used more processor time than it may; a busy machine stops nobody.
 */
import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import { startVitest } from 'vitest/node';
import type { Reporter, TestCase, TestModule, TestSequencer, TestSpecification } from 'vitest/node';
import type { Asked, Told } from './trial.ts';

const asked = JSON.parse(process.argv[2] as string) as Asked;
const costs: { [file: string]: number } = {};
let current = asked.files[0] ?? '';
let usedBefore = cpuSeconds();
let slowest = 0;

/** Files in the order in which they were named. */
class AsNamed implements TestSequencer {
  sort(files: TestSpecification[]): TestSpecification[] {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b));
  }

  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
}

const watch: Reporter = {
  onTestModuleQueued: (module) => charge(module),
  onTestModuleCollected: (module) => charge(module),
  onTestCaseReady: ({ module }) => charge(module),
  onTestCaseResult(test: TestCase) {
    charge(test.module);
    if (test.result().state === 'failed') end({ kind: 'failed', file: fileOf(test.module), title: test.fullName });
  },
  onTestRunEnd(modules, errors) {
    const unloaded = modules.find((module) => module.errors().length > 0);
    if (unloaded !== undefined) end({ kind: 'failed', file: fileOf(unloaded), title: 'it does not load' });
    if (errors.length > 0) end({ kind: 'failed', file: current, title: 'an error outside of the tests' });
    const ran = modules.filter((module) => module.state() === 'passed').map(fileOf);
    const idle = asked.files.find((file) => !ran.includes(file));
    end(idle === undefined ? { kind: 'passed', costs, slowest } : { kind: 'failed', file: idle, title: 'it did not run' });
  },
};

setInterval(() => {
  if (cpuSeconds() - usedBefore > asked.testSecondsMax) end({ kind: 'stopped', file: current });
}, 500).unref();

await startVitest(
  'test',
  asked.files.map((file) => `./${file}`),
  {
    root: asked.root,
    config: false,
    watch: false,
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    bail: 1,
    sequence: { sequencer: AsNamed },
    setupFiles: [new URL('./one-seed.ts', import.meta.url).pathname],
    include: [...asked.files],
    reporters: [watch],
    testTimeout: 600_000,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  },
  { resolve: { conditions: ['@oplus/source'] }, ssr: { resolve: { conditions: ['@oplus/source'] } } },
);

/** Charges the time since the last event to the file that is at work. */
function charge(module: TestModule): void {
  const now = cpuSeconds();
  const used = now - usedBefore;
  costs[current] = (costs[current] ?? 0) + used;
  slowest = Math.max(slowest, used);
  usedBefore = now;
  current = fileOf(module);
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function fileOf(module: TestModule): string {
  return relative(asked.root, module.moduleId);
}

function placeOf(file: TestSpecification): number {
  return asked.files.indexOf(relative(asked.root, file.moduleId));
}

function end(told: Told): never {
  writeSync(1, `\n${JSON.stringify(told)}\n`);
  process.exit(0);
}
