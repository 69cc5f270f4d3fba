/**
 * Options of the commands of this room: read strictly, and wrong use told with a hint.
 */
import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';

import { OplusError } from '@oplus/core';

/** The values of the options by name. Throws `USAGE` for an unknown option, or for one without its value. */
export function readOptions<T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T }>>['values'] {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new OplusError('USAGE', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** A whole number from `lowest` to `highest`, which keeps every run bounded. Throws `USAGE` for another text. */
export function wholeOption(option: string, text: string, { lowest, highest }: { lowest: number; highest: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= lowest && value <= highest) return value;
  throw new OplusError('USAGE', `--${option} ${text} is not a whole number from ${lowest} to ${highest}`);
}

/** The exit code of a command: its own, or 2 for wrong use and 1 for other trouble, which is told. */
export async function exitCodeOf(run: () => number | Promise<number>, help: string): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof OplusError)) throw error;
    process.stderr.write(`error: ${error.message}\nhint: ${error.hint ?? help}\n`);
    return error.code === 'USAGE' ? 2 : 1;
  }
}
