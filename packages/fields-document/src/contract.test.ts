import { contractOf, counter, loadState, stateFromContract } from '@oplus/core';
import type { Json } from '@oplus/core';
import { sha256 } from '@oplus/core/testing';
import { expect, test } from 'vitest';
import { loadDocumentKind } from './index.ts';

test('[DOC19] a contract with a document reads back where the kind is given', async () => {
  const { document } = await loadDocumentKind();
  const schema = loadState({ name: 'notes', version: 1, fields: { n: counter(), notes: document({ bytesMax: 2000 }) } }, sha256);
  const contract = JSON.parse(JSON.stringify(contractOf(schema))) as Json;
  expect(() => stateFromContract(contract, sha256)).toThrow(/no kind of this package is called document: give it in kinds/);
  expect(stateFromContract(contract, sha256, { kinds: { document } }).digest).toBe(schema.digest);
});
