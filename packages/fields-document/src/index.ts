export type { DocumentIntent, DocumentKind, DocumentOptions } from './document.ts';
export { loadDocumentKind } from './document-loader.ts';
export type { DocumentView } from './registers.ts';
