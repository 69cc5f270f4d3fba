/**
 * The `oplus` command: reads the arguments, calls one command, gives the exit code.
 */
import { fail } from './failure.ts';
import { readFlags, runProgram } from './program.ts';
import { followSignals } from './signals.ts';
import { openTerminal } from './terminal.ts';

/** Runs one command. `args` are without the names of program and script. Gives the exit code; never throws. */
export async function main(args: readonly string[]): Promise<number> {
  const { stdout, stderr, env } = process;
  const { isJson, isDebug, isColourOff, rest } = readFlags(args);
  const terminal = openTerminal({ stdout, stderr, env, isJson, isColourOff });
  // A reader that has seen enough, such as head, is no failure; notes that nobody reads are none either.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 5));
  stderr.on('error', () => undefined);
  const signals = followSignals(() => terminal.note('stopping after the work in hand; again to stop at once'));
  try {
    const exitCode = await runProgram(rest, terminal, signals);
    return signals.exitCode() ?? exitCode;
  } catch (error) {
    const exitCode = fail(terminal, error, isDebug);
    return signals.exitCode() ?? exitCode;
  } finally {
    signals.end();
  }
}
