import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import type { OplusError } from '@oplus/core';
import { expect, test } from 'vitest';
import { DeadlineQueue } from './deadline-queue.ts';
import { manualClock } from './index.ts';

test('[MEM7] callbacks see their own deadline, ties run in order, and what they set runs in the same advance', () => {
  const clock = manualClock(100);
  const seen: string[] = [];
  const note = (name: string) => () => seen.push(`${name} ${clock.nowMs()}`);
  clock.after(20, note('late'));
  clock.after(10, note('tie 1'));
  clock.after(10, note('tie 2'));
  clock.after(0, () => {
    note('now')();
    clock.after(0, note('set by a callback'));
    clock.after(20, note('tie with late'));
    clock.after(31, note('beyond'));
  });
  expect(clock.nextDueMs()).toBe(100);
  clock.advance(30);
  expect(seen).toEqual(['now 100', 'set by a callback 100', 'tie 1 110', 'tie 2 110', 'late 120', 'tie with late 120']);
  expect([clock.nowMs(), clock.nextDueMs()]).toEqual([130, 131]);
  clock.advance(1);
  expect(seen.at(-1)).toBe('beyond 131');
  expect(clock.nextDueMs()).toBeUndefined();
});

test('[MEM8] a callback may not advance the clock, and one that throws leaves the rest due', () => {
  const clock = manualClock();
  const codes: unknown[] = [];
  const seen: string[] = [];
  clock.after(1, () => {
    try {
      clock.advance(1);
    } catch (error) {
      codes.push((error as OplusError).code);
    }
  });
  clock.after(2, () => {
    throw new Error('of the callback');
  });
  clock.after(3, () => seen.push('rest'));
  expect(() => clock.advance(10)).toThrow('of the callback');
  expect([clock.nowMs(), seen, codes]).toEqual([2, [], ['USAGE']]);
  clock.advance(1);
  expect([clock.nowMs(), seen]).toEqual([3, ['rest']]);
});

test.each([
  ['after a cancel from outside', `clock.after(3_600_000, () => console.log('never'))();`, ''],
  [
    'after a cancel from a callback',
    `const cancel = clock.after(3_600_000, () => console.log('never'));
     clock.after(30, () => { console.log('ran'); cancel(); });`,
    'ran\n',
  ],
])('[MEM9] the system clock keeps the process alive while a callback waits, and no longer: %s', async (_, calls, expected) => {
  expect(await printedBy(calls)).toEqual({ exitCode: 0, printed: expected, complaints: '' });
});

test('[MEM11] a delay beyond what a timer of Node can hold is kept in parts, without a warning', async () => {
  const calls = `
    const cancels = [2 ** 31, 2 ** 40].map((delayMs) => clock.after(delayMs, () => console.log('never')));
    clock.after(30, () => { for (const cancel of cancels) cancel(); });`;
  expect(await printedBy(calls)).toEqual({ exitCode: 0, printed: '', complaints: '' });
  const alone = `const cancel = clock.after(2 ** 40, () => console.log('never')); setTimeout(cancel, 30);`;
  expect(await printedBy(alone)).toEqual({ exitCode: 0, printed: '', complaints: '' });
});

test('[MEM10] deadlines come out as a sorted list would give them', () => {
  const call = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), atMs: fc.integer({ min: 0, max: 8 }) }),
    fc.record({ kind: fc.constant('remove' as const), nth: fc.nat({ max: 20 }) }),
    fc.record({ kind: fc.constant('take' as const), nowMs: fc.integer({ min: 0, max: 8 }) }),
  );
  fc.assert(
    fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
      const queue = new DeadlineQueue();
      const added: ReturnType<DeadlineQueue['add']>[] = [];
      let model: typeof added = [];
      for (const step of calls) {
        if (step.kind === 'add') {
          const deadline = queue.add(step.atMs, () => undefined);
          added.push(deadline);
          model = [...model, deadline].sort((a, b) => a.atMs - b.atMs || a.order - b.order);
        } else if (step.kind === 'remove') {
          const deadline = added[step.nth];
          if (deadline === undefined) continue;
          queue.remove(deadline);
          model = model.filter((other) => other !== deadline);
        } else {
          const due = model[0] !== undefined && model[0].atMs <= step.nowMs ? model.shift() : undefined;
          expect(queue.takeDue(step.nowMs)).toBe(due);
        }
        expect(queue.next()).toBe(model[0]);
      }
    }),
    { numRuns: 500 },
  );
});

/** Runs statements about `clock`, a system clock, in a process of their own. */
async function printedBy(statements: string): Promise<{ exitCode: unknown; printed: string; complaints: string }> {
  const source = `import { systemClock } from '@oplus/transport-memory'; const clock = systemClock(); ${statements}`;
  const child = spawn(process.execPath, ['--conditions=@oplus/source', '--input-type=module', '-e', source], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [printed, complaints] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaints += chunk));
  const [exitCode] = await once(child, 'close');
  return { exitCode, printed, complaints };
}
