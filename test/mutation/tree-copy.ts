/**
 * A copy of the tree to plant faults in: sources of its own, packages of the house from the copy, all others linked. SPEC: MUT5.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../house/source.ts';
import { planted } from './operators.ts';
import type { Mutant } from './operators.ts';

/** Whoever opens one closes it. */
export type TreeCopy = {
  /** Absolute path of its top folder. */
  readonly root: string;
  /** Runs `work` with the fault in the copy, and takes it out again. */
  readonly withFault: <T>(mutant: Mutant, work: () => Promise<T>) => Promise<T>;
  readonly close: () => void;
};

/** Copies these files, named from the top folder of the tree, into a folder of the system for temporary files. */
export function copyTree(paths: readonly string[], from: string = ROOT): TreeCopy {
  const root = mkdtempSync(join(tmpdir(), 'oplus-mutants-'));
  for (const path of paths) cpSync(join(from, path), join(root, path));
  linkModules(root);
  return {
    root,
    withFault: async (mutant, work) => {
      const path = join(root, mutant.path);
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, planted(text, mutant));
      try {
        return await work();
      } finally {
        writeFileSync(path, text);
      }
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Links of the packages of the house are relative, so that they lead into the copy; what is installed is linked as it is. */
function linkModules(root: string): void {
  const installed = join(ROOT, 'node_modules');
  for (const name of readdirSync(installed)) {
    if (name.startsWith('.')) continue;
    const to = join(root, 'node_modules', name);
    mkdirSync(dirname(to), { recursive: true });
    if (name === '@oplus') cpSync(join(installed, name), to, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(installed, name), to);
  }
}
