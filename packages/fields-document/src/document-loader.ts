/**
 * Loads the engine of documents, and only when asked: nothing else of oplus needs it. SPEC: DOC13.
 */
import { documentKind } from './document.ts';
import type { DocumentKind } from './document.ts';

/** The field kind `document`. The first call loads Automerge with its WebAssembly module, some tens of milliseconds. */
export async function loadDocumentKind(): Promise<{ readonly document: DocumentKind }> {
  return { document: documentKind(await import('@automerge/automerge')) };
}
