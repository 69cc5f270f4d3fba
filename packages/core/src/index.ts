export type { ErrorCode, ErrorDetail } from './error.ts';
export { OplusError, invariant } from './error.ts';
