/**
 * The tests that a fault of the core has to get past, cheapest first: unit tests, the file's own before the others; properties;
 * the fixtures. Tests of the tests are left out: what only they notice is not tested. SPEC: MUT6.
 */
import { basename } from 'node:path';

export const SUITES = ['unit', 'property', 'conformance'] as const;

export type Suite = (typeof SUITES)[number];

/** The suite that a file of tests belongs to; `undefined` when it is none that faults of the core are held against. */
export function suiteOf(path: string): Suite | undefined {
  if (/^test\/conformance\/.*\.test\.ts$/.test(path)) return 'conformance';
  if (!/^packages\/core\/src\/.*\.test\.ts$/.test(path) || /\/testing\/|planted-faults/.test(path)) return undefined;
  return path.endsWith('.property.test.ts') ? 'property' : 'unit';
}

/** The files of tests in the order in which a fault of `path` meets them. `costOf` is what a file of tests takes, 0 if unknown. */
export function testOrder(path: string, tests: readonly string[], costOf: (test: string) => number): readonly string[] {
  const own = basename(path, '.ts');
  const rank = (test: string): number => {
    const suite = suiteOf(test);
    return suite === undefined ? SUITES.length : SUITES.indexOf(suite);
  };
  const isOther = (test: string): number => Number(basename(test).replace(/(?:\.property)?\.test\.ts$/, '') !== own);
  return tests.toSorted((a, b) => rank(a) - rank(b) || isOther(a) - isOther(b) || costOf(a) - costOf(b) || (a < b ? -1 : 1));
}

/** True for a file of tests that puts something in place of a module: it runs by itself. */
export function isReplacing(text: string): boolean {
  return /\bvi\.(?:mock|doMock)\(/.test(text);
}
