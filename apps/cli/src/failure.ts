/**
 * How a command fails: one line with a code, a hint, an exit code; the same as an object with `--json`.
 *
 * Exit codes: 0 done; 1 a finding (a violation, a difference, a failed check); 2 wrong usage; 3 wrong configuration, schema or
 * stored data; 4 a broker, model or lock that cannot be had; 5 our own mistake; 130 and 143 after Ctrl-C and SIGTERM.
 */
import type { ErrorCode } from '@oplus/core';
import { OplusError } from '@oplus/core';
import type { Terminal } from './terminal.ts';

export const EXIT_FINDING = 1;
export const EXIT_USAGE = 2;

/** Writes the failure and gives the exit code. */
export function fail(terminal: Terminal, stderr: NodeJS.WritableStream, error: unknown, isDebug: boolean): number {
  const failure = error instanceof OplusError ? error : new OplusError('INVARIANT', error instanceof Error ? error.message : String(error), { cause: error });
  terminal.progressEnd();
  if (terminal.isJson) {
    terminal.json({
      ok: false,
      error: {
        code: failure.code,
        message: failure.message,
        ...(failure.path === undefined ? {} : { path: failure.path }),
        ...(failure.hint === undefined ? {} : { hint: failure.hint }),
      },
    });
  } else {
    stderr.write(`${terminal.colour.red(`error[${failure.code}]`)}: ${failure.message}\n`);
    if (failure.path !== undefined && failure.path !== '') stderr.write(`  at: ${failure.path}\n`);
    if (failure.hint !== undefined) stderr.write(`  hint: ${failure.hint}\n`);
    stderr.write(`  docs: docs/errors.md#${failure.code.toLowerCase()}\n`);
  }
  if (isDebug) stderr.write(`${stackOf(failure)}\n`);
  return EXIT_CODES[failure.code];
}

const EXIT_CODES: { readonly [code in ErrorCode]: number } = {
  INVARIANT: 5,
  USAGE: EXIT_USAGE,
  SCHEMA_INVALID: 3,
  SKILL_UNKNOWN: EXIT_USAGE,
  PROTOCOL_VERSION: 3,
  MESSAGE_INVALID: 5,
  TRANSPORT_CLOSED: 5,
  TRANSPORT_TIMEOUT: 4,
  BROKER_MISSING: 4,
  BROKER_UNREACHABLE: 4,
  BROKER_REFUSED: 4,
  PORT_BUSY: 4,
  LOG_LOCKED: 4,
  LOG_DAMAGED: 3,
  LOG_DIVERGED: 3,
  LOG_FULL: 4,
  FENCED: 4,
  MODEL_UNREACHABLE: 4,
  MODEL_REFUSED: 4,
};

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}
