/**
 * How a command fails: one line with a code, a hint, an exit code; the same as an object with `--json`.
 *
 * Exit codes: 0 done; 1 a finding (a violation, a difference, a failed check); 2 wrong usage; 3 wrong configuration, schema or
 * stored data; 4 a broker, model, lock or room on the disk that cannot be had; 5 our own mistake; 130 and 143 after Ctrl-C and
 * SIGTERM. SPEC: CLI10-CLI13.
 */
import type { ErrorCode } from '@oplus/core';
import { OplusError } from '@oplus/core';
import type { Terminal } from './terminal.ts';

export const EXIT_FINDING = 1;

/** Writes the failure, each fault of it where it holds several, and gives the exit code. */
export function fail(terminal: Terminal, error: unknown, isDebug: boolean): number {
  const failure = ours(error);
  const { code, message, path, faults } = failure;
  const hint = failure.hint ?? HINT;
  const docs = `docs/errors.md#${code.toLowerCase()}`;
  terminal.progressEnd();
  if (terminal.isJson) {
    const where = { ...(isSaid(path) ? { path } : {}), hint, docs, ...(faults === undefined ? {} : { faults }) };
    terminal.json({ v: 1, ok: false, error: { code, message, ...where } });
  } else {
    for (const fault of faults ?? [{ path, rule: message, hint }]) {
      const [line, ...more] = fault.rule.split('\n');
      terminal.note(`${terminal.noteColour.red(`error[${code}]`)}: ${line ?? ''}`);
      for (const further of more) terminal.note(`  | ${further}`);
      if (isSaid(fault.path)) terminal.note(`  at: ${fault.path}`);
      terminal.note(`  hint: ${fault.hint}`);
    }
    terminal.note(`  docs: ${docs}`);
  }
  if (isDebug) terminal.note(stackOf(failure));
  return EXIT_CODES[code];
}

const HINT = 'The page below says when this happens and whether trying again may help.';

const EXIT_CODES: { readonly [code in ErrorCode]: number } = {
  INVARIANT: 5,
  USAGE: 2,
  SCHEMA_INVALID: 3,
  SKILL_UNKNOWN: 2,
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

/** What is not one of ours is a mistake of ours: an error that nobody has thought of. */
function ours(error: unknown): OplusError {
  if (error instanceof OplusError) return error;
  return new OplusError('INVARIANT', error instanceof Error ? error.message : String(error), {
    hint: 'This is a mistake in oplus. Report it with what the same command prints with --debug.',
    cause: error,
  });
}

function isSaid(path: string | undefined): path is string {
  return path !== undefined && path !== '';
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}
