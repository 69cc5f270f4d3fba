import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { loadDocumentKind } from './document-loader.ts';

/** How many files with the engine's WebAssembly a process has loaded after running the script. */
function enginesAfter(script: string): string {
  const count = `
    const { createRequire } = await import('node:module');
    const loaded = Object.keys(createRequire(process.execPath).cache).filter((path) => path.includes('automerge_wasm'));
    process.stdout.write(String(loaded.length));
  `;
  const args = ['--conditions=@oplus/source', '--disable-warning=ExperimentalWarning', '--input-type=module'];
  const run = spawnSync(process.execPath, [...args, '-e', script + count], { cwd: import.meta.dirname, encoding: 'utf8' });
  return run.status === 0 ? run.stdout : run.stderr;
}

test('[DOC13] the engine is loaded when it is asked for, not with the package', () => {
  expect(enginesAfter(`await import('@oplus/fields-document');`)).toBe('0');
  expect(enginesAfter(`await (await import('@oplus/fields-document')).loadDocumentKind();`)).toBe('1');
});

test('[DOC13] every call gives the kind', async () => {
  const [one, other] = [await loadDocumentKind(), await loadDocumentKind()];
  expect(one.document({ bytesMax: 100 }).name).toBe('document');
  expect(other.document({ bytesMax: 100 }).name).toBe('document');
});
