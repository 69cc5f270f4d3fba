import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { treeFiles } from '../house/source.ts';
import { mutantsOf } from './operators.ts';
import type { Mutant } from './operators.ts';
import { suiteOf, testOrder } from './suites.ts';
import { copyTree } from './tree-copy.ts';
import { held } from './trial.ts';
import type { Told } from './trial.ts';

const SOURCE = `export function least(values: readonly number[]): number {
  let found = values[0] ?? 0;
  for (let i = 1; i < values.length; i += 1) {
    if (values[i]! < found) found = values[i]!;
  }
  return found;
}
const START = [3, 2].toSorted((a, b) => a - b);
export const start: number = START.map((n) => n * 1)[0]!;
if (START[0] === 3) throw new Error('not sorted');
export function countTo(end: number): number {
  let n = 0;
  while (n < end) {
    n = n + 1;
  }
  return n;
}
`;
const TEST = `import { expect, test } from 'vitest';
import { countTo, least } from './least.ts';
test('the least is found', () => expect([least([]), least([2, 1, 3])]).toEqual([0, 1]));
test('it counts', () => expect(countTo(3)).toBe(3));
`;
const files = { 'src/least.ts': SOURCE, 'src/least.test.ts': TEST };

const from = mkdtempSync(join(tmpdir(), 'oplus-mutation-test-'));
mkdirSync(join(from, 'src'));
for (const [path, text] of Object.entries(files)) writeFileSync(join(from, path), text);
const copy = copyTree(Object.keys(files), from);
afterAll(() => {
  copy.close();
  rmSync(from, { recursive: true });
});

const asked = { root: copy.root, files: ['src/least.test.ts'], testSecondsMax: 10 };

/** The one fault of the source that makes this line. */
function faultOf(becomes: string): Mutant {
  const [found, ...others] = mutantsOf('src/least.ts', SOURCE).filter((mutant) => mutant.becomes === becomes);
  if (found === undefined || others.length > 0) throw new Error(becomes);
  return found;
}

function tried(becomes: string, testSecondsMax: number = 10): Promise<Told> {
  return copy.withFault(faultOf(becomes), () => held({ ...asked, testSecondsMax }));
}

describe('trials', () => {
  test('[MUT7] without a fault the tests pass, and it is measured what they take', async () => {
    const told = await held(asked);
    expect(told).toMatchObject({ kind: 'passed', costs: { 'src/least.test.ts': expect.any(Number) } });
  });

  test('[MUT7] a planted fault is killed by the test that contradicts it', async () => {
    const killed = { kind: 'failed', file: 'src/least.test.ts' };
    expect(await tried('if (false) found = values[i]!;')).toEqual({ ...killed, title: 'the least is found' });
    expect(await tried('while (n <= end) {')).toEqual({ ...killed, title: 'it counts' });
  });

  test('[MUT7] an equivalent fault survives', async () => {
    expect(await tried('if (values[i]! <= found) found = values[i]!;')).toMatchObject({ kind: 'passed' });
  });

  test('[MUT8] a test that does not end is stopped, and what does not load is killed', async () => {
    expect(await tried('n = n;', 2)).toEqual({ kind: 'stopped', file: 'src/least.test.ts' });
    expect(await tried('const START = [3, 2].slice();')).toEqual({
      kind: 'failed',
      file: 'src/least.test.ts',
      title: 'it does not load',
    });
  });

  test('[MUT5] a fault stands in the copy alone, and is taken out when the tests throw', async () => {
    const read = (root: string): string => readFileSync(join(root, 'src/least.ts'), 'utf8');
    const fault = faultOf('n = n;');
    await copy.withFault(fault, async () => {
      expect([read(copy.root) === SOURCE, read(from) === SOURCE]).toEqual([false, true]);
      await Promise.resolve();
    });
    await expect(copy.withFault(fault, () => Promise.reject(new Error('thrown')))).rejects.toThrow('thrown');
    expect(read(copy.root)).toBe(SOURCE);
  });

  test('[MUT5] packages of the house are those of the copy', () => {
    const whole = copyTree(treeFiles((path) => path.startsWith('packages/core/')));
    const top = realpathSync(whole.root);
    expect(realpathSync(join(whole.root, 'node_modules/@oplus/core'))).toBe(join(top, 'packages/core'));
    expect(realpathSync(join(whole.root, 'node_modules/zod')).startsWith(top)).toBe(false);
    whole.close();
  });
});

describe('suites', () => {
  test('[MUT6] unit tests come first, those of the file before the others; then properties, then fixtures; cheap ones first', () => {
    const core = 'packages/core/src';
    const costs = new Map([[`${core}/seal.test.ts`, 2]]);
    const tests = [
      'test/conformance/conformance.test.ts',
      `${core}/kinds/set.property.test.ts`,
      `${core}/trie.property.test.ts`,
      `${core}/seal.test.ts`,
      `${core}/judge.test.ts`,
      `${core}/kinds/set.test.ts`,
    ];
    expect(testOrder(`${core}/kinds/set.ts`, tests, (path) => costs.get(path) ?? 1)).toEqual([
      `${core}/kinds/set.test.ts`,
      `${core}/judge.test.ts`,
      `${core}/seal.test.ts`,
      `${core}/kinds/set.property.test.ts`,
      `${core}/trie.property.test.ts`,
      'test/conformance/conformance.test.ts',
    ]);
    expect(
      [...tests, `${core}/testing/a.test.ts`, `${core}/planted-faults.test.ts`, 'test/house/a.test.ts'].map(suiteOf),
    ).toEqual(['conformance', 'property', 'property', 'unit', 'unit', 'unit', undefined, undefined, undefined]);
  });
});
